/** The history by steps of time, over rows that lie in order. */
import type { RecordSeries, SeriesPoint, SeriesRequest } from "../store.ts";

/** What of a record a series looks at. */
export interface SeriesRow {
  readonly at: number;
  readonly status: string;
  readonly errorCode: string | undefined;
  durations(): { readonly ranMs: number; readonly waitedMs: number };
}

const codesMax = 10;

/** `rows`: those of the whole range and of that whose codes are counted, oldest first. */
export function seriesOf(
  rows: readonly SeriesRow[],
  { from, stepMs, steps, errorsFrom, sampleMax }: SeriesRequest,
): RecordSeries {
  const byStep: SeriesRow[][] = Array.from({ length: steps }, () => []);
  const codes = new Map<string, number>();
  for (const row of rows) {
    byStep[Math.floor((row.at - from) / stepMs)]?.push(row);
    const { errorCode: code, status } = row;
    if (row.at < errorsFrom) continue;
    if (code !== undefined && status !== "finished") codes.set(code, (codes.get(code) ?? 0) + 1);
  }
  const errors = [...codes]
    .toSorted(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .slice(0, codesMax)
    .map(([code, count]) => ({ code, count }));
  const points = byStep.map((own, step) => pointOf(from + step * stepMs, own, sampleMax));
  return { points, errors };
}

function pointOf(at: number, rows: readonly SeriesRow[], sampleMax: number): SeriesPoint {
  const of = (status: string) => rows.filter((row) => row.status === status).length;
  const sample = rows.slice(-sampleMax).map((row) => row.durations());
  return {
    at,
    total: rows.length,
    failed: of("failed"),
    cancelled: of("cancelled"),
    denied: of("denied"),
    sample: sample.length,
    latency: percentilesOf(sample.map(({ ranMs, waitedMs }) => ranMs + waitedMs)),
    queue: percentilesOf(sample.map(({ waitedMs }) => waitedMs)),
    ranMs: sample.reduce((sum, { ranMs }) => sum + ranMs, 0),
    waitedMs: sample.reduce((sum, { waitedMs }) => sum + waitedMs, 0),
  };
}

function percentilesOf(values: readonly number[]): SeriesPoint["latency"] {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  return { p50: between(sorted, 0.5), p95: between(sorted, 0.95), p99: between(sorted, 0.99) };
}

/** Between two values as PostgreSQL's percentile_cont does it. */
function between(sorted: readonly number[], part: number): number {
  const place = part * (sorted.length - 1);
  const low = sorted[Math.floor(place)] ?? 0;
  const high = sorted[Math.ceil(place)] ?? low;
  return low + (high - low) * (place - Math.floor(place));
}
