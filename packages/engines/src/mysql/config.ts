/** Config of a MySQL or MariaDB cluster, reached over MySQL's own protocol. */
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
export type MysqlMode = (typeof modes)[number];

const defaultPort = 3306;

/** Fields of the cluster's own TLS: also how the gateway shows who it is. */
const tlsSchema = clusterTlsSchema
  .extend({
    certFile: z.string().min(1).optional().meta({
      title: "Certificate file",
      description: "PEM file of the gateway's own certificate, for accounts that ask for one.",
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

export const mysqlConfig = z
  .strictObject({
    engine: z
      .literal("mysql")
      .meta({ title: "Engine", description: "MySQL or MariaDB, over its own protocol." }),
    ...clusterShape(modes),
    hosts: z
      .array(z.string().refine((host) => hostOf(host) !== undefined, "must be host or host:port"))
      .min(1)
      .max(16)
      .meta({
        title: "Hosts",
        description: "Servers; tried in this order. The port is 3306 unless said.",
        examples: [["db1.internal:3306", "db2.internal"]],
      }),
    auth: clusterAuthSchema(["basic"]).optional(),
    tls: tlsSchema.optional(),
    database: z.string().min(1).max(64).optional().meta({
      title: "Database",
      description: "Where a name without a database is looked for.",
    }),
    poolMode: z.enum(["transaction", "session", "statement"]).default("transaction").meta({
      title: "Pool mode",
      description:
        "transaction: a connection is a session's for a statement or a transaction, or from what only a connection can keep to the session's end. session: from its first statement to its end. statement: for a statement; BEGIN is refused.",
    }),
    sessionState: z.enum(["keep", "refuse"]).default("keep").meta({
      title: "State of sessions",
      description:
        "Temporary tables, locks, user variables, and what a procedure may leave. keep: the connection is the session's own from there on. refuse: the statement is refused.",
    }),
    localFiles: z.boolean().default(false).meta({
      title: "Files of clients",
      description:
        "Whether LOAD DATA LOCAL INFILE may read a file of the client's machine, where its login offers that.",
    }),
    poolSize: z.int().min(1).max(1_024).default(8).meta({
      title: "Connections",
      description:
        "Most statements, transactions and kept sessions at once; more wait. Clients of other protocols have as many beside them, and one is kept for lists.",
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
  .superRefine(({ hosts, tls, queryAuth, auth, poolMode, sessionState }, context) => {
    const issue = (path: string, message: string): void =>
      context.addIssue({ code: "custom", path: [path], message });
    const mode = queryAuth?.type ?? "serviceAccount";
    if (mode === "passthrough" && tls === undefined)
      issue("tls", "passthrough sends passwords of clients: tls is needed");
    if (mode === "serviceAccount" && auth === undefined)
      issue("auth", "a service account is needed");
    if ((tls?.certFile === undefined) !== (tls?.keyFile === undefined))
      issue("tls", "a certificate and its key belong together");
    // The driver compares certificates with names only.
    const digits = hosts.some((host) => isIP(hostOf(host)?.host ?? "") !== 0);
    if (tls !== undefined && tls.serverName === undefined && digits)
      issue("hosts", "an address in digits needs tls.serverName");
    if (poolMode === "session" && sessionState === "refuse")
      issue("sessionState", "a session that has a connection of its own refuses nothing");
  })
  .meta({ title: "MySQL", description: "MySQL or MariaDB, over its own protocol." });

export type MysqlConfig = z.output<typeof mysqlConfig>;

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
