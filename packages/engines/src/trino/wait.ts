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
