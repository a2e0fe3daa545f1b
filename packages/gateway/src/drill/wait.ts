/** Waiting in a drill: with a limit, and over at once when the operator stops it. */
import { setTimeout as paused } from "node:timers/promises";
import type { Clock } from "@gateway/core/port/clock.ts";

/** Between two looks. */
const lookMs = 100;

/** Waits so long, or until `signal` aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await paused(ms, undefined, { signal }).catch(() => {});
}

export interface Patience {
  readonly clock: Clock;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** What `look` found, asked again and again; undefined at the limit, and when `signal` aborts. */
export async function found<Value>(
  look: () => Value | undefined | Promise<Value | undefined>,
  { clock, limitMs, signal }: Patience,
): Promise<Value | undefined> {
  const endMs = clock.nowMs() + limitMs;
  while (!signal.aborted) {
    const value = await look();
    if (value !== undefined) return value;
    if (clock.nowMs() > endMs) return undefined;
    await pause(lookMs, signal);
  }
  return undefined;
}
