/**
 * Tables of the query history: columns for what is filtered and sorted, everything else as one value.
 *
 * Indexes end with the time, so that a page of any filter is read in order, backwards, and stops when it
 * is full. Oldest first, because what grows at its end fills its pages; newest first they stay half empty.
 */
import { sql } from "drizzle-orm";
import {
  bigint,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  uuid,
} from "drizzle-orm/pg-core";
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

/** What of a record is the same for many: its text, its way, its revision. */
export type RecordShared = Partial<RecordRest>;

/**
 * What many records of one day have in common, once. A day of its own for each, so that retention knows
 * without counting which ones no record refers to any more.
 */
export const queryRecordTexts = pgTable(
  "query_record_texts",
  {
    id: uuid("id").primaryKey(),
    day: integer("day").notNull(),
    body: jsonb("body").$type<RecordShared>().notNull(),
  },
  (table) => [index("query_record_texts_day").on(table.day)],
);

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
    /** Everything else, less what `figures` and the row of `query_record_texts` hold. */
    rest: jsonb("rest").$type<Partial<RecordRest>>().notNull(),
    worker: text("worker"),
    /** In the order of `figureFields` (written.ts). Absent in rows of older releases. */
    figures: doublePrecision("figures").array(),
    texts: uuid("texts"),
  },
  (table) => [
    index("query_records_at").on(table.createdAt, table.proxyQueryId),
    index("query_records_user_at").on(table.userName, table.createdAt),
    // Almost all are finished: those are found by time alone.
    index("query_records_status_at")
      .on(table.status, table.createdAt)
      .where(sql`${table.status} <> 'finished'`),
    index("query_records_cluster_group_at")
      .on(table.clusterGroup, table.createdAt)
      .where(sql`${table.clusterGroup} is not null`),
    index("query_records_cluster_at")
      .on(table.cluster, table.createdAt)
      .where(sql`${table.cluster} is not null`),
    index("query_records_frontend_at").on(table.frontend, table.createdAt),
    index("query_records_error_code_at")
      .on(table.errorCode, table.createdAt)
      .where(sql`${table.errorCode} is not null`),
    index("query_records_worker_at")
      .on(table.worker, table.createdAt)
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
