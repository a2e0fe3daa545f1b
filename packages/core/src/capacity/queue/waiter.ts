/** A query that waits for a slot, and what tells it from others. What becomes of it is admissions.ts. */
import type { GatewayError } from "../../error.ts";
import type { AdmitRequest, Candidate } from "../../port/capacity.ts";
import type { Result } from "../../result.ts";
import type { Ticket } from "./fairQueue.ts";
import type { GrantedSlot } from "./slotSource.ts";

/** A query that waits, or whose answer was not delivered yet. */
export interface Waiter {
  readonly request: AdmitRequest;
  /** Order of admission; decides whose word the caps are. */
  readonly sequence: number;
  /** On the host's clock. */
  readonly sinceMs: number;
  /** Whether the control plane is asked for a slot for it. `back`: enough queries of its user are asked for already. */
  asking: "new" | "asked" | "back";
  /** The control plane says that its user already runs all it may in the fleet. */
  userFull: boolean;
  /** Clusters it could run on when last asked. */
  clusters: readonly string[];
  ticket: Ticket<Waiter> | undefined;
  timeout: Disposable | undefined;
  /** Runs while there is no cluster that it could run on. */
  away: Disposable | undefined;
  /** Set when the decision is made, cleared when it is delivered. */
  outcome: Result<GrantedSlot, GatewayError> | undefined;
  position: number;
  estimateMs: number | undefined;
  positionTold: number;
  /** Resumes the generator, when it waits. */
  resume: (() => void) | undefined;
}

export function userOf({ query }: AdmitRequest): string {
  return query.session.identity.user;
}

/** Whose lease a query needs: its user's where the group limits each user, otherwise any. */
export function boundUserOf(request: AdmitRequest): string | undefined {
  return request.maxRunningPerUser === undefined ? undefined : userOf(request);
}

export function namesOf(candidates: readonly Candidate[]): readonly string[] {
  return candidates.map(({ cluster }) => cluster);
}

export function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index]);
}

/** Resumes its generator, when that waits. */
export function resume(waiter: Waiter): void {
  const { resume: go } = waiter;
  waiter.resume = undefined;
  go?.();
}

/** Equal for equal sets of clusters, whatever their order; those that were asked for stand apart. */
export function subqueueOf({ asking, clusters }: Waiter): string {
  return `${asking} ${JSON.stringify(clusters.toSorted())}`;
}
