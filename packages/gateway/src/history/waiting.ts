/** Waiting that something else may end early. */
import type { Clock } from "@gateway/core/port/clock.ts";

/** Resolves after `ms`, or when `signal` aborts. */
export async function rest(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = deferred<void>();
  const wake = (): void => resolve();
  using _timer = clock.timer(ms, wake);
  signal.addEventListener("abort", wake, { once: true });
  await promise;
  signal.removeEventListener("abort", wake);
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
