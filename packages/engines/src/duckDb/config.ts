/** Config of a DuckDB cluster: one embedded database in the gateway's own process. */
import { clusterShape } from "@gateway/contract/config/cluster.ts";
import { z } from "zod";

const contents = z
  .discriminatedUnion("type", [
    z
      .strictObject({ type: z.literal("sample") })
      .meta({
        title: "Sample",
        description: "Generated customers, orders, line items and events.",
      }),
    z
      .strictObject({
        type: z.literal("folder"),
        path: z.string().min(1).meta({
          title: "Folder",
          description: "Each Parquet, CSV and JSON file in it is served as a table.",
        }),
      })
      .meta({ title: "Folder", description: "The files of a folder, read in place." }),
  ])
  .meta({
    title: "Contents",
    description: "What a database in memory is filled with when it opens.",
  });

export const duckDbConfig = z
  .strictObject({
    engine: z.literal("duckDb").meta({ title: "Engine", description: "Embedded DuckDB." }),
    ...clusterShape(["serviceAccount"]),
    databasePath: z.string().min(1).optional().meta({
      title: "Database file",
      description: "Absent means a database in memory that ends with the process.",
    }),
    readOnly: z.boolean().default(false).meta({
      title: "Read only",
      description: "Open the file for reading; every change is refused.",
    }),
    memoryLimit: z
      .string()
      .regex(/^\d+(\.\d+)?\s*(KB|MB|GB|TB|KiB|MiB|GiB|TiB)$/, "must be a size such as 4GB")
      .optional()
      .meta({
        title: "Memory limit",
        description:
          "Most memory that DuckDB takes, such as 4GB. Absent means its own default, 80 % of the machine's.",
      }),
    threads: z.int().min(1).max(1024).optional().meta({
      title: "Threads",
      description: "Most threads that DuckDB computes with. Absent means one for each core.",
      "x-unit": "threads",
    }),
    allowedDirectories: z.array(z.string().min(1)).default([]).meta({
      title: "Allowed directories",
      description:
        "Folders whose files a client's SQL may read; everything else of the host is out of reach.",
    }),
    contents: contents.optional(),
  })
  .refine((config) => !(config.readOnly && config.databasePath === undefined), {
    message: "needs databasePath: a database in memory that nobody may write stays empty",
    path: ["readOnly"],
  })
  .meta({ title: "DuckDB", description: "One embedded database in the gateway's own process." });

export type DuckDbConfig = z.output<typeof duckDbConfig>;
