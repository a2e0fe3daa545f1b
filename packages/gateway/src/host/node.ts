/** The host of a real process. */
import { randomBytes } from "node:crypto";
import { delimiter, dirname, isAbsolute, resolve } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { Host } from "@gateway/core/port/host.ts";
import { slicesOf } from "@gateway/core/tool/slices.ts";
import { ScriptHost } from "@gateway/sql/script/scriptHost.ts";
import { SqlThreads } from "@gateway/sql/thread/sqlThreads.ts";
import { systemClock } from "./clock.ts";
import { egressOf, noEgressLimits, type EgressLimits } from "./egress.ts";
import { jsonLog, type LogThreshold } from "./log/log.ts";
import { promMetrics, type PromMetrics } from "./metrics.ts";
import { workerThreads } from "./process/threads.ts";

export interface NodeHost extends Host {
  readonly metrics: PromMetrics;
}

/** Bugs that were caught. Each is answered `internal.bug`, or nobody would have seen it. */
export const bugs = {
  name: "gateway_bugs_total",
  help: "Internal failures; each has a log line.",
  labels: [],
} as const;

/** `bundle`: folder of the built thread programs. `folders`: where libraries of drivers are looked for. */
export function nodeHost(
  bundle: URL,
  logLevel: LogThreshold,
  limits: EgressLimits = noEgressLimits,
  folders: readonly string[] = [],
): NodeHost {
  const metrics = promMetrics();
  const bugCount = metrics.counter(bugs, {});
  const threads = workerThreads(bundle);
  const log = jsonLog(logLevel, () => bugCount.add(1));
  return {
    clock: systemClock,
    random: () => Math.random(),
    randomBytes: (length) => new Uint8Array(randomBytes(length)),
    threads,
    sql: new SqlThreads({ clock: systemClock, threads, log }),
    scripts: new ScriptHost({ threads, clock: systemClock }),
    slices: slicesOf({
      othersServed: () => setImmediate(),
      rested: () => setTimeout(1),
      nowMs: () => systemClock.nowMs(),
    }),
    log,
    metrics,
    egress: egressOf(limits),
    libraryFolders: folders,
  };
}

/**
 * Where libraries of ADBC drivers are looked for, in this order: beside the config, in `ADBC_DRIVER_PATH`, in the Python
 * environment. Relative entries of the variable are left out: what they mean depends on the folder of the
 * caller.
 */
export function libraryFolders(
  configFile: string,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const listed = (environment["ADBC_DRIVER_PATH"] ?? "").split(delimiter);
  const python = [environment["VIRTUAL_ENV"], environment["CONDA_PREFIX"]];
  const named = [...listed, ...python].filter(
    (folder) => folder !== undefined && isAbsolute(folder),
  );
  return [dirname(resolve(configFile)), ...named.map(String)];
}
