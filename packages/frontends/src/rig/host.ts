/** A host for tests over real sockets: real time and chance, remembered logs and metrics, no threads. */
import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "@gateway/core/port/clock.ts";
import { slicesOf } from "@gateway/core/tool/slices.ts";
import { virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";

const clock: Clock = {
  nowMs: () => performance.now(),
  unixMs: () => Date.now(),
  timer: (delayMs, fire) => {
    const timer = setTimeout(fire, delayMs);
    timer.unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

export type SuiteHost = Pick<
  VirtualHost,
  "clock" | "random" | "randomBytes" | "threads" | "slices" | "log" | "metrics" | "egress"
>;

/** A new one for each test. */
export function suiteHost(): SuiteHost {
  const still = virtualHost(1);
  return {
    clock,
    random: () => still.random(),
    randomBytes: (length) => Uint8Array.from(randomBytes(length)),
    threads: still.threads,
    slices: slicesOf({
      othersServed: () => setImmediate(),
      rested: () => setImmediate(),
      nowMs: () => clock.nowMs(),
    }),
    log: still.log,
    metrics: still.metrics,
    egress: still.egress,
  };
}
