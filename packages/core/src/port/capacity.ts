/**
 * The right to run. A slot stands for one running query on one cluster and is held in every scope
 * that has a cap: the cluster, and the cluster within the group.
 */
import type { GatewayError } from "../error.ts";
import type { Result } from "../result.ts";
import type { Queued } from "../query/event.ts";
import type { Policed } from "../query/query.ts";

/** Disposing gives the slot back, once; it never rejects. */
export interface Slot extends AsyncDisposable {
  readonly cluster: string;
  /** Grows with every grant of the same place, so that a late release of an old holder is seen. */
  readonly fence: number;
  /** `<instance>/<lease>`: whose it is, as the tags of statements say it. Letters, digits, `-` and `_`. */
  readonly holder: string;
  /** Set where the slot is leased from others, who may take it away. */
  readonly lease?: SlotLease;
}

/** What is between a slot and whoever leased it to this process. */
export interface SlotLease {
  /** Longest time limit that a statement may be sent to the engine with; undefined means none was agreed on. Milliseconds. */
  readonly maxExecutionMs: number | undefined;
  /** Whether a statement may be sent under the slot at this moment. Asked right before its bytes are written. */
  valid(): boolean;
  /**
   * Set while it is being asked whether a slot is still ours that is not valid at the moment: this process
   * stood still. `valid` knows once it resolves, which takes some seconds at most; it never rejects.
   */
  doubt(): Promise<void> | undefined;
  /**
   * Whether the statement for which `valid` was asked last may go on. Asked when the engine answers: false
   * when the slot was lost, or ran out while this process stood still and may have written too late.
   */
  stillValid(): boolean;
  /** Calls `tell` once when the slot is not ours any more: what runs under it is to be ended. Disposing stops that. */
  whenLost(tell: () => void): Disposable;
}

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
  /** A slot, where nobody has to wait for one; undefined where `admit` is to be asked, which alone refuses. */
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
