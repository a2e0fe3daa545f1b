/** Config of a MySQL or MariaDB cluster, reached over MySQL's own protocol. */
import { clusterAuthSchema, clusterShape } from "@gateway/contract/config/cluster.ts";
import {
  hostOf,
  hostsSchema,
  poolTimesShape,
  serverFaults,
  serverTlsSchema,
} from "@gateway/contract/config/server.ts";
import { isIP } from "node:net";
import { z } from "zod";

const modes = ["serviceAccount", "passthrough"] as const;
/** Identity modes that a cluster may have. */
export type MysqlMode = (typeof modes)[number];

export const defaultPort = 3306;

export const mysqlConfig = z
  .strictObject({
    engine: z
      .literal("mysql")
      .meta({ title: "Engine", description: "MySQL or MariaDB, over its own protocol." }),
    ...clusterShape(modes),
    hosts: hostsSchema(defaultPort).meta({
      title: "Hosts",
      description: "Servers; tried in this order. The port is 3306 unless said.",
      examples: [["db1.internal:3306", "db2.internal"]],
    }),
    auth: clusterAuthSchema(["basic"]).optional(),
    tls: serverTlsSchema.optional(),
    database: z.string().min(1).max(64).optional().meta({
      title: "Database",
      description: "Where a name without a database is looked for.",
    }),
    poolMode: z.enum(["transaction", "session", "statement"]).default("transaction").meta({
      title: "Pool mode",
      description:
        "transaction: a connection is a session's for a statement or a transaction, or from what only a connection can keep to the session's end. session: from its first statement to its end. statement: for a statement; BEGIN is refused.",
    }),
    pinning: z.enum(["allow", "refuse"]).default("allow").meta({
      title: "Pinning",
      description:
        "What becomes of a statement that leaves something on its connection: temporary tables, locks, user variables, and what a procedure may leave. allow: the connection is the session's own from there on. refuse: the statement fails.",
    }),
    localFiles: z.boolean().default(false).meta({
      title: "Files of clients",
      description:
        "Whether LOAD DATA LOCAL INFILE may read a file of the client's machine, where its login offers that.",
    }),
    globalVariables: z.boolean().default(false).meta({
      title: "Variables of the server",
      description:
        "Whether SET GLOBAL and SET PERSIST reach the server, which then judges them by its account's privileges. They hold for everybody there, on connections that open later.",
    }),
    poolSize: z.int().min(1).max(1_024).default(8).meta({
      title: "Connections",
      description:
        "Most statements, transactions and kept sessions at once; more wait. Clients of other protocols have as many beside them, and one is kept for lists.",
      "x-unit": "connections",
    }),
    ...poolTimesShape,
  })
  .superRefine((config, context) => {
    const { hosts, tls, poolMode, pinning } = config;
    const issue = (path: string, message: string): void =>
      context.addIssue({ code: "custom", path: [path], message });
    for (const [path, message] of serverFaults(config)) issue(path, message);
    // The driver compares certificates with names only.
    const digits = hosts.some((host) => isIP(hostOf(host, defaultPort)?.host ?? "") !== 0);
    if (tls !== undefined && tls.serverName === undefined && digits)
      issue("hosts", "an address in digits needs tls.serverName");
    if (poolMode === "session" && pinning === "refuse")
      issue("pinning", "a session that has a connection of its own refuses nothing");
  })
  .meta({ title: "MySQL", description: "MySQL or MariaDB, over its own protocol." });

export type MysqlConfig = z.output<typeof mysqlConfig>;
