/**
 * The shape of the config file: this process (`gateway`) and the configuration that a snapshot
 * carries, whose shapes are in control/config/objects.ts. What the parts mean together is checked in
 * core/snapshot/check.ts; what they mean for safety in rules.ts.
 */
import { translationFileSchema } from "@gateway/contract/config/translation.ts";
import { snapshotShape, type SnapshotConfig } from "@gateway/control/config/objects.ts";
import { frontends } from "@gateway/frontends/catalog.ts";
import { z } from "zod";
import {
  adbcLimitsSchema,
  adminApiSchema,
  egressSchema,
  fileLimitsSchema,
  relaySchema,
  retentionSchema,
  secretLimitsSchema,
  workerApiSchema,
} from "./control.ts";
import { persistenceSchema } from "./persistence.ts";
import { workerKeys } from "./workerKeys.ts";

const frontendsSchema = z
  .strictObject({
    trinoHttp: frontends.trinoHttp.config.optional(),
    postgresWire: frontends.postgresWire.config.optional(),
    mysqlWire: frontends.mysqlWire.config.optional(),
    flightSql: frontends.flightSql.config.optional(),
    snowflakeHttp: frontends.snowflakeHttp.config.optional(),
    clickhouseHttp: frontends.clickhouseHttp.config.optional(),
    mcp: frontends.mcp.config.optional(),
  })
  .meta({
    title: "Frontends",
    description: "Client protocols to serve; one that is not listed is off.",
  });

const gatewaySchema = z
  .strictObject({
    role: z.enum(["standalone", "controlPlane", "worker"]).default("standalone").meta({
      title: "Role",
      description:
        "standalone and controlPlane own the configuration and run queries; a controlPlane serves workers as well, which run queries and own nothing.",
    }),
    frontends: frontendsSchema.prefault({}),
    adminApi: adminApiSchema.prefault({}),
    logLevel: z.enum(["debug", "info", "warn", "error"]).default("info").meta({
      title: "Log level",
      description: "Lines below it are not written.",
    }),
    shutdownDrainTimeoutSecs: z.int().min(0).max(3600).default(30).meta({
      title: "Drain time",
      description:
        "How long a stopping gateway lets running queries finish. A query whose Trino client has not asked for 15 s is not waited for.",
      "x-unit": "seconds",
    }),
    idleInTransactionSecs: z.int().min(1).max(86_400).default(60).meta({
      title: "Idle transaction",
      description: "A transaction without a statement for this long is rolled back.",
      "x-unit": "seconds",
    }),
    tagComments: z.boolean().default(false).meta({
      title: "Tags in comments",
      description:
        "Whether a comment before a statement, such as /* gateway.tags=team:data,job:nightly */, gives it tags. Agents (MCP) never tag theirs so: their operator does, by the header X-Gateway-Tags.",
    }),
    drills: z.boolean().default(false).meta({
      title: "Drills",
      description:
        "Whether this is a staging fleet, in which an administrator may run drills (gateway drill): load with faults. A control plane without it refuses them.",
    }),
    persistence: persistenceSchema,
    retention: retentionSchema.prefault({}),
    workerApi: workerApiSchema.optional(),
    relay: relaySchema.optional(),
    secrets: secretLimitsSchema.prefault({}),
    files: fileLimitsSchema.prefault({}),
    adbc: adbcLimitsSchema.prefault({}),
    egress: egressSchema.prefault({}),
    ...workerKeys,
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
    translation: translationFileSchema.optional(),
  })
  .meta({ title: "Query gateway", description: "The configuration file." });

export type RootConfig = z.output<typeof rootSchema>;
export type GatewayConfig = RootConfig["gateway"];

/** What a snapshot carries of a file. */
export function snapshotConfigOf(config: RootConfig): SnapshotConfig {
  const { translation } = config;
  if (translation === undefined) return { ...config, translation };
  return { ...config, translation: { ...translation, pythonScripts: undefined } };
}
