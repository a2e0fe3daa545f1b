/** Config of a ClickHouse cluster: its HTTP interface. */
import {
  clusterAuthSchema,
  clusterShape,
  clusterTlsSchema,
  healthCheckQuerySchema,
} from "@gateway/contract/config/cluster.ts";
import { z } from "zod";

export const clickHouseConfig = z
  .strictObject({
    engine: z.literal("clickHouse").meta({ title: "Engine", description: "A ClickHouse server." }),
    ...clusterShape(["serviceAccount", "impersonate"]),
    endpoint: z
      .url({ protocol: /^https?$/, error: "must be an http or https address" })
      .refine(isBare, "must be a host and port only: settings have keys of their own")
      .meta({
        title: "Address",
        description: "The HTTP interface.",
        examples: ["https://clickhouse.internal:8443"],
      }),
    auth: clusterAuthSchema(["basic", "bearer"]).optional(),
    tls: clusterTlsSchema.optional(),
    database: z.string().min(1).optional().meta({
      title: "Database",
      description: "Where a name without a database is looked for. Absent: the account's own.",
    }),
    settings: z
      .record(z.string().regex(/^[a-z][a-z0-9_]*$/, "must be a setting's name"), z.string())
      .default({})
      .meta({
        title: "Settings",
        description: "Settings of every query. The gateway's own go before them.",
        examples: [{ max_threads: "8" }],
      }),
    connectionsMax: z.int().min(1).max(1_024).default(64).meta({
      title: "Connections",
      description: "Most connections at once; more statements wait.",
      "x-unit": "connections",
    }),
    connectTimeoutSecs: z.int().min(1).max(300).default(10).meta({
      title: "Connect limit",
      description: "A connection that takes longer has failed.",
      "x-unit": "seconds",
    }),
    healthCheckQuery: healthCheckQuerySchema
      .refine(
        (sql) => !namesFormat.test(sql),
        "must not name a FORMAT: its answer is read in Native",
      )
      .optional(),
  })
  .superRefine(({ endpoint, tls }, context) => {
    if (tls === undefined || endpoint.startsWith("https:")) return;
    context.addIssue({ code: "custom", path: ["tls"], message: "an http address has no TLS" });
  })
  .meta({ title: "ClickHouse", description: "A ClickHouse server behind its HTTP interface." });

/** At the end of a statement. An answer in another format would be taken for a fault, and the cluster for one that is down. */
const namesFormat = /\bformat\s+\w+\s*;?\s*$/i;

export type ClickHouseConfig = z.output<typeof clickHouseConfig>;

function isBare(endpoint: string): boolean {
  const url = new URL(endpoint);
  const login = url.username !== "" || url.password !== "";
  return !login && url.search === "" && url.hash === "" && url.pathname === "/";
}
