/**
 * Calls of waiting queries that are held open: each ends when its query was given a lease or left, when
 * its time is over, when the caller hung up, or when the process stops. It asks no store.
 */
import type { AcquireResponse } from "@gateway/contract/capacityApi.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type { WaiterName } from "../../store/capacity.ts";

export interface Hold {
  readonly waiter: WaiterName;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** `undefined`: nothing came of it. */
  readonly end: (answer: AcquireResponse | undefined) => void;
  /** Before `end`, when the caller hung up. */
  readonly left: () => void;
}

export class CapacityHolds {
  readonly #clock: Clock;
  readonly #stopping: AbortSignal;
  readonly #expected = new Map<string, AcquireResponse | undefined>();
  readonly #ends = new Map<string, (answer: AcquireResponse | undefined) => void>();

  constructor(clock: Clock, stopping: AbortSignal) {
    this.#clock = clock;
    this.#stopping = stopping;
    const stop = () => {
      for (const end of this.#ends.values()) end(undefined);
    };
    // One listener for all: a thousand on one signal would be a thousand warnings.
    stopping.addEventListener("abort", stop, { once: true });
  }

  get size(): number {
    return this.#ends.size;
  }

  hold({ waiter, waitMs, signal, end, left }: Hold): void {
    const key = keyOf(waiter);
    // The same query asks again while its last call is open, so nobody reads that one any more.
    this.#ends.get(key)?.(undefined);
    const finish = (answer: AcquireResponse | undefined): void => {
      if (this.#ends.get(key) === finish) this.#ends.delete(key);
      timer[Symbol.dispose]();
      signal.removeEventListener("abort", abort);
      end(answer);
    };
    const abort = (): void => {
      left();
      finish(undefined);
    };
    const timer = this.#clock.timer(waitMs, () => finish(undefined));
    this.#ends.set(key, finish);
    signal.addEventListener("abort", abort, { once: true });
    if (this.#stopping.aborted) finish(undefined);
  }

  /** The query waits no more, so its call ends with nothing. */
  leave(waiter: WaiterName): void {
    this.#ends.get(keyOf(waiter))?.(undefined);
  }

  /**
   * Announces a question on its way. A lease given to it before its answer arrives is kept: otherwise one
   * that a second statement hands over at that moment would find nobody.
   */
  expect(waiter: WaiterName): void {
    this.#expected.set(keyOf(waiter), undefined);
  }

  /** Takes back what was given meanwhile, now that the question is answered. */
  expected(waiter: WaiterName): AcquireResponse | undefined {
    const given = this.#expected.get(keyOf(waiter));
    this.#expected.delete(keyOf(waiter));
    return given;
  }

  /** `told`: its call was answered; `kept`: it will be, by its own question; `absent`: no call of it is open here. */
  give(waiter: WaiterName, answer: AcquireResponse): "told" | "kept" | "absent" {
    const key = keyOf(waiter);
    const end = this.#ends.get(key);
    if (end !== undefined) {
      end(answer);
      return "told";
    }
    if (!this.#expected.has(key)) return "absent";
    this.#expected.set(key, answer);
    return "kept";
  }
}

function keyOf({ instance, queryId }: WaiterName): string {
  return `${instance} ${queryId}`;
}
