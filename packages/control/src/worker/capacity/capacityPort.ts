/**
 * What a process does about shared capacity on behalf of whoever runs queries: workers over HTTP, or
 * its own data plane. One per process, so that everything that waits at one moment is one statement.
 */
import type {
  AcquireResponse,
  AcquireRequest,
  NamedLease,
  ObservedResponse,
  ObservedRequest,
  PublishRunning,
  ReleaseResponse,
  RenewResponse,
  RunningResponse,
  SuspectsResponse,
  SweepLockResponse,
} from "@gateway/contract/capacityApi.ts";
import type { Result } from "@gateway/core/result.ts";
import type { Caller } from "../../store/capacity.ts";
import type { Stored, StoreUnavailable } from "../../store/store.ts";

/** `refused`: instance and token fit no registration. `busy`: too much waits already; nothing was done. */
export type CapacityRefusal =
  | { readonly code: "refused" }
  | { readonly code: "busy" }
  | StoreUnavailable;
/** One lease of one slot. */
export interface SlotName {
  readonly cluster: string;
  readonly slot: number;
  readonly lease: string;
}

export type Answered<Value> = Promise<Result<Value, CapacityRefusal>>;

export interface SharedCapacity {
  /** Held for `waitMs` at most while the query waits. Resolves early when `signal` aborts. */
  acquire(
    caller: Caller,
    request: Omit<AcquireRequest, "instanceId">,
    signal: AbortSignal,
  ): Answered<AcquireResponse>;
  renew(caller: Caller, leases: readonly NamedLease[]): Answered<RenewResponse>;
  release(caller: Caller, leases: readonly NamedLease[]): Answered<ReleaseResponse>;
  leave(caller: Caller, queryId: string): Answered<void>;
  /** A sign of life. Answers the leases that were taken from it. */
  seen(instance: string): Stored<readonly string[]>;
  /** Its end is proven. */
  dead(instance: string): Stored<number>;
  suspects(): Stored<SuspectsResponse>;
  observed(report: Omit<ObservedRequest, "instanceId">): Stored<ObservedResponse>;
  /** Frees a suspect on an operator's word. False when there is no such suspect. */
  freeByHand(name: SlotName): Stored<boolean>;
  lock(instance: string, ttlSecs: number): Stored<SweepLockResponse>;
  keepLock(instance: string, token: number): Stored<SweepLockResponse>;
  unlock(instance: string, token: number): Stored<boolean>;
  /** False when the token is not the lock's. */
  publish(cluster: string, count: Omit<PublishRunning, "instanceId">): Stored<boolean>;
  running(): Stored<RunningResponse>;
}
