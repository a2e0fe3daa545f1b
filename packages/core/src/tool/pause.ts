/** Waits that a signal can end: a pause on the host's clock, and work that somebody else may want as well. */
import type { Clock } from "../port/clock.ts";

/** Resolves after `ms`, or when `signal` aborts. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      timer[Symbol.dispose]();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = clock.timer(ms, end);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted === true) end();
  });
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
