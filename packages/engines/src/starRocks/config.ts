/** Config of a StarRocks cluster: its MySQL port. Servers of MySQL's family answer to the same. */
import {
  clusterAuthSchema,
  clusterShape,
  clusterTlsSchema,
  healthCheckQuerySchema,
} from "@gateway/contract/config/cluster.ts";
import { isIP } from "node:net";
import { z } from "zod";

const modes = ["serviceAccount", "passthrough"] as const;
/** Identity modes that a cluster may have. */
export type StarRocksMode = (typeof modes)[number];

export const starRocksConfig = z
  .strictObject({
    engine: z.literal("starRocks").meta({ title: "Engine", description: "A StarRocks cluster." }),
    ...clusterShape(modes),
    endpoint: z
      .string()
      .refine(isAddress, "must be mysql://host:port, with ?require_ssl=true or nothing behind it")
      .meta({
        title: "Address",
        description: "The MySQL port of a frontend node, or of a proxy before several.",
        examples: ["mysql://starrocks.internal:9030?require_ssl=true"],
      }),
    auth: clusterAuthSchema(["basic"]).optional(),
    tls: clusterTlsSchema.optional(),
    database: z.string().min(1).optional().meta({
      title: "Database",
      description: "Where a name without a database is looked for.",
    }),
    poolSize: z.int().min(1).max(1_024).default(8).meta({
      title: "Connections",
      description:
        "Most statements and transactions at once; more wait. One more is kept for KILL and lists. Under passthrough each has a connection of its own, closed behind it.",
      "x-unit": "connections",
    }),
    connectTimeoutSecs: z.int().min(1).max(300).default(10).meta({
      title: "Connect limit",
      description: "A connection that is not logged in after this long has failed.",
      "x-unit": "seconds",
    }),
    idleTimeoutSecs: z.int().min(1).max(86_400).default(300).meta({
      title: "Idle connections",
      description: "A connection without a statement for this long is closed.",
      "x-unit": "seconds",
    }),
    healthCheckQuery: healthCheckQuerySchema.optional(),
  })
  .superRefine(({ endpoint, tls, queryAuth }, context) => {
    if (!URL.canParse(endpoint)) return;
    const secure = requiresTls(endpoint);
    if (tls !== undefined && !secure) {
      const message = "the address has no ?require_ssl=true";
      context.addIssue({ code: "custom", path: ["tls"], message });
    }
    if (queryAuth?.type === "passthrough" && !secure) {
      const message = "passthrough sends passwords of clients: the address needs ?require_ssl=true";
      context.addIssue({ code: "custom", path: ["endpoint"], message });
    }
    // The driver compares certificates with names only.
    if (
      secure &&
      isIP(new URL(endpoint).hostname.replaceAll(/^\[|\]$/g, "")) !== 0 &&
      tls?.serverName === undefined
    ) {
      const message = "an address in digits needs tls.serverName";
      context.addIssue({ code: "custom", path: ["endpoint"], message });
    }
  })
  .meta({ title: "StarRocks", description: "A StarRocks cluster behind its MySQL port." });

export type StarRocksConfig = z.output<typeof starRocksConfig>;

/** True when a connection without TLS is refused. */
export function requiresTls(endpoint: string): boolean {
  return new URL(endpoint).searchParams.get("require_ssl") === "true";
}

function isAddress(endpoint: string): boolean {
  if (!URL.canParse(endpoint)) return false;
  const url = new URL(endpoint);
  const login = url.username !== "" || url.password !== "";
  const query = ["", "?require_ssl=true", "?require_ssl=false"].includes(url.search);
  const bare = url.pathname === "" || url.pathname === "/";
  return (
    url.protocol === "mysql:" && url.hostname !== "" && !login && query && bare && url.hash === ""
  );
}
