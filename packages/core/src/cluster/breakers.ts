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
import {
  breakerAfter,
  breakerClosed,
  type AttemptOutcome,
  type BreakerEvent,
  type BreakerState,
} from "./breaker.ts";

/** Ends one attempt, once; a second call does nothing. */
export type EndAttempt = (outcome: AttemptOutcome) => void;

export interface Breaker extends Disposable {
  readonly state: BreakerState["kind"];
  /** Queries that may run on the member within the group now; Infinity when closed, 0 when open. */
  runningMax(): number;
  /** Called with the slot in hand, before the engine is asked. The returned function is called when the query is over. */
  begin(): EndAttempt;
}

/** The member of a group that a breaker guards, as its log lines name it. */
export interface BreakerLabels {
  readonly group: string;
  readonly cluster: string;
}

/**
 * Makes a closed breaker. `changed` is called after every change of `runningMax`, for instance
 * `() => capacity.wake()`. Disposing stops its timer; later ends of attempts change nothing.
 */
export function circuitBreaker(
  config: CircuitBreakerConfig,
  labels: BreakerLabels,
  host: Host,
  changed: () => void,
): Breaker {
  return new CircuitBreaker(config, labels, host, changed);
}

class CircuitBreaker implements Breaker {
  readonly #config: CircuitBreakerConfig;
  readonly #labels: BreakerLabels;
  readonly #host: Host;
  readonly #changed: () => void;
  #state: BreakerState = breakerClosed;
  #openTimer: Disposable | undefined;
  #disposed = false;
  /** Attempts under way are counted by the period they began in. Every trial begins a new one. */
  #period = 0;
  #runningThisPeriod = 0;
  #runningBefore = 0;

  constructor(
    config: CircuitBreakerConfig,
    labels: BreakerLabels,
    host: Host,
    changed: () => void,
  ) {
    this.#config = config;
    this.#labels = labels;
    this.#host = host;
    this.#changed = changed;
  }

  get state(): BreakerState["kind"] {
    return this.#state.kind;
  }

  runningMax(): number {
    const { kind } = this.#state;
    switch (kind) {
      case "closed":
        return Number.POSITIVE_INFINITY;
      case "open":
        return 0;
      case "halfOpen":
        return this.#runningBefore + 1;
      default:
        return unreachable(kind);
    }
  }

  begin(): EndAttempt {
    const begunIn = this.#period;
    let over = false;
    this.#runningThisPeriod += 1;
    return (outcome) => {
      if (over) return;
      over = true;
      this.#ended(begunIn, outcome);
    };
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#openTimer?.[Symbol.dispose]();
  }

  #ended(begunIn: number, outcome: AttemptOutcome): void {
    if (begunIn === this.#period) this.#runningThisPeriod -= 1;
    else this.#runningBefore -= 1;
    if (this.#disposed) return;
    const before = this.#state;
    if (outcome !== "neutral") this.#tell(outcome);
    // The cap of a trial includes the old queries that still run, so each one that ends changes it.
    if (this.#state === before && before.kind === "halfOpen") this.#changed();
  }

  #tell(event: BreakerEvent): void {
    const before = this.#state;
    this.#state = breakerAfter(before, event, this.#config.failures);
    const { kind } = this.#state;
    if (kind === before.kind) return;
    this.#host.log.write(kind === "open" ? "warn" : "info", `breaker.${kind}`, { ...this.#labels });
    if (kind === "halfOpen") {
      this.#period += 1;
      this.#runningBefore += this.#runningThisPeriod;
      this.#runningThisPeriod = 0;
    }
    if (kind === "open") {
      const openMs = this.#config.openSecs * 1_000;
      this.#openTimer = this.#host.clock.timer(openMs, () => this.#tell("elapsed"));
    }
    this.#changed();
  }
}
