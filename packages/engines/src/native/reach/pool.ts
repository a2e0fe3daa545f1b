/**
 * The threads of one cluster: started when they are needed, used again, never more than allowed.
 *
 * Who comes when all are busy waits in line. The pool knows nothing of statements.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import type { DriverThread } from "./driverThread.ts";

/** A thread taken out of the pool. Disposing gives it back, once. */
export interface TakenThread extends Disposable {
  readonly thread: DriverThread;
}

export interface PoolLimits {
  readonly sizeMax: number;
  /** A thread that nobody wants for so long is ended; absent: it is kept. Milliseconds. */
  readonly idleMs?: number | undefined;
}

interface Waiter {
  take(thread: DriverThread | undefined): void;
}

export class ThreadPool {
  readonly #start: () => DriverThread;
  readonly #clock: Clock;
  readonly #sizeMax: number;
  readonly #idleMs: number | undefined;
  readonly #idle: DriverThread[] = [];
  readonly #idleTimers = new Map<DriverThread, Disposable>();
  readonly #busy = new Set<DriverThread>();
  readonly #waiters = new Set<Waiter>();
  #closed = false;

  constructor(start: () => DriverThread, clock: Clock, limits: PoolLimits) {
    this.#start = start;
    this.#clock = clock;
    this.#sizeMax = limits.sizeMax;
    this.#idleMs = limits.idleMs;
  }

  /** True when nobody has a thread. */
  get quiet(): boolean {
    return this.#busy.size === 0;
  }

  /** True when a thread can be had without waiting. */
  get free(): boolean {
    return this.#busy.size < this.#sizeMax;
  }

  /** Takes over a thread that nobody uses. */
  adopt(thread: DriverThread): void {
    if (this.#closed) void thread.end();
    else this.#giveBack(thread);
  }

  /** Waits for a thread. Undefined when `signal` was aborted first or the pool is closed. */
  async take(signal: AbortSignal): Promise<TakenThread | undefined> {
    if (this.#closed || signal.aborted) return undefined;
    const thread = this.#freeThread() ?? (await this.#wait(signal));
    return thread === undefined ? undefined : this.#taken(thread);
  }

  /**
   * Refuses new takers, cancels what runs, waits until the driver has stopped everywhere and closes
   * kept connections; then `last` may say something on one thread before all of them end. Without it
   * none is started for that.
   */
  async close(last?: (thread: DriverThread) => Promise<void>): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // Each one that is told leaves the set.
    for (const waiter of this.#waiters) waiter.take(undefined);
    const threads = [...this.#busy, ...this.#idle];
    for (const timer of this.#idleTimers.values()) timer[Symbol.dispose]();
    await Promise.all(threads.map((thread) => quieted(thread)));
    if (last !== undefined) {
      const speaker = threads.find((thread) => thread.alive) ?? this.#start();
      threads.push(speaker);
      await last(speaker);
    }
    await Promise.all(threads.map((thread) => thread.end()));
  }

  #freeThread(): DriverThread | undefined {
    if (this.#busy.size >= this.#sizeMax) return undefined;
    for (;;) {
      const idle = this.#idle.pop();
      if (idle === undefined) break;
      this.#idleTimers.get(idle)?.[Symbol.dispose]();
      this.#idleTimers.delete(idle);
      // A thread that ended while nobody used it leaves its place to a new one.
      if (idle.alive) return this.#nowBusy(idle);
    }
    return this.#nowBusy(this.#start());
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
    return new Taken(thread, this.#release);
  }

  readonly #release = (thread: DriverThread): void => this.#giveBack(thread);

  #giveBack(thread: DriverThread): void {
    this.#busy.delete(thread);
    if (this.#closed) return;
    if (thread.alive) this.#keep(thread);
    const [waiter] = this.#waiters;
    const next = waiter === undefined ? undefined : this.#freeThread();
    if (next !== undefined) waiter?.take(next);
  }

  #keep(thread: DriverThread): void {
    this.#idle.push(thread);
    if (this.#idleMs === undefined) return;
    this.#idleTimers.set(
      thread,
      this.#clock.timer(this.#idleMs, () => void this.#retire(thread)),
    );
  }

  /** Ends a process that nobody wanted for a while. */
  async #retire(thread: DriverThread): Promise<void> {
    this.#idleTimers.delete(thread);
    const at = this.#idle.indexOf(thread);
    if (at < 0) return;
    this.#idle.splice(at, 1);
    await quieted(thread);
    await thread.end();
  }
}

async function quieted(thread: DriverThread): Promise<void> {
  await thread.settle();
  await thread.ask({ kind: "disconnect" });
}

/** A class: see onDispose.ts. Every statement takes one. */
class Taken implements TakenThread {
  readonly thread: DriverThread;
  #release: ((thread: DriverThread) => void) | undefined;

  constructor(thread: DriverThread, release: (thread: DriverThread) => void) {
    this.thread = thread;
    this.#release = release;
  }

  [Symbol.dispose](): void {
    const release = this.#release;
    this.#release = undefined;
    release?.(this.thread);
  }
}
