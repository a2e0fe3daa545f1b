/** Tables of the fleet: who registered, what they last reported, what they are asked to cancel. */
import { index, integer, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { flag, key, unixMs } from "./columns.ts";
import type { WorkerRow } from "./store.ts";

/** One row per instance; a name may have several. */
export const workerRegistry = pgTable(
  "worker_registry",
  {
    instanceId: key("instance_id").primaryKey(),
    name: key("name").notNull(),
    tokenHash: text("token_hash").notNull(),
    labels: jsonb("labels").$type<WorkerRow["labels"]>().notNull(),
    version: text("version").notNull(),
    schemaVersions: jsonb("schema_versions").$type<WorkerRow["schemaVersions"]>().notNull(),
    heartbeatIntervalSecs: integer("heartbeat_interval_secs").notNull(),
    activeRevision: text("active_revision"),
    downloadedRevision: text("downloaded_revision"),
    configSource: text("config_source").$type<WorkerRow["configSource"]>(),
    stale: flag("stale").notNull(),
    lastError: text("last_error"),
    queries: jsonb("queries").$type<WorkerRow["queries"]>().notNull(),
    registeredAt: unixMs("registered_at").notNull(),
    lastSeenAt: unixMs("last_seen_at").notNull(),
    status: text("status").$type<WorkerRow["status"]>().notNull().default("starting"),
    coordination: text("coordination").$type<WorkerRow["coordination"]>(),
  },
  (table) => [
    index("worker_registry_name").on(table.name, table.instanceId),
    index("worker_registry_last_seen").on(table.lastSeenAt),
  ],
);

/** Queries that somebody asked to cancel, on whatever worker they run. */
export const workerCancels = pgTable("worker_cancels", {
  queryId: key("query_id").primaryKey(),
  requestedBy: text("requested_by").notNull(),
  requestedAt: unixMs("requested_at").notNull(),
});
