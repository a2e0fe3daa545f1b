/**
 * Tables of the query history: columns for what is filtered and sorted, everything else as one value.
 *
 * Indexes end with the time, newest first, so that a page of any filter is read in order and stops
 * when it is full. NULLS FIRST is what a plain `desc` means in PostgreSQL; an index made with another
 * word would not be used for one.
 */
import { sql } from "drizzle-orm";
import { bigint, index, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import type { QueryRecord, QueryStatus } from "@gateway/contract/record.ts";
import { key, unixMs } from "./columns.ts";

/** What of a record has no column of its own. Whole, `createdAt` included, whose fraction a column loses. */
export type RecordRest = Omit<
  QueryRecord,
  | "proxyQueryId"
  | "user"
  | "status"
  | "clusterGroup"
  | "cluster"
  | "frontend"
  | "errorCode"
  | "worker"
>;

/** First record per query. */
export const queryRecords = pgTable(
  "query_records",
  {
    proxyQueryId: key("proxy_query_id").primaryKey(),
    contentHash: text("content_hash").notNull(),
    createdAt: unixMs("created_at").notNull(),
    userName: text("user_name").notNull(),
    status: text("status").$type<QueryStatus>().notNull(),
    clusterGroup: text("cluster_group"),
    cluster: text("cluster"),
    frontend: text("frontend").notNull(),
    errorCode: text("error_code"),
    rest: jsonb("rest").$type<RecordRest>().notNull(),
    worker: text("worker"),
  },
  (table) => [
    index("query_records_newest").on(
      table.createdAt.desc().nullsFirst(),
      table.proxyQueryId.desc().nullsFirst(),
    ),
    index("query_records_user").on(table.userName, table.createdAt.desc().nullsFirst()),
    index("query_records_status").on(table.status, table.createdAt.desc().nullsFirst()),
    index("query_records_cluster_group")
      .on(table.clusterGroup, table.createdAt.desc().nullsFirst())
      .where(sql`${table.clusterGroup} is not null`),
    index("query_records_cluster")
      .on(table.cluster, table.createdAt.desc().nullsFirst())
      .where(sql`${table.cluster} is not null`),
    index("query_records_frontend").on(table.frontend, table.createdAt.desc().nullsFirst()),
    index("query_records_error_code")
      .on(table.errorCode, table.createdAt.desc().nullsFirst())
      .where(sql`${table.errorCode} is not null`),
    index("query_records_worker")
      .on(table.worker, table.createdAt.desc().nullsFirst())
      .where(sql`${table.worker} is not null`),
  ],
);

/** The newest different record of a query that has one already. */
export const queryRecordConflicts = pgTable(
  "query_record_conflicts",
  {
    proxyQueryId: key("proxy_query_id").primaryKey(),
    contentHash: text("content_hash").notNull(),
    worker: text("worker"),
    record: jsonb("record").$type<QueryRecord>().notNull(),
    count: bigint("count", { mode: "number" }).notNull(),
    firstAt: unixMs("first_at").notNull(),
    lastAt: unixMs("last_at").notNull(),
  },
  (table) => [
    index("query_record_conflicts_newest").on(
      table.firstAt.desc().nullsFirst(),
      table.proxyQueryId.desc().nullsFirst(),
    ),
  ],
);
