/** What a drill looks at beside its own answers: the records, what the gateway counts as lost, and what the engine runs. */
import { ok, type Result } from "@gateway/core/result.ts";
import type { AdminApi, AdminRefusal } from "./admin.ts";
import type { Asked, CapEvidence, RecordEvidence } from "./evidence.ts";
import type { Hooks } from "./hook.ts";
import { request } from "./http.ts";
import type { DrillOptions } from "./options.ts";
import { found, pause, type Patience } from "./wait.ts";

const metricsMs = 10_000;
const droppedMetric = "gateway_history_dropped_total";
/** Between two questions to the engine: each is a process. */
const engineEveryMs = 250;
/** Clocks of workers, which write when a query began, may be that wrong. */
const clockLeewayMs = 10 * 60_000;
const betweenListsMs = 1_000;

/** What was so before the drill. */
export interface Baseline {
  readonly unixMs: number;
  readonly conflicts: number;
  /** By address; what can not be read is 0. */
  readonly dropped: ReadonlyMap<string, number>;
  /** Names of workers that served. */
  readonly serving: readonly string[];
}

export async function baseline(
  api: AdminApi,
  { metrics }: DrillOptions,
  unixMs: number,
): Promise<Result<Baseline, AdminRefusal>> {
  const conflicts = await api.conflicts();
  if (!conflicts.ok) return conflicts;
  const serving = await api.serving();
  if (!serving.ok) return serving;
  const dropped = await droppedAt(metrics);
  const names = serving.value.map(({ name }) => name);
  return ok({ unixMs, conflicts: conflicts.value, dropped, serving: names });
}

/** True when every worker that served does so again; undefined otherwise, also while nobody can be asked. */
export async function servingAgain(api: AdminApi, before: Baseline): Promise<true | undefined> {
  const now = await api.serving();
  if (!now.ok) return undefined;
  const names = new Set(now.value.map(({ name }) => name));
  return before.serving.every((name) => names.has(name)) ? true : undefined;
}

/** Waits until each query that has an id has its record or is counted; what is missing at the limit is answered as missing. */
export async function recordsOf(
  { api, options, before }: { api: AdminApi; options: DrillOptions; before: Baseline },
  asked: readonly Asked[],
  patience: Patience,
): Promise<RecordEvidence | undefined> {
  const wanted = asked.flatMap(({ queryId }) => (queryId === undefined ? [] : [queryId]));
  let last: RecordEvidence | undefined;
  await found(async () => {
    const recorded = await api.recorded(before.unixMs - clockLeewayMs);
    const conflicts = await api.conflicts();
    if (recorded.ok && conflicts.ok) {
      last = {
        wanted: wanted.length,
        missing: wanted.filter((id) => !recorded.value.has(id)),
        counted: options.metrics.length === 0 ? undefined : await countedSince(options, before),
        conflicts: Math.max(0, conflicts.value - before.conflicts),
      };
      if (last.missing.length <= (last.counted ?? 0)) return true;
    }
    await pause(betweenListsMs, patience.signal);
    return undefined;
  }, patience);
  return last;
}

/** A process that began anew counts from none. */
async function countedSince({ metrics }: DrillOptions, { dropped }: Baseline): Promise<number> {
  let sum = 0;
  for (const [address, now] of await droppedAt(metrics)) {
    const then = dropped.get(address) ?? 0;
    sum += now >= then ? now - then : now;
  }
  return sum;
}

async function droppedAt(metrics: readonly URL[]): Promise<ReadonlyMap<string, number>> {
  const read = await Promise.all(
    metrics.map(async (url) => {
      const reply = await request(url, { signal: AbortSignal.timeout(metricsMs) });
      return [url.href, reply.ok ? droppedIn(reply.value.text) : 0] as const;
    }),
  );
  return new Map(read);
}

/** The sum over all series of the counter in the exposition format of Prometheus. */
function droppedIn(text: string): number {
  let sum = 0;
  for (const line of text.split("\n")) {
    if (!line.startsWith(droppedMetric) || !/[ {]/.test(line[droppedMetric.length] ?? "")) continue;
    const value = Number(line.slice(line.lastIndexOf(" ")));
    if (Number.isFinite(value)) sum += value;
  }
  return sum;
}

export interface EngineWatch {
  /** What was seen until now; no look follows. */
  end(): Promise<CapEvidence>;
}

/** Asks the operator's command again and again how many statements the engine runs. */
export function watchEngine(
  { command, cap }: NonNullable<DrillOptions["engine"]>,
  hooks: Hooks,
): EngineWatch {
  const stop = new AbortController();
  const seen = { most: 0, looks: 0, failed: 0 };
  const looking = (async () => {
    while (!stop.signal.aborted) {
      const said = await hooks.run(command, stop.signal);
      if (stop.signal.aborted) return;
      const count = said.ok ? /^\s*(\d{1,9})\s*$/.exec(said.value)?.[1] : undefined;
      if (count === undefined) seen.failed += 1;
      else {
        seen.looks += 1;
        seen.most = Math.max(seen.most, Number(count));
      }
      await pause(engineEveryMs, stop.signal);
    }
  })();
  return {
    end: async () => {
      stop.abort();
      await looking;
      return { cap, ...seen };
    },
  };
}
