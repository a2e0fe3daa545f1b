/** Waiting on the host's clock. */
import type { Clock } from "../port/clock.ts";

/** Resolves after `ms`, or when `signal` aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      timer[Symbol.dispose]();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = clock.timer(ms, end);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
  });
}
