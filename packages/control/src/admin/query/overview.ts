/**
 * `/admin/overview`: how the last hour or day went. Steps that are over are asked for once and kept for minutes;
 * a late record of a worker shows with the next time.
 */
import {
  overviewRanges,
  overviewSchema,
  type OverviewPoint,
  type OverviewRange,
} from "@gateway/contract/studioApi.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import { z } from "zod";
import type { ControlDeps } from "../../deps.ts";
import type { RecordSeries, SeriesPoint, StoreUnavailable } from "../../store/store.ts";
import { unavailable } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";

const ranges = {
  hour: { stepMs: 60_000, steps: 60, freshMs: 5_000 },
  day: { stepMs: 900_000, steps: 96, freshMs: 30_000 },
} as const satisfies Record<OverviewRange, object>;

/** Records of one step whose durations are looked at, the newest. */
const sampleMax = 2_000;
/** So long steps that are over are believed. */
const keptMs = 5 * 60_000;
/** Steps at the end that may still get records. */
const openSteps = 2;

interface Kept {
  readonly points: readonly SeriesPoint[];
  readonly errors: RecordSeries["errors"];
  readonly askedMs: number;
  /** When all of it was asked for. */
  readonly wholeMs: number;
}

export function overviewRoutes(api: AdminApi): void {
  const { deps } = api;
  const series = { hour: seriesOf(deps, "hour"), day: seriesOf(deps, "day") };
  const operation = {
    tag: "queries",
    summary: "How the last hour or day went",
    description:
      "Counts are exact. Latencies and means of a step are those of its newest 2,000 records, where `sampled` says so.",
    role: "viewer",
    query: z.strictObject({ range: z.enum(overviewRanges).default("hour") }),
    responses: { 200: { description: "The series.", schema: overviewSchema } },
  } as const;
  route(api, ["GET", "/overview"], operation, async ({ query: { range } }) => {
    const found = await series[range]();
    if (!found.ok) return unavailable();
    const { points, errors } = found.value;
    const { stepMs, steps } = ranges[range];
    const from = points[0]?.at ?? 0;
    const now = deps.clock.unixMs();
    return Response.json({
      range,
      from,
      to: from + steps * stepMs,
      stepMs,
      cap: capOf(deps),
      points: points.map((point) =>
        shown(point, Math.min(stepMs, Math.max(1_000, now - point.at))),
      ),
      errors,
    });
  });
}

/** Asks one at a time, whoever looks. */
function seriesOf(
  { store, clock }: ControlDeps,
  range: OverviewRange,
): () => Promise<Result<Kept, StoreUnavailable>> {
  const { stepMs, steps, freshMs } = ranges[range];
  let kept: Kept | undefined;
  let asking: Promise<Result<Kept, StoreUnavailable>> | undefined;

  async function ask(): Promise<Result<Kept, StoreUnavailable>> {
    const nowMs = clock.nowMs();
    const end = (Math.floor(clock.unixMs() / stepMs) + 1) * stepMs;
    const from = end - steps * stepMs;
    const over = kept !== undefined && nowMs - kept.wholeMs < keptMs ? kept.points : [];
    const known = over.slice(0, -openSteps).filter(({ at }) => at >= from);
    const isJoined = known[0]?.at === from;
    const before = isJoined ? known : [];
    const begin = from + before.length * stepMs;
    const found = await store.records.series({
      from: begin,
      stepMs,
      steps: steps - before.length,
      errorsFrom: from,
      sampleMax,
    });
    if (!found.ok) return found;
    const { errors } = found.value;
    const wholeMs = isJoined ? (kept?.wholeMs ?? nowMs) : nowMs;
    kept = { points: [...before, ...found.value.points], errors, askedMs: nowMs, wholeMs };
    return ok(kept);
  }

  return async () => {
    if (kept !== undefined && clock.nowMs() - kept.askedMs < freshMs) return ok(kept);
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}

/** `spanMs`: how much of the step has passed. */
function shown(point: SeriesPoint, spanMs: number): OverviewPoint {
  const { at, total, failed, cancelled, denied, sample, latency, queue } = point;
  const finished = total - failed - cancelled - denied;
  const share = sample === 0 ? 0 : total / sample / spanMs;
  return {
    at,
    statuses: { finished, failed, cancelled, denied },
    perSecond: (total * 1_000) / spanMs,
    latency,
    queue,
    runningMean: point.ranMs * share,
    queuedMean: point.waitedMs * share,
    sampled: sample < total,
  };
}

const capsSchema = z.looseObject({
  clusters: z.record(
    z.string(),
    z.looseObject({ enabled: z.boolean().default(true), maxRunningQueries: z.int().optional() }),
  ),
  clusterGroups: z.record(
    z.string(),
    z.looseObject({
      enabled: z.boolean().default(true),
      members: z.array(z.string()).default([]),
      maxRunningQueries: z.int().optional(),
    }),
  ),
});

/** Of each cluster the smaller of its own cap and those of its groups together. */
function capOf({ config }: ControlDeps): number | undefined {
  const read = capsSchema.safeParse(config.current()?.body ?? {});
  if (!read.success) return undefined;
  const groups = Object.values(read.data.clusterGroups).filter(({ enabled }) => enabled);
  const none = Number.POSITIVE_INFINITY;
  const caps = Object.entries(read.data.clusters)
    .filter(([, { enabled }]) => enabled)
    .map(([name, { maxRunningQueries: own = none }]) => {
      const its = groups.filter(({ members }) => members.includes(name));
      return Math.min(
        own,
        its.reduce((sum, { maxRunningQueries: cap = none }) => sum + cap, 0),
      );
    });
  const all = caps.reduce((sum, cap) => sum + cap, 0);
  return Number.isFinite(all) ? all : undefined;
}
