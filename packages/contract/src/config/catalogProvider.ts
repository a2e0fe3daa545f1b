/**
 * Catalog provider: who says which tables there are and which columns they have, for access control.
 *
 * Shapes only; what is asked of it is in core/police/catalogued.ts.
 */
import { z } from "zod";
import { policyServerParts } from "./policyServer.ts";
import { secretSchema } from "./secret.ts";

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

const unity = z
  .strictObject({
    url: url.meta({
      title: "Server",
      description: "Base address of the server, in front of /api/2.1/unity-catalog.",
      examples: ["https://unity.internal"],
    }),
    catalog: word.optional().meta({
      title: "Catalog",
      description:
        "The server's catalog for names of two parts. Absent: names have three, and the first is the catalog.",
      examples: ["lake"],
    }),
    credentials,
    caFile,
    timeoutMs,
    cacheTtlMs: cacheTtlMs.default(60_000).meta({
      title: "Cache",
      description:
        "How old what the server said of a table may be. After it the server is asked again; 0 remembers nothing.",
      "x-unit": "milliseconds",
    }),
  })
  .refine(isSafe, safe)
  .meta({ title: "Unity Catalog", description: "The server that is asked." });

const unityProvider = z
  .strictObject({
    provider: z.literal("unity").meta({
      title: "Provider",
      description: "A Unity Catalog is asked about each table, over its REST API.",
    }),
    unity,
  })
  .meta({ title: "Unity Catalog", description: "Tables and views of a Unity Catalog." });

const account = z
  .strictObject({
    user: word.meta({
      title: "User",
      description: "As whom a cluster under impersonate or passthrough is asked for metadata.",
      examples: ["metadata"],
    }),
    password: secretSchema.optional().meta({
      title: "Password",
      description: "For clusters under passthrough, where that user logs in.",
      "x-secret": true,
    }),
  })
  .meta({
    title: "Account",
    description:
      "Used for metadata alone, and by nobody's statement. Clusters under serviceAccount are asked as their own account.",
  });

const engine = z
  .strictObject({
    account: account.optional(),
    timeoutMs: z.int().min(50).max(60_000).default(5_000).meta({
      title: "Timeout",
      description:
        "How long the clusters may take to answer about one table; after it the statement is refused, unless what was known is not too old.",
      "x-unit": "milliseconds",
    }),
    cacheTtlMs: z.int().min(1_000).max(3_600_000).default(60_000).meta({
      title: "Cache",
      description:
        "How old what a cluster said of a table may be. In the last quarter of it whoever uses the table has it asked again, without waiting.",
      "x-unit": "milliseconds",
    }),
    staleMs: z.int().min(0).max(86_400_000).default(600_000).meta({
      title: "Stale",
      description:
        "How much older it may be while the cluster can not be asked. Beyond it statements that need it are refused.",
      "x-unit": "milliseconds",
    }),
  })
  .meta({ title: "Engine", description: "How clusters are asked." });

const engineProvider = z
  .strictObject({
    provider: z.literal("engine").meta({
      title: "Provider",
      description:
        "The clusters of a statement's group are asked about each table, and have to agree.",
    }),
    engine: engine.prefault({}),
  })
  .meta({ title: "Engine", description: "Tables and views as the engines themselves know them." });

export const catalogProviderSchema = z
  .discriminatedUnion("provider", [
    staticProvider,
    icebergRestProvider,
    engineProvider,
    unityProvider,
  ])
  .meta({
    title: "Catalog provider",
    description: "Who says which tables there are and which columns they have.",
  });

export type CatalogProviderConfig = z.output<typeof catalogProviderSchema>;
export type StaticCatalogConfig = Extract<CatalogProviderConfig, { provider: "static" }>;
export type IcebergRestConfig = z.output<typeof icebergRest>;
export type UnityConfig = z.output<typeof unity>;
export type EngineCatalogConfig = z.output<typeof engine>;
