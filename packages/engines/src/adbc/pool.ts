/**
 * The threads of one cluster: started when they are needed, used again, never more than allowed.
 *
 * Who comes when all are busy waits in line. The pool knows nothing of statements.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Threads } from "@gateway/core/port/threads.ts";
import { DriverThread, type DriverChoice } from "./driverThread.ts";

/** A thread taken out of the pool. Disposing gives it back, once. */
export interface TakenThread extends Disposable {
  readonly thread: DriverThread;
}

interface Waiter {
  take(thread: DriverThread | undefined): void;
}

export class ThreadPool implements AsyncDisposable {
  readonly #start: () => DriverThread;
  readonly #sizeMax: number;
  readonly #idle: DriverThread[] = [];
  readonly #busy = new Set<DriverThread>();
  readonly #waiters = new Set<Waiter>();
  #closed = false;
  #onEmpty: (() => void) | undefined;

  constructor(threads: Threads, clock: Clock, choice: DriverChoice, sizeMax: number) {
    this.#start = () => new DriverThread(threads, clock, choice);
    this.#sizeMax = sizeMax;
  }

  /** True when a thread can be had without waiting. */
  get free(): boolean {
    return this.#idle.length > 0 || this.#busy.size < this.#sizeMax;
  }

  /** Waits for a thread. Undefined when `signal` was aborted first or the pool is closed. */
  async take(signal: AbortSignal): Promise<TakenThread | undefined> {
    if (this.#closed || signal.aborted) return undefined;
    const thread = this.#freeThread() ?? (await this.#wait(signal));
    return thread === undefined ? undefined : this.#taken(thread);
  }

  /** Refuses new takers, waits until every taken thread was given back, then ends them all. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const waiter of [...this.#waiters]) waiter.take(undefined);
    if (this.#busy.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
      });
    }
    await Promise.all(this.#idle.splice(0).map((thread) => thread.end()));
  }

  #freeThread(): DriverThread | undefined {
    for (;;) {
      const idle = this.#idle.pop();
      if (idle === undefined) break;
      // A thread that ended while nobody used it leaves its place to a new one.
      if (idle.alive) return this.#nowBusy(idle);
    }
    return this.#busy.size < this.#sizeMax ? this.#nowBusy(this.#start()) : undefined;
  }

  #nowBusy(thread: DriverThread): DriverThread {
    this.#busy.add(thread);
    return thread;
  }

  #wait(signal: AbortSignal): Promise<DriverThread | undefined> {
    return new Promise((resolve) => {
      const onAbort = (): void => waiter.take(undefined);
      const waiter: Waiter = {
        take: (thread) => {
          this.#waiters.delete(waiter);
          signal.removeEventListener("abort", onAbort);
          resolve(thread);
        },
      };
      this.#waiters.add(waiter);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  #taken(thread: DriverThread): TakenThread {
    let given = false;
    return {
      thread,
      [Symbol.dispose]: () => {
        if (given) return;
        given = true;
        this.#giveBack(thread);
      },
    };
  }

  #giveBack(thread: DriverThread): void {
    this.#busy.delete(thread);
    if (thread.alive) this.#idle.push(thread);
    const [waiter] = this.#waiters;
    const next = waiter === undefined ? undefined : this.#freeThread();
    if (next !== undefined) waiter?.take(next);
    if (this.#busy.size === 0) this.#onEmpty?.();
  }
}
