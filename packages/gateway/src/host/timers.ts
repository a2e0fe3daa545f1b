/**
 * Many timers over one timer of the runtime. A query makes some and cancels nearly all of them.
 * Here that costs a step in a heap; each timer of the runtime costs a list, a handle and calls into
 * libuv.
 *
 * A cancelled timer leaves at once. The one real timer only ever moves to an earlier time, so it
 * may find nothing due. Then it waits for what is due next, if anything is.
 */
import { heapOf, type HeapEntry } from "@gateway/core/tool/heap.ts";
import type { Clock } from "@gateway/core/port/clock.ts";

/** Longer delays overflow Node's timers, which then fire at once. */
const delayMsMax = 2_147_483_647;
/** The shortest delay, as in Node: a timer that starts itself again leaves turns to others. */
const delayMsMin = 1;

/** What the timers stand on. */
export interface TimerHost {
  /** Monotonic milliseconds, with fractions. */
  nowMs(): number;
  /** Calls `wake` once after whole milliseconds, perhaps a little early, never at once; disposing prevents it. */
  arm(delayMs: number, wake: () => void): Disposable;
}

/** `Clock.timer` over `host`. */
export function timersOf(host: TimerHost): Clock["timer"] {
  const timers = new Timers(host);
  return (delayMs, fire) => timers.add(delayMs, fire);
}

class Timer implements HeapEntry, Disposable {
  readonly dueMs: number;
  readonly sequence: number;
  readonly fire: () => void;
  readonly #timers: Timers;
  heapIndex = -1;

  constructor(timers: Timers, dueMs: number, sequence: number, fire: () => void) {
    this.#timers = timers;
    this.dueMs = dueMs;
    this.sequence = sequence;
    this.fire = fire;
  }

  [Symbol.dispose](): void {
    this.#timers.remove(this);
  }
}

class Timers {
  readonly #host: TimerHost;
  readonly #waiting = heapOf<Timer>((a, b) =>
    a.dueMs === b.dueMs ? a.sequence < b.sequence : a.dueMs < b.dueMs,
  );
  #sequence = 0;
  #armed: Disposable | undefined;
  #armedMs = Number.POSITIVE_INFINITY;
  /** While timers fire: those due by this time. Undefined otherwise. */
  #firingMs: number | undefined;
  readonly #wake = (): void => {
    this.#armed = undefined;
    this.#armedMs = Number.POSITIVE_INFINITY;
    this.#firingMs = this.#host.nowMs();
    this.#fireNext();
  };

  constructor(host: TimerHost) {
    this.#host = host;
  }

  add(delayMs: number, fire: () => void): Timer {
    const nowMs = this.#host.nowMs();
    const heldMs = delayMs > delayMsMin ? Math.min(delayMs, delayMsMax) : delayMsMin;
    this.#sequence += 1;
    const timer = new Timer(this, nowMs + heldMs, this.#sequence, fire);
    this.#waiting.push(timer);
    if (this.#firingMs === undefined && timer.dueMs < this.#armedMs) this.#arm(timer.dueMs, nowMs);
    return timer;
  }

  remove(timer: Timer): void {
    this.#waiting.remove(timer);
  }

  #arm(dueMs: number, nowMs: number): void {
    this.#armed?.[Symbol.dispose]();
    this.#armedMs = dueMs;
    this.#armed = this.#host.arm(Math.max(delayMsMin, Math.ceil(dueMs - nowMs)), this.#wake);
  }

  /** One timer and then the next, until none is due any more. */
  readonly #fireNext = (): void => {
    const timer = this.#waiting.peek();
    if (timer !== undefined && timer.dueMs <= (this.#firingMs ?? 0)) {
      this.#waiting.pop();
      afterThisTurn(this.#fireNext);
      timer.fire();
      return;
    }
    this.#firingMs = undefined;
    if (timer !== undefined) this.#arm(timer.dueMs, this.#host.nowMs());
  };
}

/**
 * Calls `next` once everything that waits for no timer has run, even when the caller throws. So
 * what follows from one timer may still cancel the next, as between two timers of Node.
 */
function afterThisTurn(next: () => void): void {
  // Ticks run before promises, but a tick that a promise asks for runs after all promises.
  queueMicrotask(() => process.nextTick(next));
}
