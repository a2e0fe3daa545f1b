/** The stages of a query's life, from what its record says of times. Pure. */
import type { QueryRecord } from "@gateway/contract/record.ts";
import type { TimelineStage } from "@gateway/contract/studioApi.ts";

/** In order. A query that never got a slot was only received, queued for as long as it waited, and ended. */
export function timelineOf(record: Partial<QueryRecord>): readonly TimelineStage[] {
  const { createdAt, startedAt, finishedAt, queueMs = 0, executionMs = 0 } = record;
  if (createdAt === undefined || finishedAt === undefined) return [];
  const received = { stage: "received", at: createdAt, tookMs: 0 } as const;
  const queued = { stage: "queued", at: createdAt, tookMs: queueMs } as const;
  const executed =
    startedAt === undefined
      ? []
      : [{ stage: "executed", at: startedAt, tookMs: executionMs } as const];
  return [received, queued, ...executed, { stage: "ended", at: finishedAt, tookMs: 0 }];
}
