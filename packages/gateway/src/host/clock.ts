/** Time from the operating system. */
import { performance } from "node:perf_hooks";
import type { Clock } from "@gateway/core/port/clock.ts";

/** Longer delays overflow Node's timers, which then fire at once. */
const delayMsMax = 2_147_483_647;

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  unixMs: () => Date.now(),
  timer: (delayMs, fire) => {
    const timer = setTimeout(fire, Math.min(Math.max(0, delayMs), delayMsMax));
    // A waiting timer alone is no reason to keep the process alive: listeners are.
    timer.unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};
