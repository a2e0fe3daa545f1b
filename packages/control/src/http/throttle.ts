/**
 * Slows down whoever fails: one token bucket of failures per client address.
 *
 * It counts no successes and knows no users: locking a user out by somebody else's
 * failures would be an attack of its own. Memory is bounded; the address that was quiet for longest
 * is forgotten first.
 */
import type { Clock } from "@gateway/core/port/clock.ts";

export interface ThrottleLimits {
  /** Failures that cost nothing. Default 10. */
  readonly burst?: number;
  /** After those, one failure is forgiven in this time. Default 6,000. */
  readonly refillMs?: number;
  /** Addresses that are remembered. Default 10,000. */
  readonly addressesMax?: number;
}

export interface Throttle {
  /** How long this address has to wait, in milliseconds; 0 when it need not. To be asked before costly checks. */
  retryAfterMs(address: string): number;
  /** Counts a failure. The answer is 0 within the burst, otherwise how long to wait; a failure while waiting does not add to it. */
  failed(address: string): number;
}

/** Failures that are not forgiven yet, as of a moment. */
interface Bucket {
  readonly failures: number;
  readonly atMs: number;
}

export function throttleOf(clock: Clock, limits: ThrottleLimits = {}): Throttle {
  const { burst = 10, refillMs = 6_000, addressesMax = 10_000 } = limits;
  const buckets = new Map<string, Bucket>();

  function failuresOf(key: string): number {
    const bucket = buckets.get(key);
    if (bucket === undefined) return 0;
    return Math.max(0, bucket.failures - (clock.nowMs() - bucket.atMs) / refillMs);
  }
  function waitMs(failures: number): number {
    return failures <= burst - 1 ? 0 : Math.ceil((failures - (burst - 1)) * refillMs);
  }

  return {
    retryAfterMs: (address) => waitMs(failuresOf(networkOf(address))),
    failed: (address) => {
      const key = networkOf(address);
      const failures = failuresOf(key);
      const mustWaitMs = waitMs(failures);
      if (mustWaitMs > 0) return mustWaitMs;
      // Put again, so that the map's order is from quiet to busy.
      buckets.delete(key);
      buckets.set(key, { failures: failures + 1, atMs: clock.nowMs() });
      const [quietest] = buckets.keys();
      if (buckets.size > addressesMax && quietest !== undefined) buckets.delete(quietest);
      return 0;
    },
  };
}

/** Seconds for `Retry-After`, at least 1. */
export function retryAfterOf(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1_000)));
}

/** An IPv6 client owns 2^64 addresses, so it is known by the first half; an IPv4 one by all of its address. */
function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(":")) return address;
  const [front = "", back] = address.toLowerCase().split("::");
  const head = front === "" ? [] : front.split(":");
  const tail = back === undefined || back === "" ? [] : back.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0");
  return [...head, ...(back === undefined ? [] : zeros), ...tail].slice(0, 4).join(":");
}
