/**
 * How slots of the whole fleet are asked for: `/worker/capacity/*` and `/worker/sweep-lock/*`.
 *
 * A lease is the right to run one query on one cluster. It holds one slot in every scope that has a
 * cap (the cluster; the cluster within the group), is named by a random id, and ends by release, or by
 * expiry once the engine is known not to run its query. Every call carries the fleet secret and the
 * instance token; `instanceId` in a body must be the caller's own.
 */
import { z } from "zod";

const instanceId = z.string().regex(/^[A-Za-z0-9_-]{16,64}$/);
const objectName = z.string().min(1).max(63);
const queryId = z.string().min(1).max(128);
/** Part of every statement's tag. */
const leaseId = z.string().regex(/^[A-Za-z0-9_-]{8,64}$/);

/** Longest time for which an acquire is held. */
export const acquireWaitMsMax = 10_000;
/** Most leases that one acquire asks for, and that one renew or release names. */
export const acquireCountMax = 64;
export const leasesPerCallMax = 10_000;

/** `POST /worker/capacity/acquire` */
export const acquireSchema = z.strictObject({
  /** Unique for each question. The same one again gets the same answer, for as long as a lease lasts. */
  requestId: z.string().regex(/^[A-Za-z0-9_-]{8,64}$/),
  instanceId,
  group: objectName,
  /** Members of the group that may run the query now, best first. */
  candidates: z.array(objectName).min(1).max(1_000),
  /** The query that waits. Absent for leases ahead, which never wait. */
  queryId: queryId.optional(),
  /** Name of the query's user, for fairness between users; grants nothing. */
  user: z.string().max(1_024).optional(),
  /** Milliseconds since the query came, so that it keeps its age when its row is lost. */
  ageMs: z.number().min(0).optional(),
  count: z.int().min(1).max(acquireCountMax),
  /** How long the answer may be held while nothing is free. */
  waitMs: z.int().min(0).max(acquireWaitMsMax),
  /** The caller sends no statement without the `maxExecutionMs` of its lease as the engine's own limit, where the engine takes one. */
  sendsLimits: z.boolean().optional(),
});
export type AcquireRequest = z.output<typeof acquireSchema>;

export interface GrantedLease {
  readonly cluster: string;
  /** Number of the slot within the group's scope of the cluster. */
  readonly slot: number;
  readonly lease: string;
  /** Counted by the holder from before it asked. */
  readonly expiresInMs: number;
  /**
   * Execution limit of the group at the time of the grant. No statement under the lease is sent with a longer
   * one, because the slot may be granted again after it. Absent where there is no limit, or where the holder did
   * not say that it `sendsLimits`.
   */
  readonly maxExecutionMs?: number;
}

export interface AcquireResponse {
  /** At most `count`; empty when nothing became free. */
  readonly granted: readonly GrantedLease[];
  /** Position in the queue of the group, from 1; only for a query that waits. */
  readonly position?: number;
  /** How long the wait may still take, where that can be said. */
  readonly estimateMs?: number;
  /** Ask again after this long, where the control plane can not hold a request (functions). */
  readonly retryAfterMs?: number;
  /** The queue of the group is full; the query is to be refused. */
  readonly queueFull?: boolean;
  /** The user of the query holds all slots that the group gives to one; only for a query that waits. */
  readonly userFull?: boolean;
}

const named = z.strictObject({
  cluster: objectName,
  slot: z.int().min(0),
  lease: leaseId,
  queryId: queryId.optional(),
});
export type NamedLease = z.output<typeof named>;

/** `POST /worker/capacity/renew` and `release`. */
export const leasesSchema = z.strictObject({
  instanceId,
  leases: z.array(named).max(leasesPerCallMax),
});
export type LeasesRequest = z.output<typeof leasesSchema>;

export interface RenewResponse {
  /** Lease ids. */
  readonly renewed: readonly string[];
  /** Lease ids that are no longer the caller's: what runs under them has to end. */
  readonly lost: readonly string[];
  readonly expiresInMs: number;
}

export interface ReleaseResponse {
  /** How many of them were held. */
  readonly released: number;
}

/** `POST /worker/capacity/leave`: a query that no longer waits. */
export const leaveSchema = z.strictObject({ instanceId, queryId });
export type LeaveRequest = z.output<typeof leaveSchema>;

/** A slot whose lease ran out, and about which the engine has to be asked. One entry for each lease. */
export interface SuspectLease {
  readonly cluster: string;
  readonly group: string;
  readonly slot: number;
  readonly lease: string;
  /** Whose lease it was; `gateway/<instance>/<lease>/` begins the tags of its statements. */
  readonly instance: string;
  readonly expiredForMs: number;
  /** What is known of the holder: it has reported since (`alive`), a successor proved its end (`dead`), or how long it has been silent. */
  readonly holder: "alive" | "dead" | "silent";
  readonly silentForMs: number;
}

/** `GET /worker/capacity/suspects` */
export interface SuspectsResponse {
  readonly suspects: readonly SuspectLease[];
  /** Names the listings that engines give from now on: the moment on the clock of the store. */
  readonly listing: number;
}

/**
 * What the engine said of a suspect: nothing runs under its tag in a complete listing (`absent`; it
 * counts when two agree that lie further apart than `delayMs`), something does (`running`), something
 * did and was told to end (`ending`), no answer, or neither list nor limit (`unanswered`), it can not list but
 * ends each statement by the limit that it was sent with (`unlisted`), or it lived in the holder's process (`inProcess`).
 */
export const sightings = [
  "absent",
  "running",
  "ending",
  "unanswered",
  "unlisted",
  "inProcess",
] as const;
export type Sighting = (typeof sightings)[number];

/** `POST /worker/capacity/observed`. `token` is that of the sweep lock `engine-reconcile`. */
export const observedSchema = z.strictObject({
  instanceId,
  token: z.int().min(1),
  cluster: objectName,
  slot: z.int().min(0),
  lease: leaseId,
  seen: z.enum(sightings),
  delayMs: z.int().min(0).max(600_000).default(0),
  /** The `listing` of the suspects response after which the engine was asked. Without it, or with an older one than a report before, an absence does not count. */
  listing: z.number().min(0).optional(),
});
export type ObservedRequest = z.output<typeof observedSchema>;

/** What the reaper does next: nothing, ask again, end the statement in the engine and ask again, or nothing because it goes on. */
export type ReaperAdvice = "freed" | "wait" | "end" | "goesOn" | "unknown";

export interface ObservedResponse {
  /** False when the token is no longer the lock's: the caller must stop reaping. */
  readonly fenced: boolean;
  readonly advice: ReaperAdvice;
}

/** `PUT /worker/capacity/running/{cluster}`: what the engine really runs under our service account. */
export const publishRunningSchema = z.strictObject({
  instanceId,
  token: z.int().min(1),
  running: z.int().min(0),
  /** False when the listing may not show everything. */
  complete: z.boolean(),
});
export type PublishRunning = z.output<typeof publishRunningSchema>;

/** `GET /worker/capacity/running` */
export interface RunningResponse {
  readonly clusters: Readonly<
    Record<
      string,
      {
        readonly running: number;
        readonly complete: boolean;
        /** Slots that count at the moment: held and suspect. */
        readonly held: number;
        readonly asOfMsAgo: number;
      }
    >
  >;
}

/** Name of the lock whose holder asks the engines. */
export const reconcileLock = "engine-reconcile";

/** `POST /worker/sweep-lock/acquire` */
export const sweepLockSchema = z.strictObject({
  name: z.literal(reconcileLock),
  instanceId,
  ttlSecs: z.int().min(1).max(300),
});
export type SweepLockRequest = z.output<typeof sweepLockSchema>;

/** `POST /worker/sweep-lock/renew` and `release`. */
export const heldSweepLockSchema = z.strictObject({
  name: z.literal(reconcileLock),
  instanceId,
  token: z.int().min(1),
});
export type HeldSweepLock = z.output<typeof heldSweepLockSchema>;

export interface SweepLockResponse {
  readonly acquired: boolean;
  /** A fence: grows with every holder. */
  readonly token: number;
  readonly expiresInMs: number;
}
