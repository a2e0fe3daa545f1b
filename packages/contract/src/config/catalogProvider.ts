/**
 * Catalog provider: who says which tables there are and which columns they have, for access control.
 *
 * Shapes only; what is asked of it is in core/police/catalogued.ts.
 */
import { z } from "zod";
import { notBuiltVariant } from "./notBuilt.ts";
import { policyServerParts } from "./policyServer.ts";

const word = z.string().min(1).max(200);

const table = z
  .strictObject({
    kind: z.enum(["table", "view"]).default("table").meta({
      title: "Kind",
      description: "A view shows what its own text says, which nobody here reads.",
    }),
    columns: z
      .array(word)
      .min(1)
      .max(2_000)
      .meta({
        title: "Columns",
        description: "All of its columns, in their order.",
        examples: [["id", "region", "email"]],
      }),
  })
  .superRefine(({ columns }, context) => {
    if (new Set(columns.map((name) => name.toLowerCase())).size < columns.length) {
      context.addIssue({ code: "custom", path: ["columns"], message: "a column is there twice" });
    }
  })
  .meta({ title: "Table", description: "One table, as engines have it." });

const staticProvider = z
  .strictObject({
    provider: z.literal("static").meta({
      title: "Provider",
      description: "The tables of this configuration are all there are.",
    }),
    tables: z
      .record(z.string().regex(/^[^.]+(\.[^.]+){0,3}$/, "must be names with dots between"), table)
      .refine((all) => Object.keys(all).length <= 10_000, "at most 10000 tables")
      .meta({
        title: "Tables",
        description:
          "By name, with schema and catalog where names need them. A key means the last parts of a whole name; case never counts.",
      }),
  })
  .meta({ title: "Static", description: "Tables written into the configuration." });

const { url, credentials, caFile, timeoutMs, cacheTtlMs, isSafe, safe } = policyServerParts;

const icebergRest = z
  .strictObject({
    url: url.meta({
      title: "Server",
      description: "Base address of the REST catalog, in front of /v1.",
      examples: ["https://catalog.internal/iceberg"],
    }),
    warehouse: z.string().min(1).max(1_000).optional().meta({
      title: "Warehouse",
      description: "Sent when the server is asked for its configuration. Absent: its only one.",
    }),
    catalog: word.optional().meta({
      title: "Catalog",
      description:
        "The engines' name of this catalog: names of tables begin with it, and others are not looked up. Absent: names have no catalog.",
      examples: ["lake"],
    }),
    credentials,
    caFile,
    timeoutMs,
    cacheTtlMs: cacheTtlMs.default(60_000).meta({
      title: "Cache",
      description:
        "How old what the catalog said of a table may be. After it the catalog is asked again; 0 remembers nothing.",
      "x-unit": "milliseconds",
    }),
  })
  .refine(isSafe, safe)
  .meta({ title: "Iceberg REST catalog", description: "The server that is asked." });

const icebergRestProvider = z
  .strictObject({
    provider: z.literal("icebergRest").meta({
      title: "Provider",
      description: "A catalog that speaks Iceberg's REST protocol is asked about each table.",
    }),
    icebergRest,
  })
  .meta({ title: "Iceberg REST", description: "Tables and views of an Iceberg REST catalog." });

export const catalogProviderSchema = z
  .discriminatedUnion("provider", [
    staticProvider,
    icebergRestProvider,
    notBuiltVariant(
      "provider",
      "engine",
      "tables as an engine lists them; a listing is made as a user and takes a slot, and no user asks here",
    ),
    notBuiltVariant(
      "provider",
      "unity",
      "Unity Catalog's own REST API, of which no server was tested; its Iceberg endpoint is one for icebergRest",
    ),
  ])
  .meta({
    title: "Catalog provider",
    description: "Who says which tables there are and which columns they have.",
  });

export type CatalogProviderConfig = z.output<typeof catalogProviderSchema>;
export type StaticCatalogConfig = Extract<CatalogProviderConfig, { provider: "static" }>;
export type IcebergRestConfig = z.output<typeof icebergRest>;
