/** Who may run, and who waits: hands out slots. */
import type { GatewayError } from "../error.ts";
import type { Result } from "../result.ts";
import type { Queued } from "../query/event.ts";
import type { Policed } from "../query/query.ts";
import type { Slot } from "../query/slot.ts";

/** A member of a group as the capacity sees it at the moment of admission. */
export interface Candidate {
  readonly cluster: string;
  /** Cap of the cluster over all groups; undefined means none. */
  readonly clusterCap: number | undefined;
  /** Cap of the cluster within the group. */
  readonly groupCap: number;
}

/** What admission needs to know of the query's group. Made by the generation. */
export interface AdmitRequest {
  readonly query: Policed;
  readonly group: string;
  readonly weight: number;
  readonly maxQueued: number | undefined;
  readonly waitTimeoutMs: number;
  /** Most queries of one user that run at once in the group, over all members; absent means no cap. */
  readonly maxRunningPerUser?: number | undefined;
  /**
   * Members that may run the query now, best first by the group's strategy. Asked again whenever
   * something may have changed; empty means none is healthy (`cluster.unavailable` when it stays so
   * for the wait timeout, at once when every member is excluded).
   */
  candidates(load: (cluster: string) => number): readonly Candidate[];
}

export interface Capacity {
  /** A slot, when one is free; otherwise undefined, and the caller asks `admit`. Only `admit` refuses. */
  admitNow(request: AdmitRequest): Slot | undefined;
  /**
   * Waits for a slot; yields the position whenever it changed. Refuses with `capacity.queueFull`,
   * `capacity.timeout`, `cluster.unavailable`, or the signal's reason. Ending the generator early
   * leaves the queue and gives back a slot that was granted meanwhile.
   */
  admit(
    request: AdmitRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Queued, Result<Slot, GatewayError>, void>;
  /** Something outside changed (a cluster became healthy): look at the waiters again. */
  wake(): void;
  /** Running and queued now, for the gauges and the admin API. */
  counts(): readonly CapacityCount[];
}

export interface CapacityCount {
  readonly group: string;
  readonly cluster: string | undefined;
  readonly running: number;
  readonly queued: number;
}
