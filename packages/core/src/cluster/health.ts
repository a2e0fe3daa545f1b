/**
 * Watches one backend: probes it every few seconds, ejects it after failures in a row and takes it
 * back after successes in a row.
 *
 * A backend counts as usable until its first probe answered, so that a start does not refuse what
 * would have worked; that first answer alone decides. Single failed queries are the breaker's
 * subject (breakers.ts); they only bring the next probe forward (`suspect`).
 */
import type { Backend } from "../port/backend.ts";
import type { Host } from "../port/host.ts";

export interface HealthLimits {
  /** Between the end of one probe and the next, before jitter. */
  readonly intervalMs: number;
  /** Share of the interval that is left to chance, both ways, so that a fleet does not probe in step. */
  readonly jitter: number;
  /** A probe that takes longer has failed. */
  readonly timeoutMs: number;
  /** Failures in a row that eject. */
  readonly failuresDown: number;
  /** Successes in a row that take back. */
  readonly successesUp: number;
  /** `suspect` does not probe sooner than this after the last probe began. A backend that answers again is probed again after it. */
  readonly suspectAfterMs: number;
}

export const healthLimits: HealthLimits = {
  intervalMs: 5_000,
  jitter: 0.2,
  timeoutMs: 4_000,
  failuresDown: 2,
  successesUp: 2,
  suspectAfterMs: 1_000,
};

/** `streak` counts answers in a row that speak against the state. */
export interface HealthState {
  readonly kind: "starting" | "up" | "down";
  readonly streak: number;
}

export type ProbeResult = "healthy" | "unhealthy";

/** The state after one more probe. */
export function healthAfter(
  state: HealthState,
  result: ProbeResult,
  limits: Pick<HealthLimits, "failuresDown" | "successesUp">,
): HealthState {
  const towards = result === "healthy" ? "up" : "down";
  if (state.kind === "starting" || state.kind === towards) return { kind: towards, streak: 0 };
  const streak = state.streak + 1;
  const needed = towards === "up" ? limits.successesUp : limits.failuresDown;
  return streak >= needed ? { kind: towards, streak: 0 } : { kind: state.kind, streak };
}

/** A backend under watch. Disposing ends the probes. */
export interface Watch extends Disposable {
  readonly cluster: string;
  /** Settled when the first probe has answered, or nobody watches any more. It never rejects. */
  readonly first: Promise<void>;
  readonly state: HealthState["kind"];
  /** Whether queries may be sent there: it is not ejected. */
  usable(): boolean;
  /** A query could not reach it: probe now rather than at the next turn. */
  suspect(): void;
}

/** Begins to watch. `changed` is called after every change of `usable`, for instance `() => capacity.wake()`. */
export function watchBackend(
  backend: Backend,
  host: Host,
  changed: () => void,
  limits: HealthLimits = healthLimits,
): Watch {
  return new BackendWatch(backend, host, changed, limits);
}

class BackendWatch implements Watch {
  readonly cluster: string;
  readonly #backend: Backend;
  readonly #host: Host;
  readonly #changed: () => void;
  readonly #limits: HealthLimits;
  #state: HealthState = { kind: "starting", streak: 0 };
  /** The next probe, or the time limit of the one under way. */
  #timer: Disposable | undefined;
  /** The probe under way; also one that ran out of time and has still not returned. */
  #probe: AbortController | undefined;
  #answered = true;
  #begunAtMs = Number.NEGATIVE_INFINITY;
  #disposed = false;
  readonly first: Promise<void>;
  #settleFirst = nothing;

  constructor(backend: Backend, host: Host, changed: () => void, limits: HealthLimits) {
    this.cluster = backend.cluster;
    this.#backend = backend;
    this.#host = host;
    this.#changed = changed;
    this.#limits = limits;
    this.first = new Promise((resolve) => {
      this.#settleFirst = resolve;
    });
    this.#begin();
  }

  get state(): HealthState["kind"] {
    return this.#state.kind;
  }

  usable(): boolean {
    return this.#state.kind !== "down";
  }

  suspect(): void {
    if (this.#disposed || !this.#answered) return;
    if (this.#host.clock.nowMs() - this.#begunAtMs < this.#limits.suspectAfterMs) return;
    this.#begin();
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#settleFirst();
    this.#timer?.[Symbol.dispose]();
    this.#probe?.abort();
  }

  #begin(): void {
    this.#timer?.[Symbol.dispose]();
    this.#begunAtMs = this.#host.clock.nowMs();
    // An engine that swallows probes gets no second one on top; each turn it stays silent is a failure.
    if (this.#probe !== undefined) {
      this.#answer("unhealthy");
      return;
    }
    const probe = new AbortController();
    this.#probe = probe;
    this.#answered = false;
    this.#timer = this.#host.clock.timer(this.#limits.timeoutMs, () => {
      this.#answer("unhealthy");
      probe.abort();
    });
    void this.#run(probe);
  }

  /** Never rejects. An answer after the time limit only makes room for the next probe. */
  async #run(probe: AbortController): Promise<void> {
    let result: ProbeResult = "unhealthy";
    try {
      result = await this.#backend.probe(probe.signal);
    } catch (bug) {
      if (!probe.signal.aborted) this.#host.log.bug(bug, { cluster: this.cluster });
    }
    this.#probe = undefined;
    if (!this.#answered) this.#answer(result);
  }

  #answer(result: ProbeResult): void {
    this.#answered = true;
    if (this.#disposed) return;
    this.#timer?.[Symbol.dispose]();
    const usableBefore = this.usable();
    this.#state = healthAfter(this.#state, result, this.#limits);
    this.#settleFirst();
    this.#timer = this.#host.clock.timer(this.#pauseMs(), () => this.#begin());
    if (this.usable() === usableBefore) return;
    const [level, event] = usableBefore
      ? (["warn", "cluster.ejected"] as const)
      : (["info", "cluster.recovered"] as const);
    this.#host.log.write(level, event, { cluster: this.cluster });
    this.#changed();
  }

  /** A backend that answers again is probed again soon: queries that wait for it give up before two intervals are over. */
  #pauseMs(): number {
    const { intervalMs, suspectAfterMs, jitter } = this.#limits;
    const answersAgain = this.#state.kind === "down" && this.#state.streak > 0;
    return (
      (answersAgain ? suspectAfterMs : intervalMs) * (1 + jitter * (2 * this.#host.random() - 1))
    );
  }
}

function nothing(): void {}
