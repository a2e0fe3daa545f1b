/**
 * Tables of shared capacity. What works on them are the functions of migrations V022 to V026; drizzle/capacity.ts
 * calls them. Times are Unix milliseconds on the clock of the database.
 */
import { sql } from "drizzle-orm";
import {
  bigint,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
} from "drizzle-orm/pg-core";
import { flag, key, unixMs } from "./columns.ts";

/** What has a cap: a cluster within a group, or a cluster (`cluster_group` is empty). */
export const capacityScopes = pgTable(
  "capacity_scopes",
  {
    id: integer("id").primaryKey().generatedByDefaultAsIdentity(),
    cluster: key("cluster").notNull(),
    clusterGroup: key("cluster_group").notNull(),
    /** Null: a cluster without a cap of its own. */
    maxRunning: integer("max_running"),
    maxExecutionMs: bigint("max_execution_ms", { mode: "number" }),
    /** Most slots of one user in the group, on all its clusters together; the same in each. */
    maxRunningPerUser: integer("max_running_per_user"),
    /** All rows are there. Rows of a large cap are made when they are needed. */
    complete: flag("complete").notNull().default(false),
    /** There are more rows than the cap, each in use. Each row that becomes free is deleted until they fit. */
    draining: flag("draining").notNull().default(false),
  },
  (table) => [
    unique("capacity_scopes_name").on(table.cluster, table.clusterGroup),
    index("capacity_scopes_draining")
      .on(table.id)
      .where(sql`draining`),
  ],
);

/**
 * The slots. No index but the key: an update that touches no index costs no vacuum. A row of a
 * cluster's own scope knows its state and lease only; the rest stands in the row of the group.
 */
export const capacitySlots = pgTable(
  "capacity_slots",
  {
    scope: integer("scope").notNull(),
    slot: integer("slot").notNull(),
    state: text("state").$type<"free" | "held" | "suspect">().notNull(),
    lease: text("lease"),
    instance: text("instance"),
    requestId: text("request_id"),
    queryId: text("query_id"),
    clusterSlot: integer("cluster_slot"),
    grantedAt: unixMs("granted_at"),
    expiresAt: unixMs("expires_at"),
    absentAt: unixMs("absent_at"),
    /** What its statements were sent with at most. */
    maxExecutionMs: bigint("max_execution_ms", { mode: "number" }),
    /** The newest listing of the engine that was heard for it. */
    heardAt: unixMs("heard_at"),
    /** Whose it is, where the group has a limit for each user. */
    userName: key("user_name"),
  },
  (table) => [primaryKey({ columns: [table.scope, table.slot] })],
);

/** Queries that wait. `turn` is the round of its group in which a waiter is served: one of each user per round. */
export const capacityWaiters = pgTable(
  "capacity_waiters",
  {
    instance: key("instance").notNull(),
    queryId: key("query_id").notNull(),
    requestId: text("request_id").notNull(),
    clusterGroup: key("cluster_group").notNull(),
    /** Scopes of the candidates, best first. */
    scopes: integer("scopes").array().notNull(),
    userName: key("user_name").notNull(),
    turn: bigint("turn", { mode: "number" }).notNull(),
    sequence: bigint("sequence", { mode: "number" }).notNull().generatedByDefaultAsIdentity(),
    urgentAt: unixMs("urgent_at").notNull(),
    expiresAt: unixMs("expires_at").notNull(),
    /** The process that holds its call. */
    heldBy: key("held_by").notNull(),
    /** Its user holds as many as allowed: it is passed over until one of those is free. */
    shut: flag("shut").notNull().default(false),
    /** What it was given. */
    lease: text("lease"),
    scope: integer("scope"),
    slot: integer("slot"),
  },
  (table) => [
    primaryKey({ columns: [table.instance, table.queryId] }),
    index("capacity_waiters_turn")
      .on(table.clusterGroup, table.turn, table.sequence)
      .where(sql`lease is null`),
    index("capacity_waiters_user")
      .on(table.clusterGroup, table.userName, table.turn)
      .where(sql`lease is null`),
    index("capacity_waiters_urgent")
      .on(table.urgentAt)
      .where(sql`lease is null`),
    index("capacity_waiters_given")
      .on(table.heldBy)
      .where(sql`lease is not null`),
  ],
);

/** Groups: what their waiters share, and their virtual time against each other. */
export const capacityGroups = pgTable("capacity_groups", {
  clusterGroup: key("cluster_group").primaryKey(),
  weight: doublePrecision("weight").notNull(),
  maxQueued: integer("max_queued"),
  waitMs: bigint("wait_ms", { mode: "number" }).notNull(),
  virtualTime: doublePrecision("virtual_time").notNull().default(0),
  /** When a waiter was last served, and the usual time between two. */
  servedAt: unixMs("served_at"),
  gapMs: doublePrecision("gap_ms"),
});

/** First answers, so that a repeated request gets the same leases. */
export const capacityAnswers = pgTable(
  "capacity_answers",
  {
    instance: key("instance").notNull(),
    requestId: key("request_id").notNull(),
    leases: jsonb("leases").notNull(),
    expiresAt: unixMs("expires_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.instance, table.requestId] }),
    index("capacity_answers_expires").on(table.expiresAt),
  ],
);

/** Leases that were taken from an instance that may still believe in them. */
export const capacityLost = pgTable(
  "capacity_lost",
  {
    instance: key("instance").notNull(),
    lease: key("lease").notNull(),
    at: unixMs("at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.instance, table.lease] })],
);

/** Signs of life of those who hold leases. */
export const capacityInstances = pgTable("capacity_instances", {
  instance: key("instance").primaryKey(),
  seenAt: unixMs("seen_at").notNull(),
  /** Its end is proven. */
  dead: flag("dead").notNull().default(false),
  /** It sends the limits of its leases to the engines. */
  sendsLimits: flag("sends_limits").notNull().default(false),
});

/** One row: which limits hold, and when the reaper last ticked. */
export const capacityState = pgTable("capacity_state", {
  onlyRow: flag("only_row").primaryKey().default(true),
  epoch: bigint("epoch", { mode: "number" }).notNull().default(0),
  sequence: bigint("sequence", { mode: "number" }).notNull().default(0),
  tickAt: unixMs("tick_at").notNull().default(0),
  graceUntil: unixMs("grace_until").notNull().default(0),
});

/** Locks with a fence: `token` grows with every holder. */
export const sweepLocks = pgTable("sweep_locks", {
  name: key("name").primaryKey(),
  instance: text("instance").notNull(),
  token: bigint("token", { mode: "number" }).notNull(),
  ttlMs: bigint("ttl_ms", { mode: "number" }).notNull(),
  expiresAt: unixMs("expires_at").notNull(),
});

/** What engines really run under the service account, as the reaper saw it. */
export const capacityRunning = pgTable("capacity_running", {
  cluster: key("cluster").primaryKey(),
  running: integer("running").notNull(),
  complete: flag("complete").notNull(),
  at: unixMs("at").notNull(),
});
