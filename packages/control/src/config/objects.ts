/**
 * The shapes of everything that lives in a snapshot, put together from the catalogs: each engine owns
 * its own part. The config file, the admin API and the compiler all parse with these.
 *
 * What the parts mean together is checked in core/snapshot/check.ts and in rules.ts.
 */
import { authSchema } from "@gateway/access/client/config.ts";
import { authorizationSchema, authorizationWords } from "@gateway/access/group/config.ts";
import { groupSchema } from "@gateway/contract/config/group.ts";
import { accessControlSchema } from "@gateway/contract/config/accessControl.ts";
import { catalogProviderSchema } from "@gateway/contract/config/catalogProvider.ts";
import { guardrailsSchema } from "@gateway/contract/config/guardrail.ts";
import { translationSchema } from "@gateway/contract/config/translation.ts";
import { routersSchema } from "@gateway/contract/config/router.ts";
import { scriptSchema, scriptsMax } from "@gateway/contract/config/script.ts";
import { secretSchema } from "@gateway/contract/config/secret.ts";
import { engines } from "@gateway/engines/catalog.ts";
import { z } from "zod";

/** Names of clusters and groups appear in metric labels and in paths of the admin API. */
export const objectName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
    "must be letters, digits, dots, dashes or underscores",
  );

type EngineConfig = z.output<(typeof engines)[keyof typeof engines]["config"]>;

/** Each engine's config is an object with its own name as `engine`. Zod looks when the union is first used; the type only says so. */
const engineConfigs = Object.values(engines).map(
  ({ config }) => config as z.ZodType<EngineConfig> & z.core.$ZodTypeDiscriminable,
);

export const clusterSchema = z
  .discriminatedUnion("engine", [...(engineConfigs as [(typeof engineConfigs)[number]])])
  .meta({ title: "Cluster", description: "One backend." });

export const fallbackSchema = z.string().min(1).meta({
  title: "Fallback group",
  description: "Where a query goes that no router matched, if the caller may use it.",
});

/** In the file it stands at `gateway.workerApi.history`; in the database it is the setting `history`. */
export const historySettingSchema = z
  .strictObject({
    endpoint: z
      .url({ protocol: /^https?$/, message: "must be an http or https URL" })
      .nullable()
      .default(null)
      .meta({
        title: "Endpoint",
        description: "Where workers send records; null means to the control plane.",
        examples: ["https://history.example.com/records"],
      }),
    redaction: z.enum(["full", "maskLiterals", "metadata"]).default("full").meta({
      title: "Redaction",
      description:
        "What a record may tell: everything, SQL with literals masked, or no SQL and no error text.",
    }),
    auth: z
      .strictObject({
        bearer: secretSchema.meta({
          title: "Bearer token",
          description: "Sent to the endpoint; the fleet secret never is.",
          "x-secret": true,
        }),
      })
      .optional()
      .meta({ title: "Credentials", description: "For an endpoint of its own." }),
  })
  .meta({ title: "Query history", description: "Where query records go and what they may tell." });

export type HistorySetting = z.output<typeof historySettingSchema>;

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
  scripts: z
    .record(objectName, scriptSchema)
    .refine((all) => Object.keys(all).length <= scriptsMax, `at most ${scriptsMax} scripts`)
    .default({})
    .meta({
      title: "Scripts",
      description: "JavaScript by name, for routers, conditions, strategies, guards and rewrites.",
    }),
  auth: authSchema.optional(),
  // Said again, because the wrapper of a default hides what it wraps.
  authorization: authorizationSchema.prefault({}).meta(authorizationWords),
  translation: translationSchema.optional(),
  catalogProvider: catalogProviderSchema.optional(),
  guardrails: guardrailsSchema.optional(),
  accessControl: accessControlSchema.optional(),
} as const;

/** A snapshot's configuration in the form of the file. */
export const snapshotConfigSchema = z.strictObject(snapshotShape);
export type SnapshotConfig = z.output<typeof snapshotConfigSchema>;

/**
 * Everything a snapshot carries in the form of the file, and nothing of the process: what is imported
 * and exported. Of `gateway` only the history policy is looked at, because the rest is the process's own.
 */
export const fileSchema = z.strictObject({
  gateway: z
    .looseObject({
      workerApi: z.looseObject({ history: historySettingSchema.optional() }).optional(),
    })
    .optional(),
  ...snapshotShape,
});
export type FileConfig = z.output<typeof fileSchema>;
