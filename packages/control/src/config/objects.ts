/**
 * The shapes of everything that lives in a snapshot, put together from the catalogs: each engine owns
 * its own part. The config file, the admin API and the compiler all parse with these.
 *
 * What the parts mean together is checked in core/snapshot/check.ts and in rules.ts.
 */
import { authSchema } from "@gateway/access/client/config.ts";
import { groupSchema } from "@gateway/contract/config/group.ts";
import { builtWords, notBuilt, notBuiltVariant } from "@gateway/contract/config/notBuilt.ts";
import { routersSchema } from "@gateway/contract/config/router.ts";
import { engines } from "@gateway/engines/catalog.ts";
import { z } from "zod";

/** Names of clusters and groups appear in metric labels and in paths of the admin API. */
export const objectName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
    "must be letters, digits, dots, dashes or underscores",
  );

/** Each engine's config is an object with its own name as `engine`. Zod looks when the union is first used; the type only says so. */
function byEngine<Config>(config: z.ZodType<Config>) {
  return config as z.ZodType<Config> & z.core.$ZodTypeDiscriminable;
}

export const clusterSchema = z
  .discriminatedUnion("engine", [
    byEngine(engines.duckDb.config),
    notBuiltVariant("engine", "trino", "the engine trino"),
    notBuiltVariant("engine", "clickHouse", "the engine clickHouse"),
    notBuiltVariant("engine", "starRocks", "the engine starRocks"),
    notBuiltVariant("engine", "adbc", "the engine adbc"),
  ])
  .meta({ title: "Cluster", description: "One backend." });

export const authorizationSchema = z
  .strictObject({
    provider: builtWords(["none"], { openfga: "OpenFGA" }).default("none").meta({
      title: "Provider",
      description: "none leaves the allow lists of the groups alone in force.",
    }),
  })
  .meta({ title: "Authorization", description: "Which cluster groups a caller may use." });

export const fallbackSchema = z.string().min(1).meta({
  title: "Fallback group",
  description: "Where a query goes that no router matched, if the caller may use it.",
});

/** The root keys of the config file that a snapshot carries. */
export const snapshotShape = {
  clusters: z
    .record(objectName, clusterSchema)
    .default({})
    .meta({ title: "Clusters", description: "Backends by name." }),
  clusterGroups: z
    .record(objectName, groupSchema)
    .default({})
    .meta({ title: "Cluster groups", description: "Routing targets by name." }),
  routers: routersSchema,
  routingFallback: fallbackSchema.optional(),
  auth: authSchema.optional(),
  authorization: authorizationSchema.prefault({}),
  translation: notBuilt("translation between SQL dialects").optional(),
  catalogProvider: notBuilt("the catalog provider").optional(),
  guardrails: notBuilt("guardrails").optional(),
  accessControl: notBuilt("access control of tables and columns").optional(),
} as const;

/** A snapshot's configuration in the form of the file. */
export const snapshotConfigSchema = z.strictObject(snapshotShape);
export type SnapshotConfig = z.output<typeof snapshotConfigSchema>;
