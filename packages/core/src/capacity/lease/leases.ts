/**
 * Where leases of the whole fleet come from: the control plane over HTTP for a worker, its store for a
 * control plane that runs queries itself.
 *
 * An error means that nobody was reached or that the response was lost: nobody knows what the call did.
 * Every call may be repeated; its id or its lease tells a repetition from a new call.
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
  SuspectsResponse,
  SweepLockResponse,
} from "@gateway/contract/capacityApi.ts";
import type { Result } from "../../result.ts";

/** `unreachable`: nobody answered. `refused`: this instance is not (or no longer) known, or the request is wrong. */
export type LeaseFailure = "unreachable" | "refused";
export type LeaseResult<Answer> = Promise<Result<Answer, LeaseFailure>>;

type Own<Request extends { readonly instanceId: string }> = Omit<Request, "instanceId">;

export interface LeaseSource {
  /** Name of this process in every lease, and in the tags of its statements. */
  readonly instance: string;
  acquire(request: Own<AcquireRequest>, signal: AbortSignal): LeaseResult<AcquireResponse>;
  renew(leases: readonly NamedLease[], signal: AbortSignal): LeaseResult<RenewResponse>;
  release(leases: readonly NamedLease[], signal: AbortSignal): LeaseResult<ReleaseResponse>;
  /** The query no longer waits. */
  leave(queryId: string, signal: AbortSignal): LeaseResult<void>;
}

/** The calls of the process that asks the engines about suspect slots. */
export interface ReaperLink {
  lock(ttlSecs: number, signal: AbortSignal): LeaseResult<SweepLockResponse>;
  keepLock(token: number, signal: AbortSignal): LeaseResult<SweepLockResponse>;
  unlock(token: number, signal: AbortSignal): LeaseResult<void>;
  suspects(signal: AbortSignal): LeaseResult<SuspectsResponse>;
  observed(report: Own<ObservedRequest>, signal: AbortSignal): LeaseResult<ObservedResponse>;
  publish(cluster: string, count: Own<PublishRunning>, signal: AbortSignal): LeaseResult<void>;
}
