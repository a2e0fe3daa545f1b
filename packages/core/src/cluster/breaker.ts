/**
 * The circuit breaker of one member of a group, as a table.
 *
 * `closed` lets everything through and counts failures in a row. `open` lets nothing through until
 * its time is over. `halfOpen` tries: one success closes it, one failure opens it again. Pure: time
 * is told as the event `elapsed`. What runs and who is let through is in breakers.ts.
 */
import type { ErrorCode } from "@gateway/contract/error.ts";

export type BreakerState =
  /** `failures` in a row so far. */
  | { readonly kind: "closed"; readonly failures: number }
  | { readonly kind: "open" }
  | { readonly kind: "halfOpen" };

/** `elapsed`: the open time is over. */
export type BreakerEvent = "succeeded" | "failed" | "elapsed";

type BreakerAction = "stay" | "reset" | "count" | "open" | "try" | "close";

/** What each event does in each state. */
export const breakerTransitions = {
  closed: { succeeded: "reset", failed: "count", elapsed: "stay" },
  // Queries from before the opening still end; they say nothing about new connections.
  open: { succeeded: "stay", failed: "stay", elapsed: "try" },
  halfOpen: { succeeded: "close", failed: "open", elapsed: "stay" },
} as const satisfies Record<BreakerState["kind"], Record<BreakerEvent, BreakerAction>>;

/** A breaker that has seen nothing. */
export const breakerClosed: BreakerState = { kind: "closed", failures: 0 };

/** The state after an event. `failuresMax` in a row open it. The same object when nothing changed. */
export function breakerAfter(
  state: BreakerState,
  event: BreakerEvent,
  failuresMax: number,
): BreakerState {
  const action: BreakerAction = breakerTransitions[state.kind][event];
  switch (action) {
    case "stay":
      return state;
    case "reset":
      return state.kind === "closed" && state.failures === 0 ? state : breakerClosed;
    case "close":
      return breakerClosed;
    case "open":
      return { kind: "open" };
    case "try":
      return { kind: "halfOpen" };
    case "count": {
      const failures = state.kind === "closed" ? state.failures + 1 : failuresMax;
      return failures >= failuresMax ? { kind: "open" } : { kind: "closed", failures };
    }
  }
}

/** How a query on the member ended. `neutral` says nothing about the member. */
export type AttemptOutcome = "succeeded" | "failed" | "neutral";

/**
 * What the end of a query says about its cluster; `undefined` is a query without error.
 *
 * Only a connection that fails or breaks counts against it. A failure inside the engine does not:
 * one client with a query that crashes would otherwise close the cluster for all.
 */
export function attemptOutcome(code: ErrorCode | undefined): AttemptOutcome {
  if (code === undefined) return "succeeded";
  if (code === "cluster.connectFailed" || code === "engine.broken") return "failed";
  // The engine answered about the client's own SQL: it is there.
  return answeredByEngine.has(code) ? "succeeded" : "neutral";
}

const answeredByEngine: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "query.syntax",
  "query.unknownObject",
  "query.data",
  "query.constraint",
  "query.conflict",
  "query.permission",
]);
