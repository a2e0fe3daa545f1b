/** Waits that somebody else can end: a pause on the host's clock, work that others may want as well, and a promise. */
import type { Clock } from "../port/clock.ts";

export interface Wake {
  wake(): void;
}

/** Resolves after `ms`, when `signal` aborts, or when its `wake` is called. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> & Wake {
  const { promise, resolve } = deferred<void>();
  const wake = (): void => {
    timer[Symbol.dispose]();
    signal?.removeEventListener("abort", wake);
    resolve();
  };
  const timer = clock.timer(ms, wake);
  signal?.addEventListener("abort", wake, { once: true });
  if (signal?.aborted === true) wake();
  return Object.assign(promise, { wake });
}

/** What `work` resolves to, or what `left` returns once `signal` aborts. The work itself goes on. */
export function unlessAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
  left: () => Value,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const leave = (): void => resolve(left());
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

/** A promise that its maker resolves from outside; Node 20 has no `Promise.withResolvers`. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  /** The first call counts. */
  readonly resolve: (value: Value) => void;
}

/** An open one. */
export function deferred<Value>(): Deferred<Value> {
  let settle: ((value: Value) => void) | undefined;
  const promise = new Promise<Value>((resolve) => {
    settle = resolve;
  });
  return { promise, resolve: (value) => settle?.(value) };
}
