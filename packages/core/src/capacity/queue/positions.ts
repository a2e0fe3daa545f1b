/** Tells waiters their position: again after changes, and less often the more of them wait. */
import type { Clock } from "../../port/clock.ts";
import type { FairQueue } from "./fairQueue.ts";
import type { SlotSource } from "./slotSource.ts";
import { resume, type Waiter } from "./waiter.ts";

/** Positions are told again no sooner than this after a change, and later the more queries wait. */
const positionsAfterMsMin = 100;
const positionsAfterMsMax = 1_000;
/** This many waiters make the interval one millisecond longer; ten thousand reach the longest one. */
const waitersPerPositionMs = 10;

export class Positions {
  readonly #clock: Clock;
  readonly #queue: FairQueue<Waiter>;
  readonly #source: SlotSource;
  readonly #moved = new Set<string>();
  #timer: Disposable | undefined;

  constructor(clock: Clock, queue: FairQueue<Waiter>, source: SlotSource) {
    this.#clock = clock;
    this.#queue = queue;
    this.#source = source;
  }

  /** Something changed in the order of a group. */
  moved(group: string): void {
    if (!this.#source.ordersHere()) return;
    this.#moved.add(group);
    if (this.#timer !== undefined) return;
    const wishMs = this.#queue.size / waitersPerPositionMs;
    const delayMs = Math.min(Math.max(wishMs, positionsAfterMsMin), positionsAfterMsMax);
    this.#timer = this.#clock.timer(delayMs, () => this.#tell());
  }

  /** To be called when nobody waits any more. */
  stop(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#moved.clear();
  }

  #tell(): void {
    this.#timer = undefined;
    const nowMs = this.#clock.nowMs();
    for (const group of this.#moved) {
      for (const [index, { item }] of this.#queue.inOrder(group, nowMs).entries()) {
        item.position = index + 1;
        item.estimateMs = this.#source.estimateMs?.(item);
        if (item.position !== item.positionTold) resume(item);
      }
    }
    this.#moved.clear();
  }
}
