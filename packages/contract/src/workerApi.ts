/**
 * What workers and the control plane say to each other, besides the snapshot and record batches.
 *
 * Every call carries the fleet secret as a bearer token; heartbeat, records and the end of a
 * registration carry the instance token as well (`instanceTokenHeader`), so that one worker can not
 * speak for another.
 */
import { z } from "zod";
import { revisionHashSchema } from "./revision.ts";
import type { SnapshotHead } from "./snapshot.ts";

export const instanceTokenHeader = "gateway-instance-token";
/** Names the instance where neither path nor body does: for record batches. */
export const instanceIdHeader = "gateway-instance-id";

/** Longest hold of `GET /worker/config/wait`, in seconds; a function holds at most `waitSecsMaxFunction`. */
export const waitSecsMax = 55;
export const waitSecsMaxFunction = 20;

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/, "must be a host name or the like");
const label = z.string().max(1_024);
const instanceId = z.string().regex(/^[A-Za-z0-9_-]{16,64}$/);

export const workerStatuses = [
  "starting",
  "active",
  "stale",
  "error",
  "draining",
  "offline",
] as const;
export type WorkerStatus = (typeof workerStatuses)[number];

/** Missed heartbeats after which a worker is `offline`. */
export const missedHeartbeatsMax = 3;

/** `POST /worker/register` */
export const registerSchema = z.strictObject({
  name,
  /** New and random for each start. One that is registered is refused (409) without its instance token. */
  instanceId,
  labels: z.record(z.string().max(256), label),
  version: z.string().max(128),
  /** Snapshot formats the worker reads. */
  schemaVersions: z.array(z.int()).min(1).max(100),
  heartbeatIntervalSecs: z.int().min(1).max(3_600),
  /**
   * Proves that the previous instance of this name has ended: `<its instanceId>.<hex HMAC-SHA256>` over
   * `predecessorText`, under the lower-case hex SHA-256 of its instance token. Whoever can make it holds that
   * instance's state folder, which only one process has at a time. It is valid for this request's `instanceId`
   * only, and does not reveal the token.
   */
  predecessorProof: z.string().max(4_096).optional(),
});

/** What `predecessorProof` authenticates. */
export function predecessorText(predecessorId: string, successorId: string): string {
  return `gateway predecessor v1\n${predecessorId}\n${successorId}`;
}

export type RegisterRequest = z.output<typeof registerSchema>;

export interface RegisterResponse {
  readonly instanceToken: string;
  /** Another live instance has this name; both are listed, and an operator should rename one. */
  readonly duplicateName: boolean;
}

export const heartbeatQueriesMax = 1_000;

/** `POST /worker/heartbeat` */
export const heartbeatSchema = z.strictObject({
  name,
  instanceId,
  status: z.enum(workerStatuses).exclude(["offline"]),
  activeRevision: revisionHashSchema.optional(),
  downloadedRevision: revisionHashSchema.optional(),
  configSource: z.enum(["controlPlane", "disk", "peer"]).optional(),
  stale: z.boolean(),
  /** Who counts for this worker. Absent from a worker older than shared capacity. */
  coordination: z.enum(["controlPlane", "local"]).optional(),
  lastError: z.string().max(4_096).optional(),
  queries: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(128),
        group: z.string().max(256).optional(),
        cluster: z.string().max(256).optional(),
        state: z.enum(["queued", "running"]),
        /** Unix milliseconds. */
        since: z.number().min(0),
      }),
    )
    .max(heartbeatQueriesMax),
});
export type HeartbeatRequest = z.output<typeof heartbeatSchema>;
export type ReportedQuery = HeartbeatRequest["queries"][number];
export interface HeartbeatResponse {
  readonly head: SnapshotHead | undefined;
  /** Leases that were given to others; empty while capacity is local. */
  readonly lostLeases: readonly string[];
  /** Queries that an operator ended; repeated until the worker no longer reports them. */
  readonly cancel: readonly string[];
}

/** Body of a 200 from `GET /worker/config/wait`, and one line of `/worker/config/stream`. */
export interface WaitResponse {
  readonly head: SnapshotHead;
}

/** Last line of a `/worker/config/stream` that the control plane ends itself: the `since` to continue from. */
export interface StreamEnd {
  readonly resume: string;
}
