/** The stages that the API tells of a query, as a row of pieces without holes. Pure. */
import type { TimelineStage } from "@gateway/contract/studioApi.ts";

export interface Segment {
  readonly kind: "waited" | "ran" | "rest";
  readonly ms: number;
}

export interface Timing {
  readonly receivedAt: number;
  readonly endedAt: number;
  /** In order; between two stages, and behind the last, the gateway was at work or the answer on its way. */
  readonly segments: readonly Segment[];
}

/** Undefined where the record tells no times. */
export function timingOf(timeline: readonly TimelineStage[]): Timing | undefined {
  const [first] = timeline;
  const last = timeline.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const segments: Segment[] = [];
  let atMs = first.at;
  const restTo = (at: number): void => {
    // Clocks count whole milliseconds and durations parts of them, so stages may seem to overlap.
    if (at > atMs) segments.push({ kind: "rest", ms: at - atMs });
    atMs = Math.max(atMs, at);
  };
  for (const { stage, at, tookMs } of timeline) {
    restTo(at);
    if (stage !== "queued" && stage !== "executed") continue;
    segments.push({ kind: stage === "queued" ? "waited" : "ran", ms: tookMs });
    atMs = Math.max(atMs, at + tookMs);
  }
  return { receivedAt: first.at, endedAt: last.at, segments };
}

/** Milliseconds of one kind; undefined where the query never came to it. */
export function msOf({ segments }: Timing, kind: Segment["kind"]): number | undefined {
  const of = segments.filter((segment) => segment.kind === kind);
  return of.length === 0 ? undefined : of.reduce((sum, { ms }) => sum + ms, 0);
}
