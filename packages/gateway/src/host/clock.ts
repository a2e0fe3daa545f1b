/** Time from the operating system. */
import { performance } from "node:perf_hooks";
import type { Clock } from "@gateway/core/port/clock.ts";
import { timersOf } from "./timers.ts";

const nowMs = (): number => performance.now();

export const systemClock: Clock = {
  nowMs,
  unixMs: () => Date.now(),
  timer: timersOf({
    nowMs,
    arm: (delayMs, wake) => {
      const timer = setTimeout(wake, delayMs);
      // Listeners keep the process alive; a waiting timer alone must not.
      timer.unref();
      return { [Symbol.dispose]: () => clearTimeout(timer) };
    },
  }),
};
