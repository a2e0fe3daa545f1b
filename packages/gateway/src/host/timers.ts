/**
 * Many timers over one timer of the runtime. A query makes some and cancels nearly all of them: here
 * that is a step in a heap, where each of the runtime's own is a list, a handle and calls into libuv.
 *
 * A cancelled timer leaves at once. The one real timer is only ever moved forward, so it may find
 * nothing due; then it waits for what is due next, or stays away when nothing is.
 */
import { heapOf, type HeapEntry } from "@gateway/core/tool/heap.ts";
import type { Clock } from "@gateway/core/port/clock.ts";

/** Longer delays overflow Node's timers, which then fire at once. */
const delayMsMax = 2_147_483_647;
/** As in Node, so that a timer which starts itself again leaves turns to others. */
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
  /** What is due by then is being fired; undefined between such times. */
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
 * Calls `next` when everything has run that waits for no timer, and also when the caller throws. So
 * what follows from one timer may still cancel the next, as between two timers of Node.
 */
function afterThisTurn(next: () => void): void {
  // Ticks go before promises, but a tick that a promise asked for goes behind all of them.
  queueMicrotask(() => process.nextTick(next));
}
