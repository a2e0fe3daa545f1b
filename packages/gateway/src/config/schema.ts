/**
 * The shape of the config file, put together from the catalogs: each engine and frontend owns its
 * own part. What the parts mean together (members that exist, regular expressions that compile) is
 * checked in core/snapshot/check.ts; what they mean for safety in rules.ts.
 */
import { authSchema } from "@gateway/access/client/config.ts";
import { groupSchema } from "@gateway/contract/config/group.ts";
import { tlsSchema } from "@gateway/contract/config/listener.ts";
import { builtWords, notBuilt, notBuiltVariant } from "@gateway/contract/config/notBuilt.ts";
import { routersSchema } from "@gateway/contract/config/router.ts";
import { engines } from "@gateway/engines/catalog.ts";
import { frontends } from "@gateway/frontends/catalog.ts";
import { z } from "zod";

/** Names appear in metric labels and in paths of the admin API. */
const name = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
    "must be letters, digits, dots, dashes or underscores",
  );

const adminApi = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .meta({ title: "Enabled", description: "Whether the listener is opened." }),
    host: z.string().min(1).default("0.0.0.0").meta({
      title: "Address",
      description: "Address to bind. Health and metrics carry no secret and need no login.",
    }),
    port: z
      .int()
      .min(0)
      .max(65535)
      .default(9000)
      .meta({ title: "Port", description: "TCP port; 0 picks a free one." }),
    tls: tlsSchema.optional(),
    allowedHosts: z
      .array(z.string().min(1))
      .default([])
      .meta({
        title: "Allowed hosts",
        description:
          "Names that requests may address the listener by, beside addresses and localhost: what a scraper's target says.",
        examples: [["gateway.internal"]],
      }),
  })
  .meta({ title: "Operations listener", description: "Serves /health, /readyz and /metrics." });

const frontendsSchema = z
  .strictObject({
    trinoHttp: frontends.trinoHttp.config.optional(),
    postgresWire: frontends.postgresWire.config.optional(),
    mysqlWire: frontends.mysqlWire.config.optional(),
    flightSql: notBuilt("the Flight SQL frontend").optional(),
    snowflakeHttp: notBuilt("the Snowflake frontend").optional(),
    clickhouseHttp: notBuilt("the ClickHouse HTTP frontend").optional(),
    mcp: notBuilt("the MCP frontend").optional(),
  })
  .meta({
    title: "Frontends",
    description: "Client protocols to serve; one that is not listed is off.",
  });

const gatewaySchema = z
  .strictObject({
    role: builtWords(["standalone"], {
      controlPlane: "the role controlPlane",
      worker: "the role worker",
    })
      .default("standalone")
      .meta({ title: "Role", description: "What this process does." }),
    frontends: frontendsSchema.prefault({}),
    adminApi: adminApi.prefault({}),
    logLevel: z.enum(["debug", "info", "warn", "error"]).default("info").meta({
      title: "Log level",
      description: "Lines below it are not written.",
    }),
    shutdownDrainTimeoutSecs: z.int().min(0).max(3600).default(30).meta({
      title: "Drain time",
      description: "How long a stopping gateway lets running queries finish.",
      "x-unit": "seconds",
    }),
    idleInTransactionSecs: z.int().min(1).max(86_400).default(60).meta({
      title: "Idle transaction",
      description: "A transaction without a statement for this long is rolled back.",
      "x-unit": "seconds",
    }),
    persistence: z
      .strictObject({
        type: builtWords(["inMemory"], {
          pglite: "the store pglite",
          postgres: "the store postgres",
          neon: "the store neon",
        })
          .default("inMemory")
          .meta({ title: "Store", description: "Where the configuration lives." }),
      })
      .prefault({})
      .meta({ title: "Persistence", description: "The store of the configuration." }),
    workerApi: notBuilt("the worker API").optional(),
    secrets: notBuilt("limits on secret references of the admin API").optional(),
    files: notBuilt("limits on file paths of the admin API").optional(),
    adbc: notBuilt("limits on driver libraries").optional(),
    egress: notBuilt("limits on outgoing connections").optional(),
    workerName: notBuilt("the role worker").optional(),
    workerLabels: notBuilt("the role worker").optional(),
    workerLabelsFile: notBuilt("the role worker").optional(),
    controlPlane: notBuilt("the role worker").optional(),
    coordination: notBuilt("the role worker").optional(),
    history: notBuilt("the role worker").optional(),
    stateDir: notBuilt("the role worker").optional(),
    lastGood: notBuilt("the role worker").optional(),
  })
  .meta({
    title: "Gateway",
    description: "This process: role, listeners, limits. Changes need a restart.",
  });

/** Each engine's config is an object with its own name as `engine`. Zod looks when the union is first used; the type only says so. */
function byEngine<Config>(config: z.ZodType<Config>) {
  return config as z.ZodType<Config> & z.core.$ZodTypeDiscriminable;
}

const clusterSchema = z
  .discriminatedUnion("engine", [
    byEngine(engines.duckDb.config),
    notBuiltVariant("engine", "trino", "the engine trino"),
    notBuiltVariant("engine", "clickHouse", "the engine clickHouse"),
    notBuiltVariant("engine", "starRocks", "the engine starRocks"),
    notBuiltVariant("engine", "adbc", "the engine adbc"),
  ])
  .meta({ title: "Cluster", description: "One backend." });

/** The whole file. Strict everywhere: an unknown key is an error. */
export const rootSchema = z
  .strictObject({
    gateway: gatewaySchema.prefault({}),
    clusters: z
      .record(name, clusterSchema)
      .default({})
      .meta({ title: "Clusters", description: "Backends by name." }),
    clusterGroups: z
      .record(name, groupSchema)
      .default({})
      .meta({ title: "Cluster groups", description: "Routing targets by name." }),
    routers: routersSchema,
    routingFallback: z.string().min(1).optional().meta({
      title: "Fallback group",
      description: "Where a query goes that no router matched, if the caller may use it.",
    }),
    auth: authSchema.optional(),
    authorization: z
      .strictObject({
        provider: builtWords(["none"], { openfga: "OpenFGA" }).default("none").meta({
          title: "Provider",
          description: "none leaves the allow lists of the groups alone in force.",
        }),
      })
      .prefault({})
      .meta({ title: "Authorization", description: "Which cluster groups a caller may use." }),
    translation: notBuilt("translation between SQL dialects").optional(),
    catalogProvider: notBuilt("the catalog provider").optional(),
    guardrails: notBuilt("guardrails").optional(),
    accessControl: notBuilt("access control of tables and columns").optional(),
  })
  .meta({ title: "Query gateway", description: "The configuration file." });

export type RootConfig = z.output<typeof rootSchema>;
export type GatewayConfig = RootConfig["gateway"];
