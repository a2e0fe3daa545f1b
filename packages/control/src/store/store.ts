/**
 * The store: everything durable of a control plane. One suite (`store.suite.ts`) runs against every
 * implementation.
 *
 * Every call is one statement, or one atomic step; none leaves a change half done. Expected failures
 * are values. `unavailable` carries a code of the driver and never its message, because drivers put
 * parameters (which may be secrets) into messages.
 */
import type { Writing } from "./written.ts";
import type { RecordBatchResponse, QueryRecord, QueryStatus } from "@gateway/contract/record.ts";
import type { Revision } from "@gateway/contract/revision.ts";
import type { OverviewPoint } from "@gateway/contract/studioApi.ts";
import type { ReportedQuery, WorkerStatus } from "@gateway/contract/workerApi.ts";
import type { Json } from "@gateway/contract/canonical.ts";
import type { Result } from "@gateway/core/result.ts";
import type { CapacityStore } from "./capacity.ts";

/** The database did not answer, or refused. `detail` is a code (`ECONNREFUSED`, `57P01`), for logs. */
export interface StoreUnavailable {
  readonly code: "unavailable";
  readonly detail: string;
}

export type Stored<Value> = Promise<Result<Value, StoreUnavailable>>;

export interface Store extends AsyncDisposable {
  readonly kind: "memory" | "pglite" | "postgres" | "neon";
  readonly config: ConfigStore;
  readonly records: RecordStore;
  readonly workers: WorkerStore;
  readonly capacity: CapacityStore;
  readonly users: UserStore;
  readonly audit: AuditStore;
}

// ---------------------------------------------------------------- configuration

export const documentKinds = ["cluster", "clusterGroup", "routing", "script", "setting"] as const;
/** `routing` has one document, named `routing`: the ordered routers and the fallback. */
export type DocumentKind = (typeof documentKinds)[number];

export interface DocumentName {
  readonly kind: DocumentKind;
  readonly name: string;
}

/** One object of the configuration as it was written, its secrets sealed. */
export interface StoredDocument extends DocumentName {
  readonly body: Json;
  /** One more with each write; the admin API's ETag. A new object begins at its revision's sequence, so that the ETag of one deleted before does not fit it. */
  readonly version: number;
  /** Key ids that the sealed secrets in `body` name, each once, sorted. */
  readonly keyIds: readonly string[];
  /** Unix milliseconds. */
  readonly updatedAt: number;
  readonly updatedBy: string;
}

/** A built snapshot: the body's canonical bytes, sealed. */
export interface StoredRevision {
  readonly revision: Revision;
  readonly schemaVersion: number;
  readonly sealed: Uint8Array;
  /** Key that sealed it. */
  readonly keyId: string;
  readonly createdAt: number;
  readonly createdBy: string;
  /** What was done, for people: `put cluster duck`. */
  readonly summary: string;
}

/**
 * One atomic step of the configuration: head, documents, revision and audit row together, or nothing.
 * `next` is newer than `expected`, and `puts` and `deletes` name an object once: anything else throws.
 */
export interface ConfigChange {
  /** The head this change was built on; undefined for an empty store. */
  readonly expected: Revision | undefined;
  readonly next: StoredRevision;
  readonly puts: readonly StoredDocument[];
  readonly deletes: readonly DocumentName[];
  readonly audit: AuditEntry;
}

export interface StoredConfig {
  /** Undefined while the store is empty. */
  readonly head: Revision | undefined;
  readonly documents: readonly StoredDocument[];
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Opaque; present when there is more. */
  readonly nextCursor: string | undefined;
}

export interface PageRequest {
  /** 1 to 1,000. */
  readonly limit: number;
  /** From the page before. One that no page gave is answered with an empty page, never with an error. */
  readonly cursor: string | undefined;
}

export interface ConfigStore {
  head(): Stored<Revision | undefined>;
  /** Head and documents of one moment. */
  read(): Stored<StoredConfig>;
  /** The head's revision with its bytes. */
  newest(): Stored<StoredRevision | undefined>;
  /** `moved` when the head was not `expected` any more; nothing was written then. Wakes watchers. */
  commit(change: ConfigChange): Stored<"committed" | "moved">;
  revision(position: Pick<Revision, "epoch" | "sequence">): Stored<StoredRevision | undefined>;
  /** Newest first, without the bytes. */
  revisions(page: PageRequest): Stored<Page<Omit<StoredRevision, "sealed">>>;
  /** Key ids that documents and revisions name, each once, sorted. */
  keyIds(): Stored<readonly string[]>;
  /** Documents and revisions that name another key than `keyId`, at most `limit` of each. */
  sealedByOthers(
    keyId: string,
    limit: number,
  ): Stored<{
    readonly documents: readonly StoredDocument[];
    readonly revisions: readonly StoredRevision[];
  }>;
  /** Puts the same content under another key; skips rows that changed since they were read. Answers how many were replaced. */
  reseal(rows: {
    readonly documents: readonly StoredDocument[];
    readonly revisions: readonly StoredRevision[];
  }): Stored<number>;
  /** Deletes revisions beyond the newest `keep`; never the head. Answers how many. */
  retainRevisions(keep: number): Stored<number>;
  /**
   * Calls `wake` soon after the head moved, here or in another process; spurious calls are allowed.
   * Never fails: a store that can not listen looks at the row every `pollMs`.
   */
  watch(wake: () => void): AsyncDisposable;
}

// ---------------------------------------------------------------- history

/** A record as the ingest takes it: parsed, with the hash that tells a repeat from a conflict. */
export interface IncomingRecord extends Writing {
  readonly record: QueryRecord;
  /** `sha256:…` over the record's canonical JSON. */
  readonly contentHash: string;
}

/** Fields to equal; times are Unix milliseconds on `createdAt`, from inclusive, to exclusive. */
export interface RecordFilter {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly user?: string | undefined;
  readonly status?: QueryStatus | undefined;
  readonly clusterGroup?: string | undefined;
  readonly cluster?: string | undefined;
  readonly worker?: string | undefined;
  readonly frontend?: string | undefined;
  readonly errorCode?: string | undefined;
}

/** A second, different record for an id. One row per id. */
export interface RecordConflict {
  readonly proxyQueryId: string;
  /** The newest of the different ones. */
  readonly record: QueryRecord;
  readonly worker: string | undefined;
  /** Different records that came; the newest of them again is its sender's retry and not counted. */
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
}

export interface Ingested extends Pick<RecordBatchResponse, "accepted" | "duplicates"> {
  /** Ids for which a different record is kept already; the new one went to the conflicts. */
  readonly conflicts: readonly string[];
}

/** `steps` steps of `stepMs` from `from` (Unix milliseconds, whole). */
export interface SeriesRequest {
  readonly from: number;
  readonly stepMs: number;
  readonly steps: number;
  /** Where the range begins whose codes are counted; it ends with the last step. */
  readonly errorsFrom: number;
  /** Records of each step whose durations are looked at: the newest. */
  readonly sampleMax: number;
}

/** One step, by `createdAt`. Counts are exact; durations are those of the sample, in milliseconds. */
export interface SeriesPoint extends Omit<OverviewPoint["statuses"], "finished"> {
  readonly at: number;
  readonly total: number;
  readonly sample: number;
  /** Queue and execution together. */
  readonly latency: OverviewPoint["latency"];
  readonly queue: OverviewPoint["queue"];
  readonly ranMs: number;
  readonly waitedMs: number;
}

export interface RecordSeries {
  /** Oldest first, one for each step. */
  readonly points: readonly SeriesPoint[];
  /** The most frequent codes of the range, at most ten. */
  readonly errors: readonly { readonly code: string; readonly count: number }[];
}

export interface RecordStore {
  /** First record per id wins. `batch` may repeat an id. */
  ingest(batch: readonly IncomingRecord[], nowMs: number): Stored<Ingested>;
  /** Keeps a record of this process's own at once, as `redact` leaves it. Only where a store is in the same thread. */
  readonly keepNow?: (record: QueryRecord) => void;
  /** Newest first, by `createdAt` and id. */
  list(filter: RecordFilter, page: PageRequest): Stored<Page<QueryRecord>>;
  get(proxyQueryId: string): Stored<QueryRecord | undefined>;
  /** The history by steps of time; its work is bounded by steps and samples, and by what indexes count. */
  series(request: SeriesRequest): Stored<RecordSeries>;
  /** Which of these ids have a record. */
  known(proxyQueryIds: readonly string[]): Stored<ReadonlySet<string>>;
  /** Newest first, by `firstAt` and id. */
  conflicts(page: PageRequest): Stored<Page<RecordConflict>>;
  /** Deletes at most `chunk` of the oldest records that are older than `before` or beyond the newest `keep`. Answers how many. */
  retain(limits: {
    readonly before: number;
    readonly keep: number;
    readonly chunk: number;
  }): Stored<number>;
}

// ---------------------------------------------------------------- workers

export interface WorkerRegistration {
  readonly name: string;
  readonly instanceId: string;
  /** SHA-256 of the instance token, lower-case hex. */
  readonly tokenHash: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly version: string;
  readonly schemaVersions: readonly number[];
  readonly heartbeatIntervalSecs: number;
}

export interface WorkerRow extends WorkerRegistration {
  /** As last reported; whether it is `offline` follows from `lastSeenAt`. */
  readonly status: Exclude<WorkerStatus, "offline">;
  readonly activeRevision: string | undefined;
  readonly downloadedRevision: string | undefined;
  readonly configSource: "controlPlane" | "disk" | "peer" | undefined;
  readonly stale: boolean;
  readonly lastError: string | undefined;
  /** Who counts for it; undefined before its first report, and of a worker older than shared capacity. */
  readonly coordination: "controlPlane" | "local" | undefined;
  readonly queries: readonly ReportedQuery[];
  readonly registeredAt: number;
  readonly lastSeenAt: number;
}

export type WorkerReport = Pick<
  WorkerRow,
  | "instanceId"
  | "status"
  | "activeRevision"
  | "downloadedRevision"
  | "configSource"
  | "stale"
  | "lastError"
  | "coordination"
  | "queries"
>;

export interface CancelRequest {
  readonly queryId: string;
  readonly requestedBy: string;
  readonly requestedAt: number;
}

export interface WorkerStore {
  /**
   * Adds the instance, or begins it anew under the new token. `sameName`: other instances with this
   * name, live or not.
   */
  register(
    worker: WorkerRegistration,
    nowMs: number,
  ): Stored<{ readonly sameName: readonly WorkerRow[] }>;
  /**
   * Takes a report when instance and token fit; undefined when they do not. `cancel`: ids among the
   * reported queries that somebody asked to cancel.
   */
  heartbeat(
    report: WorkerReport,
    tokenHash: string,
    nowMs: number,
  ): Stored<{ readonly cancel: readonly string[] } | undefined>;
  /** The name of the instance that holds this token; undefined when none does. */
  nameOf(instanceId: string, tokenHash: string): Stored<string | undefined>;
  remove(instanceId: string): Stored<boolean>;
  list(page: PageRequest): Stored<Page<WorkerRow>>;
  get(instanceId: string): Stored<WorkerRow | undefined>;
  /** How many that were seen since `since` count alone. */
  countAlone(since: number): Stored<number>;
  /** Keeps the wish until `forget`. Asking twice is asking once. */
  requestCancel(request: CancelRequest): Stored<void>;
  /** Instances not seen since `before`, and wishes older than it. */
  forget(before: number): Stored<number>;
}

// ---------------------------------------------------------------- people and their deeds

export const adminRoles = ["viewer", "operator", "admin"] as const;
/** Each may do what the one before it may. */
export type AdminRole = (typeof adminRoles)[number];

export interface AdminUser {
  readonly name: string;
  readonly role: AdminRole;
  /** bcrypt. */
  readonly passwordHash: string;
  readonly disabled: boolean;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface AdminSession {
  /** SHA-256 of the cookie's value, lower-case hex. */
  readonly idHash: string;
  readonly user: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly expiresAt: number;
  readonly address: string;
}

/** How long a set-up token can not be replaced. */
export const setupFreshMs = 60_000;

export interface UserStore {
  count(): Stored<number>;
  list(page: PageRequest): Stored<Page<AdminUser>>;
  get(name: string): Stored<AdminUser | undefined>;
  /** Writes when the stored version is `expected` (undefined: there is none); answers whether it did. Never removes or demotes the last enabled admin: `lastAdmin`. */
  put(user: AdminUser, expected: number | undefined): Stored<"written" | "moved" | "lastAdmin">;
  remove(name: string, expected: number): Stored<"removed" | "moved" | "missing" | "lastAdmin">;
  /** Adds nothing when the user is gone. Sessions that expired by then are forgotten. */
  addSession(session: AdminSession): Stored<void>;
  /**
   * The session with its user, unless it expired, was not seen for more than `idleMs`, or the user is
   * gone or disabled. Marks it seen, unless it is only looked after (`seen` false).
   */
  session(
    idHash: string,
    nowMs: number,
    idleMs: number,
    seen?: boolean,
  ): Stored<{ readonly session: AdminSession; readonly user: AdminUser } | undefined>;
  sessions(page: PageRequest): Stored<Page<AdminSession>>;
  removeSession(idHash: string): Stored<boolean>;
  /** Ends every session of a user, for a new password or role. */
  removeSessionsOf(user: string): Stored<number>;
  /**
   * The hash of the one-time set-up token. Answers false when there are users, or when another token
   * was offered less than `setupFreshMs` ago: of replicas that start together one prints a token, and
   * a later start may print a new one, which ends the old.
   */
  offerSetup(tokenHash: string, nowMs: number): Stored<boolean>;
  /** Uses the token up and makes the first user in one step; false when it does not fit or users exist. */
  redeemSetup(tokenHash: string, user: AdminUser): Stored<boolean>;
}

export interface AuditEntry {
  /** Unix milliseconds. */
  readonly at: number;
  /** Name of the admin user, `host` for a command on the machine, `file` for seeding. */
  readonly by: string;
  readonly address: string | undefined;
  /** `put`, `delete`, `rollback`, `cancel`, `login`, … */
  readonly action: string;
  /** What it was done to: `cluster/duck`, `user/ann`, `query/…`. */
  readonly target: string;
  /** Names of what changed; no value of a secret, no SQL. */
  readonly detail: Json;
}

export type AuditRow = AuditEntry & { readonly id: string };

export interface AuditFilter {
  readonly by?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface AuditStore {
  append(entry: AuditEntry): Stored<void>;
  /** Newest first. */
  list(filter: AuditFilter, page: PageRequest): Stored<Page<AuditRow>>;
  retain(before: number, chunk: number): Stored<number>;
}
