/** `/admin/status`: how this control plane stands, for everybody who may log in. `/admin/schemas`: what Studio makes its forms from. */
import { accessControlSchema } from "@gateway/contract/config/accessControl.ts";
import { catalogProviderSchema } from "@gateway/contract/config/catalogProvider.ts";
import { groupSchema } from "@gateway/contract/config/group.ts";
import { routersSchema } from "@gateway/contract/config/router.ts";
import { translationSchema } from "@gateway/contract/config/translation.ts";
import { revisionText } from "@gateway/contract/revision.ts";
import { authSchema } from "@gateway/access/client/config.ts";
import { authorizationSchema } from "@gateway/access/group/config.ts";
import { guardrailsSchema } from "@gateway/contract/config/guardrail.ts";
import { z } from "zod";
import type { settingNames } from "../../config/file.ts";
import { clusterSchema, fallbackSchema, historySettingSchema } from "../../config/objects.ts";
import type { Store } from "../../store/store.ts";
import { freshnessHeaders } from "../headers.ts";
import { route, type AdminApi } from "../route.ts";
import { unixMs } from "../shapes.ts";

const statusSchema = z.strictObject({
  revision: z.string().optional().meta({ description: "Absent while the store is empty." }),
  builtAt: unixMs.optional(),
  fresh: z.strictObject({
    confirmedAt: unixMs,
    problem: z.string().optional().meta({ description: "Why the newest could not be had." }),
  }),
  store: z.strictObject({
    kind: z.enum(["memory", "pglite", "postgres", "neon"]),
    limits: z.array(z.string()).meta({ description: "What this store can not do." }),
  }),
  host: z.enum(["container", "function"]),
  workerApi: z.boolean(),
  runsQueries: z.boolean(),
  drills: z.boolean().meta({ description: "Whether drills are taken: a staging fleet." }),
});

/** A store that forgets is fine for a first look; whoever runs a fleet on it has to know. */
const limitsOf: Readonly<Record<Store["kind"], readonly string[]>> = {
  memory: [
    "Configuration, users, sessions, history and audit log end with the process.",
    "The next start reads the file again: changes that were made here are gone.",
    "One process only: a second control plane would have a store of its own.",
  ],
  pglite: ["One process only: the folder of the database is locked."],
  postgres: [],
  neon: [],
};

export function statusRoutes(api: AdminApi): void {
  const { deps } = api;
  const { config, store, host } = deps;
  route(
    api,
    ["GET", "/status"],
    {
      tag: "status",
      summary: "How this control plane stands",
      role: "viewer",
      responses: { 200: { description: "The summary.", schema: statusSchema } },
    },
    () => {
      const current = config.current();
      const { confirmedAt, problem } = config.freshness();
      const status = {
        revision: current === undefined ? undefined : revisionText(current.revision),
        builtAt: current?.createdAt,
        fresh: { confirmedAt, problem },
        store: { kind: store.kind, limits: limitsOf[store.kind] },
        host,
        workerApi: deps.workerApi !== undefined,
        runsQueries: deps.queries !== undefined,
        drills: deps.drills,
      };
      return Response.json(status, { headers: freshnessHeaders(deps) });
    },
  );
}

/** `/admin/schemas` */
export function schemaRoutes(api: AdminApi): void {
  let made: unknown;
  route(
    api,
    ["GET", "/schemas"],
    {
      tag: "schemas",
      summary: "JSON Schemas of the configuration's objects",
      description: "A field marked `x-secret` is write-only; `{set: true}` keeps what is set.",
      role: "viewer",
      responses: {
        200: {
          description: "Schema by object.",
          schema: z.strictObject({
            cluster: z.unknown(),
            clusterGroup: z.unknown(),
            routing: z.unknown(),
            settings: z.record(z.string(), z.unknown()),
          }),
        },
      },
    },
    () => Response.json((made ??= schemas())),
  );
}

function schemas() {
  const routing = z.strictObject({
    routers: routersSchema,
    routingFallback: fallbackSchema.optional(),
  });
  return {
    cluster: jsonSchema(clusterSchema),
    clusterGroup: jsonSchema(groupSchema),
    routing: jsonSchema(routing),
    settings: {
      auth: jsonSchema(authSchema),
      authorization: jsonSchema(authorizationSchema),
      guardrails: jsonSchema(guardrailsSchema),
      accessControl: jsonSchema(accessControlSchema),
      catalogProvider: jsonSchema(catalogProviderSchema),
      translation: jsonSchema(translationSchema),
      history: jsonSchema(historySettingSchema),
    } satisfies Record<(typeof settingNames)[number], unknown>,
  };
}

function jsonSchema(schema: z.ZodType): unknown {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
}
