/**
 * What the web console asks of a control plane beside the resources of `/openapi.json`: live state, time series,
 * a query as oneself, and signing on. Paths, names of events and shapes stand here once; the admin API parses and
 * documents with them, and the console reads answers with them.
 *
 * An answer may gain members in later releases, so readers use `.loose()` shapes where they are strict here.
 */
import { z } from "zod";
import type { QueryStatus } from "./record.ts";
import { workerStatuses } from "./workerApi.ts";

/** Where the console's files are served; Vite's `base`. `/` of the admin listener leads there. */
export const studioPath = "/studio/";

/**
 * The policy that the files are served with. Neither inline scripts nor inline styles nor `<style>` elements that a
 * library makes: styles come from files, from `element.style`, or from `adoptedStyleSheets` (an editor that writes
 * a `<style>` element has to be mounted in a shadow root).
 */
export const studioContentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const studioPaths = {
  /** GET, viewer: what this control plane can do for the console (`capabilitiesSchema`). */
  capabilities: "/admin/capabilities",
  /** GET, viewer: `text/event-stream`; see `liveEvents`. 501 in a function: poll `live` instead. */
  events: "/admin/events",
  /** GET, viewer: `liveSchema`, the state that a stream begins with. For polling, and to read once. */
  live: "/admin/live",
  /** GET, viewer: `overviewSchema`; `?range=hour|day`. */
  overview: "/admin/overview",
  /** GET, viewer: CSV of the history; the filters of `/admin/queries` without `limit` and `cursor`. */
  queryExport: "/admin/query-export",
  /** POST, operator: `runRequestSchema` → `application/x-ndjson`, one `runEventSchema` a line. */
  run: "/admin/run",
  /** POST, operator: `runTablesRequestSchema` → `runTablesSchema`, for completion. */
  runTables: "/admin/run-tables",
  /** GET, nobody: how one signs on here (`signOnSchema`). */
  signOn: "/admin/sign-on",
  /** GET, nobody, a browser's navigation: `?token=` of a one-time link; sets the session, leads to the console. */
  signOnLink: "/admin/sign-on/link",
  /** POST, admin: a one-time link for oneself (`signOnLinkSchema`), where the listener is on loopback. */
  signOnLinks: "/admin/sign-on/links",
  /** GET, nobody, a browser's navigation: `?returnTo=` → the identity provider. */
  signOnOidc: "/admin/sign-on/oidc",
  /** GET, nobody: where the identity provider sends the browser back to. Its redirect URI. */
  signOnOidcCallback: "/admin/sign-on/oidc/callback",
} as const;

const unixMs = z.number().meta({ description: "Unix milliseconds." });

// ---------------------------------------------------------------- live state

/** Most entries of one list; `total` says how many there are. The oldest queries come first. */
export const liveItemsMax = 1_000;

export const liveQuerySchema = z.strictObject({
  key: z
    .string()
    .meta({ description: "Unique in the list, also where two processes claim one id." }),
  id: z.string(),
  state: z.enum(["queued", "running"]),
  since: unixMs,
  position: z
    .int()
    .optional()
    .meta({ description: "Place among the waiting of its group in this process, 1 is next." }),
  group: z.string().optional(),
  cluster: z.string().optional(),
  worker: z.string().optional().meta({ description: "Absent for a query of this process." }),
  instanceId: z.string().optional(),
  user: z.string().optional(),
  frontend: z.string().optional(),
  rows: z.int().optional(),
  sql: z.string().optional().meta({ description: "For operators and admins." }),
});
export type LiveQuery = z.output<typeof liveQuerySchema>;

export const liveWorkerSchema = z.strictObject({
  key: z.string().meta({ description: "The instance id." }),
  name: z.string(),
  status: z.enum(workerStatuses),
  labels: z.record(z.string(), z.string()),
  version: z.string(),
  activeRevision: z.string().optional(),
  downloadedRevision: z.string().optional(),
  behind: z.boolean().meta({ description: "Runs under another revision than the newest." }),
  configSource: z.enum(["controlPlane", "disk", "peer"]).optional(),
  stale: z.boolean(),
  lastError: z.string().optional(),
  running: z.int(),
  queued: z.int(),
  lastSeenAt: unixMs,
});
export type LiveWorker = z.output<typeof liveWorkerSchema>;

export const liveClusterSchema = z.strictObject({
  key: z.string().meta({ description: "The cluster's name." }),
  engine: z.string(),
  enabled: z.boolean(),
  health: z.enum(["up", "down", "starting", "disabled", "unknown"]).meta({
    description: "As this process probes it; unknown where it opens no clusters.",
  }),
  breakers: z.record(z.string(), z.enum(["closed", "open", "halfOpen"])).meta({
    description: "By group, where it has a circuit breaker.",
  }),
  running: z.int().meta({ description: "In the whole fleet, as last reported." }),
  cap: z.int().optional(),
});
export type LiveCluster = z.output<typeof liveClusterSchema>;

export const liveGroupSchema = z.strictObject({
  key: z.string().meta({ description: "The group's name." }),
  enabled: z.boolean(),
  running: z.int(),
  queued: z.int(),
  cap: z.int().optional().meta({ description: "maxRunningQueries: of each member of the group." }),
});
export type LiveGroup = z.output<typeof liveGroupSchema>;

export const liveCountersSchema = z.strictObject({
  running: z.int(),
  queued: z.int(),
  workersOnline: z.int(),
  workersOffline: z.int(),
  workersBehind: z.int(),
  clustersDown: z.int(),
  revision: z.string().optional().meta({ description: "The newest." }),
  /** Why the newest configuration could not be had, or the database not be asked. */
  problem: z.string().optional(),
});
export type LiveCounters = z.output<typeof liveCountersSchema>;

function listOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ total: z.int(), items: z.array(item) });
}

/** The whole state: answer of `live`, data of the event `snapshot`. */
export const liveSchema = z.strictObject({
  at: unixMs,
  counters: liveCountersSchema,
  queries: listOf(liveQuerySchema),
  workers: listOf(liveWorkerSchema),
  clusters: listOf(liveClusterSchema),
  groups: listOf(liveGroupSchema),
});
export type Live = z.output<typeof liveSchema>;

function changeOf<Item extends z.ZodType>(item: Item) {
  return z
    .strictObject({ total: z.int(), put: z.array(item), gone: z.array(z.string()) })
    .optional();
}

/** What changed since the event before: entries by their `key`. Absent where nothing did. */
export const liveDeltaSchema = z.strictObject({
  at: unixMs,
  counters: liveCountersSchema.optional(),
  queries: changeOf(liveQuerySchema),
  workers: changeOf(liveWorkerSchema),
  clusters: changeOf(liveClusterSchema),
  groups: changeOf(liveGroupSchema),
});
export type LiveDelta = z.output<typeof liveDeltaSchema>;

/** Why a stream ended. After `signedOut`, `role` and `stopping` the console asks `/admin/me` again. */
export const liveEndSchema = z.strictObject({
  reason: z.enum(["signedOut", "role", "stopping", "unavailable", "age"]),
});
export type LiveEnd = z.output<typeof liveEndSchema>;

/**
 * Names of the events. A stream begins with one `snapshot` and goes on with `delta`, also after it broke off: the
 * state is whole each time, so a `Last-Event-ID` needs no memory here. A reader that is slow gets fewer and larger
 * deltas. Lines that begin with a colon come every 15 s.
 */
export const liveEvents = { snapshot: "snapshot", delta: "delta", end: "end" } as const;

/** How often a console without streams polls `live`. */
export const livePollMs = 2_000;

// ---------------------------------------------------------------- time series

export const overviewRanges = ["hour", "day"] as const;
export type OverviewRange = (typeof overviewRanges)[number];

const percentilesSchema = z
  .strictObject({ p50: z.number(), p95: z.number(), p99: z.number() })
  .optional()
  .meta({ description: "Milliseconds; absent where no query ended." });

export const overviewPointSchema = z.strictObject({
  at: unixMs.meta({ description: "Begin of the step; queries are counted by when they came." }),
  statuses: z.strictObject({
    finished: z.int(),
    failed: z.int(),
    cancelled: z.int(),
    denied: z.int(),
  } satisfies Record<QueryStatus, unknown>),
  perSecond: z.number(),
  latency: percentilesSchema.meta({ description: "From receipt to end: queue and execution." }),
  queue: percentilesSchema,
  runningMean: z.number().meta({ description: "Queries that ran at a time, on average." }),
  queuedMean: z.number(),
  sampled: z.boolean().meta({
    description: "Counts are exact; latencies and means are of the newest queries of the step.",
  }),
});
export type OverviewPoint = z.output<typeof overviewPointSchema>;

/** Oldest first; the last point is the step that has not ended. */
export const overviewSchema = z.strictObject({
  range: z.enum(overviewRanges),
  from: unixMs,
  to: unixMs,
  stepMs: z.int(),
  cap: z.int().optional().meta({
    description: "Queries that may run at once by the caps of today; absent where one has none.",
  }),
  points: z.array(overviewPointSchema),
  errors: z
    .array(z.strictObject({ code: z.string(), count: z.int() }))
    .meta({ description: "The most frequent codes of the range, at most ten." }),
});
export type Overview = z.output<typeof overviewSchema>;

// ---------------------------------------------------------------- a query as oneself

const name = z.string().min(1).max(1_024);

export const runRequestSchema = z.strictObject({
  sql: z.string().min(1).max(65_000),
  group: name.optional().meta({
    description: "The cluster group to run in. Absent: where the routers lead.",
  }),
  catalog: name.optional(),
  schema: name.optional(),
  explain: z.boolean().default(false).meta({ description: "The plan; the query is not run." }),
  maxRows: z.int().min(1).max(1_000_000).default(1_000).meta({
    description: "More rows are cut, also by the limit of the configuration.",
  }),
  timeoutSecs: z.int().min(1).max(3_600).default(60),
});
export type RunRequest = z.input<typeof runRequestSchema>;
/** With its defaults. */
export type RunAsked = z.output<typeof runRequestSchema>;

/** Numbers only where a double holds them; everything else is text that loses no digit. */
export const runCellSchema = z.union([z.null(), z.boolean(), z.number(), z.string()]);
export type RunCell = z.output<typeof runCellSchema>;

export const runErrorSchema = z.strictObject({
  code: z.string().meta({ description: "Of docs/reference/errors.md." }),
  message: z.string(),
  retry: z.enum(["never", "later", "reconnect"]),
  position: z.int().optional().meta({ description: "In the text of the request, counted from 1." }),
  hint: z.string().optional(),
  sqlState: z.string().optional(),
});

/** `started`, then any of the others, and at the end `done` or `failed`; a stream without those broke off. */
export const runEventSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("started"), id: z.string(), user: z.string() }),
  z.strictObject({
    kind: z.literal("queued"),
    position: z.int(),
    estimateMs: z.number().optional(),
  }),
  z.strictObject({
    kind: z.literal("progress"),
    state: z.enum(["queued", "running"]),
    queueMs: z.number(),
    executionMs: z.number(),
    rows: z.int(),
    percent: z.number().optional(),
  }),
  z.strictObject({ kind: z.literal("notice"), code: z.string(), text: z.string() }),
  z.strictObject({
    kind: z.literal("columns"),
    columns: z.array(z.strictObject({ name: z.string(), type: z.string(), nullable: z.boolean() })),
  }),
  z.strictObject({ kind: z.literal("rows"), rows: z.array(z.array(runCellSchema)) }),
  z.strictObject({
    kind: z.literal("done"),
    rows: z.int(),
    queueMs: z.number(),
    executionMs: z.number(),
    cut: z.array(z.enum(["rows", "bytes", "values"])).meta({
      description: "What the result lacks; empty when it is whole.",
    }),
    updateType: z.string().optional(),
    updateCount: z.number().optional(),
  }),
  z.strictObject({ kind: z.literal("failed"), error: runErrorSchema }),
]);
export type RunEvent = z.output<typeof runEventSchema>;

export const runTablesRequestSchema = z.strictObject({
  group: name.optional(),
  catalog: name.optional(),
  schema: name.optional(),
});

export const runTablesSchema = z.strictObject({
  truncated: z.boolean(),
  tables: z.array(
    z.strictObject({
      catalog: z.string(),
      schema: z.string(),
      name: z.string(),
      kind: z.enum(["table", "view"]),
      columns: z.array(z.strictObject({ name: z.string(), type: z.string() })),
    }),
  ),
});
export type RunTables = z.output<typeof runTablesSchema>;

// ---------------------------------------------------------------- one query of the history

/** A part of a query's life, in order; `/admin/queries/{id}` adds `timeline` to the record. */
export const timelineStageSchema = z.strictObject({
  stage: z.enum(["received", "queued", "executed", "ended"]),
  at: unixMs,
  tookMs: z.number(),
});
export type TimelineStage = z.output<typeof timelineStageSchema>;

// ---------------------------------------------------------------- signing on

export const signOnSchema = z.strictObject({
  setupNeeded: z.boolean().meta({ description: "POST /admin/setup makes the first admin." }),
  password: z.literal(true),
  oidc: z
    .strictObject({ title: z.string() })
    .optional()
    .meta({ description: "Present where administrators sign on at an identity provider." }),
});
export type SignOn = z.output<typeof signOnSchema>;

/** `?signOn=` of the console's address after a sign-on that was refused. */
export const signOnRefusals = [
  "linkUsed",
  "cancelled",
  "expired",
  "refused",
  "noRole",
  "nameTaken",
  "unavailable",
] as const;
export type SignOnRefusal = (typeof signOnRefusals)[number];

export const signOnLinkSchema = z.strictObject({ path: z.string(), expiresAt: unixMs });

export const capabilitiesSchema = z.strictObject({
  live: z.enum(["events", "poll"]),
  run: z
    .strictObject({
      available: z.boolean(),
      reason: z.string().optional(),
      writes: z.boolean().meta({ description: "False: statements that may write are refused." }),
      maxRows: z.int(),
      maxBytes: z.int(),
      timeoutSecs: z.int(),
    })
    .meta({ description: "Whether this user may run queries here." }),
  testCluster: z.boolean(),
});
export type Capabilities = z.output<typeof capabilitiesSchema>;
