/** Waiting on the host's clock, and how long to wait after a failure. */
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { backoffMsMax, backoffMsMin } from "../limits.ts";

/** Resolves after `ms`, when `signal` aborts, or when the answer's `wake` is called. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> & Wake {
  let wake = ignore;
  const ended = new Promise<void>((resolve) => {
    wake = () => {
      timer[Symbol.dispose]();
      signal.removeEventListener("abort", wake);
      resolve();
    };
  });
  const timer = clock.timer(ms, wake);
  signal.addEventListener("abort", wake, { once: true });
  if (signal.aborted) wake();
  return Object.assign(ended, { wake });
}

export interface Wake {
  wake(): void;
}

export interface Backoff {
  /** How long to wait after one more failure; never less than `retryAfterMs`. */
  next(retryAfterMs?: number): number;
  /** After a success. */
  reset(): void;
}

/** No longer pause than this, whatever the server asks for. */
const retryAfterMsMax = 600_000;

/** 1 s doubled to 60 s with full jitter, so that a fleet does not come back in step. */
export function backoffOf({ random }: Pick<Host, "random">): Backoff {
  let ceilingMs = backoffMsMin;
  return {
    next: (retryAfterMs = 0) => {
      const jitteredMs = random() * ceilingMs;
      // Without it everybody would come at one moment after the same Retry-After.
      const spreadMs = retryAfterMs > 0 ? random() * backoffMsMin : 0;
      ceilingMs = Math.min(ceilingMs * 2, backoffMsMax);
      return Math.max(jitteredMs, Math.min(retryAfterMs, retryAfterMsMax) + spreadMs);
    },
    reset: () => {
      ceilingMs = backoffMsMin;
    },
  };
}

function ignore(): void {}
