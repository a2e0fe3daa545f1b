/**
 * A breaker at work: it counts the attempts on one member of a group and says how many more may run.
 *
 * While it tries (`halfOpen`) exactly one new query may run at a time. The limit is told as a cap,
 * not as a flag that is asked and then set: capacity counts within one turn, so two waiters can
 * not both be the one.
 */
import type { CircuitBreakerConfig } from "@gateway/contract/config/group.ts";
import type { Host } from "../port/host.ts";
import { unreachable } from "../result.ts";
import { breakerAfter, breakerClosed, type AttemptOutcome, type BreakerEvent, type BreakerState } from "./breaker.ts";

/** Ends one attempt, once; a second call does nothing. */
export type EndAttempt = (outcome: AttemptOutcome) => void;

export interface Breaker extends Disposable {
  readonly state: BreakerState["kind"];
  /** Queries that may run on the member within the group now; Infinity when closed, 0 when open. */
  runningMax(): number;
  /** Called with the slot in hand, before the engine is. The answer is called when the query is over. */
  begin(): EndAttempt;
}

/** Where the breaker stands, for log lines. */
export interface BreakerPlace {
  readonly group: string;
  readonly cluster: string;
}

/**
 * Makes a closed breaker. `changed` is called after every change of `runningMax`, for instance
 * `() => capacity.wake()`. Disposing stops its timer; later ends of attempts change nothing.
 */
export function circuitBreaker(
  config: CircuitBreakerConfig,
  place: BreakerPlace,
  host: Host,
  changed: () => void,
): Breaker {
  let state: BreakerState = breakerClosed;
  let openTimer: Disposable | undefined;
  let disposed = false;
  /** Attempts under way, by the period they began in. Every trial begins a new period. */
  let period = 0;
  let runningThisPeriod = 0;
  let runningBefore = 0;

  function tell(event: BreakerEvent): void {
    const before = state;
    state = breakerAfter(before, event, config.failures);
    if (state.kind === before.kind) return;
    host.log.write(state.kind === "open" ? "warn" : "info", `breaker.${state.kind}`, { ...place });
    if (state.kind === "halfOpen") {
      period += 1;
      runningBefore += runningThisPeriod;
      runningThisPeriod = 0;
    }
    if (state.kind === "open") {
      openTimer = host.clock.timer(config.openSecs * 1_000, () => tell("elapsed"));
    }
    changed();
  }

  function ended(begunIn: number, outcome: AttemptOutcome): void {
    if (begunIn === period) runningThisPeriod -= 1;
    else runningBefore -= 1;
    if (disposed) return;
    const before = state;
    if (outcome !== "neutral") tell(outcome);
    // The cap of a trial counts the old queries that still run: one of them less changes it.
    if (state === before && state.kind === "halfOpen") changed();
  }

  return {
    get state() {
      return state.kind;
    },
    runningMax: () => {
      switch (state.kind) {
        case "closed":
          return Number.POSITIVE_INFINITY;
        case "open":
          return 0;
        case "halfOpen":
          return runningBefore + 1;
        default:
          return unreachable(state);
      }
    },
    begin: () => {
      const begunIn = period;
      let over = false;
      runningThisPeriod += 1;
      return (outcome) => {
        if (over) return;
        over = true;
        ended(begunIn, outcome);
      };
    },
    [Symbol.dispose]: () => {
      disposed = true;
      openTimer?.[Symbol.dispose]();
    },
  };
}
