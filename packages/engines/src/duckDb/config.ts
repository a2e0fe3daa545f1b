/** Config of a DuckDB cluster: an embedded database, in a process beside the gateway or in the gateway's own. */
import { clusterShape } from "@gateway/contract/config/cluster.ts";
import { z } from "zod";

export const duckDbConfig = z
  .strictObject({
    engine: z.literal("duckDb").meta({ title: "Engine", description: "Embedded DuckDB." }),
    ...clusterShape(["serviceAccount"]),
    databasePath: z.string().min(1).default(":memory:").meta({
      title: "Database file",
      "x-file-path": true,
      description:
        "Path of the database; it is made when it does not exist. `:memory:` lives as long as the engine's process.",
    }),
    readOnly: z.boolean().default(false).meta({
      title: "Read only",
      description: "Opens the file for reading; statements that write are refused.",
    }),
    memoryLimit: z
      .string()
      .regex(
        /^[1-9][0-9]*(\.[0-9]+)?(KB|MB|GB|TB|KiB|MiB|GiB|TiB)$/,
        "must be a size like 4GB or 512MiB",
      )
      .optional()
      .meta({
        title: "Memory limit",
        description:
          "What the engine's buffers may take; beyond it queries use `tempDirectory`, or fail. With `isolation: process` the engine's process is ended when it takes 1 GiB more than this in all. Absent: 80 % of the machine's memory, which the gateway shares, and 90 % for the process.",
        examples: ["4GB"],
      }),
    isolation: z.enum(["process", "thread"]).default("process").meta({
      title: "Isolation",
      description:
        "Where the engine runs. `process`: in a process of its own; a crash, or a statement that ignores its cancel for two seconds, ends what runs in that process with `engine.crashed`, and it is started again. `thread`: inside the gateway, which a crash of the engine then ends with every connection; a statement that ignores its cancel keeps its slot.",
    }),
    threads: z.int().min(1).max(1024).optional().meta({
      title: "Threads",
      description: "Threads that execute queries. Absent: one per CPU.",
      "x-unit": "threads",
    }),
    allowedDirectories: z
      .array(z.string().min(1).meta({ "x-file-path": true }))
      .default([])
      .meta({
        title: "Allowed directories",
        description:
          "Absolute paths of folders whose files queries may read, and nothing else of the host. Nothing is ever written there.",
      }),
    tempDirectory: z.string().min(1).optional().meta({
      title: "Temporary files",
      "x-file-path": true,
      description:
        "Folder for what does not fit into memory; every client's SQL can read the files there, whose encryption DuckDB itself calls unsafe. Absent: none, and a query that needs more memory fails.",
    }),
    poolSize: z.int().min(1).max(256).default(16).meta({
      title: "Connections",
      description:
        "Most statements and transactions at once; each has a thread of the engine while it runs. More wait.",
      "x-unit": "connections",
    }),
  })
  .superRefine(({ databasePath, readOnly, allowedDirectories }, context) => {
    if (readOnly && databasePath === ":memory:") {
      context.addIssue({
        code: "custom",
        path: ["readOnly"],
        message: "a database in memory would be empty for ever",
      });
    }
    for (const [index, directory] of allowedDirectories.entries()) {
      if (directory.startsWith("/") || /^[A-Za-z]:[\\/]/.test(directory)) continue;
      context.addIssue({
        code: "custom",
        path: ["allowedDirectories", index],
        message: "must be an absolute path",
      });
    }
  })
  .meta({ title: "DuckDB", description: "A DuckDB database embedded in the gateway." });

export type DuckDbConfig = z.output<typeof duckDbConfig>;
