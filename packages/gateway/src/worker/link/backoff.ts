/** How long to wait after a failure. */
import type { Host } from "@gateway/core/port/host.ts";
import { backoffMsMax, backoffMsMin } from "../limits.ts";

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
