/** Config of a PostgreSQL cluster, reached over PostgreSQL's own protocol. */
import { clusterAuthSchema, clusterShape } from "@gateway/contract/config/cluster.ts";
import {
  hostsSchema,
  poolTimesShape,
  serverFaults,
  serverTlsSchema,
} from "@gateway/contract/config/server.ts";
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

export const defaultPort = 5432;

export const postgresqlConfig = z
  .strictObject({
    engine: z
      .literal("postgresql")
      .meta({ title: "Engine", description: "PostgreSQL, over its own protocol." }),
    ...clusterShape(modes),
    hosts: hostsSchema(defaultPort).meta({
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
    tls: serverTlsSchema.optional(),
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
    preparedStatementsMax: z.int().min(0).max(10_000).optional().meta({
      title: "Prepared statements of a connection",
      description:
        "How many statements that clients keep prepared each connection keeps as well, so that they are not parsed each time; 0 keeps none. Unless said 200 in session mode and 0 in the others, where the server's application_name then names the query that runs, in the place of the client's own.",
      "x-unit": "statements",
    }),
    ...poolTimesShape,
  })
  .superRefine((config, context) => {
    for (const [path, message] of serverFaults(config))
      context.addIssue({ code: "custom", path: [path], message });
  })
  .meta({ title: "PostgreSQL", description: "PostgreSQL, over its own protocol." });

export type PostgresqlConfig = z.output<typeof postgresqlConfig>;
