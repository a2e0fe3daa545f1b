/**
 * What a function has of a host: its time.
 *
 * Its time is that of any process, but a waiting timer keeps the runtime waiting.
 * Elsewhere a timer alone is no reason to stay alive, listeners are. A function has no listener, and
 * the platform takes an empty event loop for the end of an invocation: a held `wait` would never be
 * answered.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import { systemClock } from "../host/clock.ts";

/** Longer than any invocation, and short of what overflows Node's timers. */
const delayMsMax = 3_600_000;

export const functionClock: Clock = {
  nowMs: () => systemClock.nowMs(),
  unixMs: () => systemClock.unixMs(),
  timer: (delayMs, fire) => {
    const timer = setTimeout(fire, Math.min(Math.max(0, delayMs), delayMsMax));
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};
