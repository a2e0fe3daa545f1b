/** Config of a PostgreSQL cluster, reached over PostgreSQL's own protocol. */
import {
  clusterAuthSchema,
  clusterShape,
  clusterTlsSchema,
  healthCheckQuerySchema,
} from "@gateway/contract/config/cluster.ts";
import { z } from "zod";

const modes = ["serviceAccount", "passthrough"] as const;
/** Identity modes that a cluster may have. */
export type PostgresqlMode = (typeof modes)[number];

/** What a server has to be, in the words of libpq. */
export const sessionAttributes = [
  "any",
  "read-write",
  "read-only",
  "primary",
  "standby",
  "prefer-standby",
] as const;
export type SessionAttributes = (typeof sessionAttributes)[number];

const defaultPort = 5432;

/** Fields of the cluster's own TLS: also how the gateway shows who it is. */
const tlsSchema = clusterTlsSchema
  .extend({
    certFile: z.string().min(1).optional().meta({
      title: "Certificate file",
      description: "PEM file of the gateway's own certificate, for servers that ask for one.",
      "x-file-path": true,
    }),
    keyFile: z.string().min(1).optional().meta({
      title: "Key file",
      description: "PEM file of the key to that certificate.",
      "x-file-path": true,
    }),
  })
  .meta({
    title: "TLS",
    description:
      "How the server's certificate is checked. Absent: the connection is not encrypted.",
  });

export const postgresqlConfig = z
  .strictObject({
    engine: z
      .literal("postgresql")
      .meta({ title: "Engine", description: "PostgreSQL, over its own protocol." }),
    ...clusterShape(modes),
    hosts: z
      .array(z.string().refine((host) => hostOf(host) !== undefined, "must be host or host:port"))
      .min(1)
      .max(16)
      .meta({
        title: "Hosts",
        description:
          "Servers, or a pooler before them; tried in this order. The port is 5432 unless said.",
        examples: [["db1.internal:5432", "db2.internal"]],
      }),
    targetSessionAttrs: z.enum(sessionAttributes).default("any").meta({
      title: "Wanted server",
      description: "Which of the hosts will do, in the words of libpq's target_session_attrs.",
    }),
    database: z.string().min(1).max(63).default("postgres").meta({
      title: "Database",
      description: "The database that all statements run in.",
    }),
    auth: clusterAuthSchema(["basic"]).optional(),
    tls: tlsSchema.optional(),
    poolMode: z.enum(["transaction", "session", "statement"]).default("transaction").meta({
      title: "Pool mode",
      description:
        "transaction: a connection is a session's for a statement or a transaction. session: from its first statement until its client leaves, for clients of PostgreSQL. statement: for a statement; BEGIN is refused.",
    }),
    pinning: z.enum(["allow", "refuse"]).default("allow").meta({
      title: "Pinning",
      description:
        "What becomes of a statement in transaction mode that leaves something on its connection: temporary tables, locks of the session, LISTEN, PREPARE, cursors WITH HOLD. allow: the connection and its slot stay with the session of a PostgreSQL client while anything is left. refuse: the statement fails.",
    }),
    poolSize: z.int().min(1).max(1_024).default(8).meta({
      title: "Connections",
      description:
        "Most statements and transactions at once; more wait. One more is kept for lists. Under passthrough each has a connection of its own, closed behind it.",
      "x-unit": "connections",
    }),
    connectTimeoutSecs: z.int().min(1).max(300).default(10).meta({
      title: "Connect limit",
      description: "A host where no login succeeded after this long has failed.",
      "x-unit": "seconds",
    }),
    idleTimeoutSecs: z.int().min(1).max(86_400).default(300).meta({
      title: "Idle connections",
      description: "A connection without a statement for this long is closed.",
      "x-unit": "seconds",
    }),
    healthCheckQuery: healthCheckQuerySchema.optional(),
  })
  .superRefine(({ tls, queryAuth, auth }, context) => {
    const mode = queryAuth?.type ?? "serviceAccount";
    if (mode === "passthrough" && tls === undefined) {
      const message = "passthrough sends what clients log in with: tls is needed";
      context.addIssue({ code: "custom", path: ["tls"], message });
    }
    if (mode === "serviceAccount" && auth === undefined) {
      const message = "a service account is needed";
      context.addIssue({ code: "custom", path: ["auth"], message });
    }
    if ((tls?.certFile === undefined) !== (tls?.keyFile === undefined)) {
      const message = "a certificate and its key belong together";
      context.addIssue({ code: "custom", path: ["tls"], message });
    }
  })
  .meta({ title: "PostgreSQL", description: "PostgreSQL, over its own protocol." });

export type PostgresqlConfig = z.output<typeof postgresqlConfig>;

/** A server's name and port. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** `host`, `host:port`, `[::1]` or `[::1]:port`; undefined for anything else. */
export function hostOf(text: string): HostPort | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = match?.[3] === undefined ? defaultPort : Number(match[3]);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}
