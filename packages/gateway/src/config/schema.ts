/**
 * The shape of the config file: this process (`gateway`) and the configuration that a snapshot
 * carries, whose shapes are in control/config/objects.ts. What the parts mean together is checked in
 * core/snapshot/check.ts; what they mean for safety in rules.ts.
 */
import { tlsSchema } from "@gateway/contract/config/listener.ts";
import { builtWords, notBuilt } from "@gateway/contract/config/notBuilt.ts";
import { snapshotShape } from "@gateway/control/config/objects.ts";
import { frontends } from "@gateway/frontends/catalog.ts";
import { z } from "zod";

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

/** The whole file. Strict everywhere: an unknown key is an error. */
export const rootSchema = z
  .strictObject({
    gateway: gatewaySchema.prefault({}),
    ...snapshotShape,
  })
  .meta({ title: "Query gateway", description: "The configuration file." });

export type RootConfig = z.output<typeof rootSchema>;
export type GatewayConfig = RootConfig["gateway"];
