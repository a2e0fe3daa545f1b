/** A query that waits for a slot, and the names it is sorted by. admissions.ts decides what becomes of it. */
import type { GatewayError } from "../../error.ts";
import type { AdmitRequest, Candidate } from "../../port/capacity.ts";
import type { Result } from "../../result.ts";
import type { Ticket } from "./fairQueue.ts";
import type { GrantedSlot } from "./slotSource.ts";

/** A query that waits, or whose outcome was not delivered yet. */
export interface Waiter {
  readonly request: AdmitRequest;
  /** Order of admission: the caps are those that the highest one stated. */
  readonly sequence: number;
  /** On the host's clock. */
  readonly sinceMs: number;
  /** Whether the control plane was asked for its slot: `new` not yet, `asked` yes, `back` its user already has enough queries asked for. */
  asking: "new" | "asked" | "back";
  /** The control plane said that the user already runs as many queries in the fleet as allowed. */
  userFull: boolean;
  /** Clusters it could run on when last asked. */
  clusters: readonly string[];
  ticket: Ticket<Waiter> | undefined;
  timeout: Disposable | undefined;
  /** The time limit while there is no cluster that it could run on. */
  away: Disposable | undefined;
  /** Set when the decision is made, cleared when it is delivered. */
  outcome: Result<GrantedSlot, GatewayError> | undefined;
  position: number;
  estimateMs: number | undefined;
  positionTold: number;
  /** Resumes the generator; undefined while that is not suspended. */
  resume: (() => void) | undefined;
}

export function userOf({ query }: AdmitRequest): string {
  return query.session.identity.user;
}

/** The user that the query's lease must be bound to; undefined where the group does not limit each user. */
export function boundUserOf(request: AdmitRequest): string | undefined {
  return request.maxRunningPerUser === undefined ? undefined : userOf(request);
}

export function namesOf(candidates: readonly Candidate[]): readonly string[] {
  return candidates.map(({ cluster }) => cluster);
}

export function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, index) => name === b[index]);
}

/** Resumes the waiter's generator, if it is suspended. */
export function resume(waiter: Waiter): void {
  const { resume: go } = waiter;
  waiter.resume = undefined;
  go?.();
}

/** The key of the waiter's subqueue: equal for equal sets of clusters in any order, and another one for each state of `asking`. */
export function subqueueOf({ asking, clusters }: Waiter): string {
  return `${asking} ${JSON.stringify(clusters.toSorted())}`;
}
