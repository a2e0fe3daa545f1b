/**
 * The few words of memory that the main thread and a driver's thread share.
 *
 * While its thread is inside a native call nothing else reaches it: the main thread finds here what
 * to cancel, and the driver's thread how many more messages it may send. Both sides of one block are
 * in this file, because each is only right together with the other.
 *
 * Each request has a turn, a number that no request near it has. A cancel names the turn it means: it may
 * come before its request was read, or when the next one runs already.
 */
import type { Address } from "./native.ts";

const controlBytes = 32;
const word = { state: 0, credits: 1, cancelled: 2, wake: 3, kind: 6, turn: 7 } as const;
const targetAt = 2;

/** What a driver cancels: a statement, or what its connection is asked about its tables. */
export type CancelTarget = (typeof targets)[number];
const targets = ["statement", "connection"] as const;

/** `idle`: nothing to cancel. `running`: `target` may be cancelled. `cancelling`: the main thread is just doing it. */
const idle = 0;
const running = 1;
const cancelling = 2;

/** Credits of a request whose messages nobody counts. */
const uncounted = 0x3fff_ffff;

/** The turn behind another; 0 belongs to no request. */
export function nextTurn(turn: number): number {
  return turn >= 0x3fff_ffff ? 1 : turn + 1;
}

/** A new block, in the form that goes to the thread. */
export function controlBlock(): SharedArrayBuffer {
  const block = new SharedArrayBuffer(controlBytes);
  // No request has this turn.
  new Int32Array(block)[word.cancelled] = -1;
  return block;
}

/** The side of the thread that calls the driver. */
export class DriverControl {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #target: Float64Array<SharedArrayBuffer>;

  constructor(block: SharedArrayBuffer) {
    this.#words = new Int32Array(block);
    this.#target = new Float64Array(block);
  }

  get cancelled(): boolean {
    return Atomics.load(this.#words, word.cancelled) === Atomics.load(this.#words, word.turn);
  }

  /** Begins a request whose messages nobody counts: what carries them takes no more than it can. */
  enter(turn: number): void {
    Atomics.store(this.#words, word.turn, turn);
    Atomics.store(this.#words, word.credits, uncounted);
  }

  /** From here on the statement or connection at `target` may be cancelled. */
  begin(target: Address, kind: CancelTarget = "statement"): void {
    this.#target[targetAt] = target;
    Atomics.store(this.#words, word.kind, targets.indexOf(kind));
    Atomics.store(this.#words, word.state, running);
  }

  /** From here on nobody touches the target, so that it can be released. Waits for a cancel under way, which takes microseconds. */
  end(): void {
    for (;;) {
      const state = Atomics.compareExchange(this.#words, word.state, running, idle);
      if (state !== cancelling) return;
      Atomics.wait(this.#words, word.state, cancelling);
    }
  }

  /** Waits until one more message may be sent. False when the statement was cancelled instead. */
  takeCredit(): boolean {
    for (;;) {
      if (this.cancelled) return false;
      const wake = Atomics.load(this.#words, word.wake);
      const credits = Atomics.load(this.#words, word.credits);
      if (credits > 0) {
        if (Atomics.compareExchange(this.#words, word.credits, credits, credits - 1) === credits)
          return true;
        continue;
      }
      Atomics.wait(this.#words, word.wake, wake);
    }
  }
}

/** The side of the main thread. */
export class CancelControl {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #target: Float64Array<SharedArrayBuffer>;

  constructor(block: SharedArrayBuffer) {
    this.#words = new Int32Array(block);
    this.#target = new Float64Array(block);
  }

  /** Prepares the next request and answers its turn. Nothing may be under way. */
  reset(credits: number): number {
    const turn = nextTurn(Atomics.load(this.#words, word.turn));
    Atomics.store(this.#words, word.turn, turn);
    Atomics.store(this.#words, word.credits, credits);
    return turn;
  }

  /** Allows one more message. */
  addCredit(): void {
    Atomics.add(this.#words, word.credits, 1);
    this.#wake();
  }

  /**
   * Marks the request of a turn as cancelled and, if the driver is at work on it, calls `cancel` with what
   * it works on. A driver that has not begun yet may miss one cancel, so the caller repeats until the
   * thread has answered.
   */
  cancel(turn: number, cancel: (target: Address, kind: CancelTarget) => void): void {
    Atomics.store(this.#words, word.cancelled, turn);
    this.#wake();
    if (Atomics.compareExchange(this.#words, word.state, running, cancelling) !== running) return;
    try {
      // The thread goes nowhere while this lasts, so the turn is the one of the target.
      if (Atomics.load(this.#words, word.turn) !== turn) return;
      const kind = targets[Atomics.load(this.#words, word.kind)] ?? "statement";
      cancel(this.#target[targetAt] ?? 0, kind);
    } finally {
      Atomics.store(this.#words, word.state, running);
      Atomics.notify(this.#words, word.state);
    }
  }

  #wake(): void {
    Atomics.add(this.#words, word.wake, 1);
    Atomics.notify(this.#words, word.wake);
  }
}
