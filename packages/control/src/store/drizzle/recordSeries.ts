/**
 * The history by steps of time, in one statement of bounded work: counts come from indexes alone, and durations
 * from the newest records of each step.
 */
import { sql } from "drizzle-orm";
import { ok } from "@gateway/core/result.ts";
import type { RecordSeries, SeriesPoint, SeriesRequest, Stored } from "../store.ts";
import { figureFields } from "../written.ts";
import type { Asked } from "./asked.ts";

/** Failures that are looked at for the most frequent codes, the newest. */
const errorsLookedAtMax = 100_000;
const codesMax = 10;

/** Arrays count from 1 in PostgreSQL. */
const figure = (name: (typeof figureFields)[number]) =>
  sql.raw(`figures[${figureFields.indexOf(name) + 1}]`);

/**
 * Per step: all by query_records_at; those that did not finish by query_records_status_at; and of the newest
 * `sampleMax` the rows themselves. Rows of older releases have no figures and count without a duration.
 */
export async function recordSeries(
  { run }: Asked,
  { from, stepMs, steps, errorsFrom, sampleMax }: SeriesRequest,
): Stored<RecordSeries> {
  const points = await run(sql`
    with steps as (
      select i, ${from}::bigint + i * ${stepMs}::bigint as lo,
        ${from}::bigint + (i + 1) * ${stepMs}::bigint as hi
      from generate_series(0, ${steps}::int - 1) i
    )
    select lo, counted.total, other.failed, other.cancelled, other.denied, sample.n,
      sample.latency[1], sample.latency[2], sample.latency[3],
      sample.queue[1], sample.queue[2], sample.queue[3], sample.ran, sample.waited
    from steps
    cross join lateral (
      select count(*) as total from query_records where created_at >= lo and created_at < hi
    ) counted
    cross join lateral (
      select count(*) filter (where status = 'failed') as failed,
        count(*) filter (where status = 'cancelled') as cancelled,
        count(*) filter (where status = 'denied') as denied
      from query_records
      where status <> 'finished' and status in ('failed', 'cancelled', 'denied')
        and created_at >= lo and created_at < hi
    ) other
    cross join lateral (
      select count(*) as n, sum(ran) as ran, sum(waited) as waited,
        percentile_cont(array[0.5, 0.95, 0.99]) within group (order by ran + waited) as latency,
        percentile_cont(array[0.5, 0.95, 0.99]) within group (order by waited) as queue
      from (
        select ${figure("executionMs")} as ran, ${figure("queueMs")} as waited
        from query_records where created_at >= lo and created_at < hi
        order by created_at desc limit ${sampleMax}::bigint
      ) newest
    ) sample
    order by lo`);
  if (!points.ok) return points;
  const codes = await run(sql`
    select error_code, count(*) from (
      select error_code from query_records
      where error_code is not null and status <> 'finished'
        and status in ('failed', 'cancelled', 'denied')
        and created_at >= ${errorsFrom}::bigint and created_at < ${from + steps * stepMs}::bigint
      order by created_at desc limit ${errorsLookedAtMax}
    ) newest group by error_code order by 2 desc, 1 limit ${codesMax}`);
  if (!codes.ok) return codes;
  const errors = codes.value.rows.map(([code, count]) => ({
    code: code ?? "",
    count: Number(count),
  }));
  return ok({ points: points.value.rows.map(pointOf), errors });
}

type Cells = readonly (string | null)[];

function pointOf(cells: Cells): SeriesPoint {
  const numbers = cells.map((cell) => (cell === null ? undefined : Number(cell)));
  const [at = 0, total = 0, failed = 0, cancelled = 0, denied = 0, sample = 0] = numbers;
  return {
    at,
    total,
    failed,
    cancelled,
    denied,
    sample,
    latency: percentilesOf(numbers.slice(6, 9)),
    queue: percentilesOf(numbers.slice(9, 12)),
    ranMs: numbers[12] ?? 0,
    waitedMs: numbers[13] ?? 0,
  };
}

function percentilesOf([p50, p95, p99]: readonly (number | undefined)[]): SeriesPoint["latency"] {
  if (p50 === undefined || p95 === undefined || p99 === undefined) return undefined;
  return { p50, p95, p99 };
}
