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
import { siblingBreakers, type BreakerWord } from "./siblingBreakers.ts";
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
  /** Another process of this gateway opened or closed its breaker of the same member. */
  hear(word: BreakerWord): void;
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

/**
 * A breaker that was told of an opening stays open this much longer than its own time: whoever opened tries first, and
 * says what came of it. It tries itself where that one is gone.
 */
const toldOpenMore = 1.5;

class CircuitBreaker implements Breaker {
  readonly #config: CircuitBreakerConfig;
  readonly #labels: BreakerLabels;
  readonly #host: Host;
  readonly #changed: () => void;
  #state: BreakerState = breakerClosed;
  #openTimer: Disposable | undefined;
  readonly #others;
  #openedByOthers = false;
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
    this.#others = siblingBreakers(host);
    this.#others?.add(labels, this);
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
    this.#others?.remove(this.#labels, this);
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

  hear(word: BreakerWord): void {
    if (this.#disposed) return;
    // One that opened by itself keeps its own time.
    if (word === "opened" && (this.#state.kind !== "open" || this.#openedByOthers)) {
      this.#enter({ kind: "open" }, toldOpenMore);
      this.#openedByOthers = true;
    }
    if (word === "closed" && this.#state.kind !== "closed") this.#enter(breakerClosed, 1);
  }

  #tell(event: BreakerEvent): void {
    const before = this.#state;
    const after = breakerAfter(before, event, this.#config.failures);
    if (after.kind === before.kind) {
      this.#state = after;
      return;
    }
    this.#enter(after, 1);
    if (after.kind === "open") this.#others?.tell(this.#labels, "opened");
    if (after.kind === "closed") this.#others?.tell(this.#labels, "closed");
  }

  /** `openTimes`: how many times its own time it stays open. */
  #enter(state: BreakerState, openTimes: number): void {
    const { kind } = state;
    const isNew = kind !== this.#state.kind;
    this.#state = state;
    if (isNew)
      this.#host.log.write(kind === "open" ? "warn" : "info", `breaker.${kind}`, {
        ...this.#labels,
      });
    if (kind === "halfOpen") {
      this.#period += 1;
      this.#runningBefore += this.#runningThisPeriod;
      this.#runningThisPeriod = 0;
    }
    this.#openedByOthers = false;
    this.#openTimer?.[Symbol.dispose]();
    this.#openTimer = undefined;
    if (kind === "open") {
      const openMs = this.#config.openSecs * 1_000 * openTimes;
      this.#openTimer = this.#host.clock.timer(openMs, () => this.#tell("elapsed"));
    }
    if (isNew) this.#changed();
  }
}
