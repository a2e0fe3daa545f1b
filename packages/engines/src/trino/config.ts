/** Config of a Trino cluster: a coordinator, or a proxy before several. */
import {
  clusterAuthSchema,
  clusterShape,
  clusterTlsSchema,
  healthCheckQuerySchema,
} from "@gateway/contract/config/cluster.ts";
import { z } from "zod";

const headerText = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

export const trinoConfig = z
  .strictObject({
    engine: z.literal("trino").meta({ title: "Engine", description: "Trino." }),
    ...clusterShape(["serviceAccount", "passthrough", "impersonate", "tokenExchange"]),
    endpoint: z
      .string()
      .refine(
        (text) => originOf(text) !== undefined,
        "must be http://host:port or https://host:port",
      )
      .meta({
        title: "Endpoint",
        description: "Address of the coordinator, without a path.",
        examples: ["https://trino.example:8443"],
      }),
    auth: clusterAuthSchema(["basic", "bearer"]).optional(),
    tls: clusterTlsSchema.optional(),
    user: z.string().regex(headerText, "must be printable ASCII").optional().meta({
      title: "User",
      description:
        "Trino user that statements run as. Absent: the user of `auth`, whom a token names, or `gateway` without `auth`.",
    }),
    catalog: z.string().min(1).optional().meta({
      title: "Catalog",
      description: "Where names are looked for when a client names no catalog.",
    }),
    schema: z.string().min(1).optional().meta({
      title: "Schema",
      description:
        "Where names are looked for when a client names no schema and stands in that catalog.",
    }),
    compression: z.boolean().default(false).meta({
      title: "Compression",
      description:
        "Asks for compressed answers. Worth it over slow networks only: unpacking costs more CPU than anything else here.",
    }),
    spooling: z.boolean().default(false).meta({
      title: "Spooled results",
      description:
        "Lets Trino hand over large results as segments, which are fetched from the coordinator.",
    }),
    healthCheckQuery: healthCheckQuerySchema.optional(),
  })
  .superRefine(({ endpoint, auth, queryAuth, healthCheckQuery, tls, schema, catalog }, context) => {
    const origin = originOf(endpoint);
    if (origin === undefined) return;
    const secure = origin.protocol === "https:";
    if (auth !== undefined && !secure && !isLoopback(origin.hostname)) {
      context.addIssue({
        code: "custom",
        path: ["auth"],
        message: "needs an https endpoint; a credential would travel in clear",
      });
    }
    const users = queryAuth?.type === "passthrough" || queryAuth?.type === "tokenExchange";
    if (users && !secure && !isLoopback(origin.hostname)) {
      context.addIssue({
        code: "custom",
        path: ["queryAuth", "type"],
        message: "needs an https endpoint; users' credentials would travel in clear",
      });
    }
    if (users && auth === undefined && healthCheckQuery !== undefined) {
      context.addIssue({
        code: "custom",
        path: ["healthCheckQuery"],
        message: "needs auth: nobody else may run it in this mode",
      });
    }
    if (tls !== undefined && !secure) {
      context.addIssue({ code: "custom", path: ["tls"], message: "needs an https endpoint" });
    }
    if (schema !== undefined && catalog === undefined) {
      context.addIssue({ code: "custom", path: ["schema"], message: "needs a catalog" });
    }
  })
  .meta({ title: "Trino", description: "A Trino cluster." });

export type TrinoConfig = z.output<typeof trinoConfig>;

function originOf(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const plain = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  const known = url.protocol === "http:" || url.protocol === "https:";
  return known && plain && url.pathname === "/" ? url : undefined;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
