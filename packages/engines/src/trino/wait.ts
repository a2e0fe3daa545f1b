/** Waiting that an end cuts short. */
import type { Clock } from "@gateway/core/port/clock.ts";

/** Resolves after the delay, or as soon as the signal is aborted. */
export function waited(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = (): void => {
      timer[Symbol.dispose]();
      signal.removeEventListener("abort", stop);
      resolve();
    };
    const timer = clock.timer(delayMs, stop);
    signal.addEventListener("abort", stop);
  });
}

/** The promise's value, or `aborted` when the signal comes first. */
export function within<T>(signal: AbortSignal, promise: Promise<T>): Promise<T | "aborted"> {
  if (signal.aborted) return Promise.resolve("aborted");
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve("aborted");
    signal.addEventListener("abort", stop);
    void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
