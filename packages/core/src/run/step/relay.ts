/** Passes an engine's events on: counts them, holds the row limit, and says how it ended. */
import { abortError, gatewayError, withoutPosition, type GatewayError } from "../../error.ts";
import type { Slot } from "../../query/slot.ts";
import { waited, type Course } from "../../query/course.ts";
import type { DoneEvent, FailedEvent, LastEvent, ResultEvent } from "../../query/event.ts";
import type { LiveQuery } from "./live.ts";
import type { Batch } from "../../type/vector.ts";
import type { PatientReader, Read } from "./patience.ts";
import { lateLossOf, lossAskedOf, lossOf } from "./lost.ts";

/** `reached` is false when the engine could not be connected to and nothing was passed on yet: the query may run elsewhere. */
export interface Relayed {
  readonly last: LastEvent;
  readonly reached: boolean;
}

const inFull: Relaying = { quiet: false, asked: false };

export interface Relaying {
  /** The reader is told nothing before the first row. */
  readonly quiet: boolean;
  /** The engine was asked, by whoever began. */
  readonly asked: boolean;
}

/**
 * Says that the query runs, unless its reader leaves that out (`quiet`), then passes on what the engine says; the query counts as begun with the engine's
 * first event. Right before the engine is asked, this checks that the slot is still ours and that somebody still
 * waits. It checks the slot again at the engine's first answer.
 *
 * Ending this generator early ends the engine's stream, which cancels its query. An engine that ignores
 * its cancel is not waited for: the reader says so, and whoever holds the slot keeps it.
 */
export function* relay(
  events: PatientReader,
  live: LiveQuery,
  slot: Pick<Slot, "lease">,
  { quiet, asked }: Relaying = inFull,
): Course<Relayed> {
  // A polling client would otherwise show a long query as waiting until its first row.
  if (!quiet) yield { kind: "progress", state: "running", stats: live.stats() };
  // The engine is asked with the first look at its events, and not before, unless it was (`asked`).
  const lost = asked ? undefined : lossOf(slot) && (yield* waited(lossAskedOf(slot)));
  const over = live.signal.aborted && !asked ? abortError(live.signal) : lost;
  if (over !== undefined) {
    yield* waited(events.end());
    return { last: { kind: "failed", error: over }, reached: true };
  }
  let started = false;
  try {
    for (;;) {
      const read = events.next();
      // Each query waits here once at least, so in this stage itself: one of its own would be an object more.
      const event = read instanceof Promise ? ((yield read) as Read) : read;
      if (event === "ignored" || event === "over") return endedWithout(live);
      const late = started ? undefined : lateLossOf(slot);
      if (late !== undefined) return cancelledBy(late, live);
      if (event.kind === "failed") return yield* failedBy(event, live, slot, started);
      const batch = batchIn(event);
      const beyond = batch && live.counted(batch);
      if (beyond !== undefined) return cancelledBy(beyond, live);
      if (event.kind === "done") return { last: doneWith(event, live), reached: true };
      started = true;
      yield event;
    }
  } finally {
    const leaving = events.leave();
    if (leaving !== undefined) yield* waited(leaving);
  }
}

/** If the slot was lost while this process stood still, somebody ended the query in the engine: the loss is the reason. */
function* failedBy(
  event: FailedEvent,
  live: LiveQuery,
  slot: Pick<Slot, "lease">,
  started: boolean,
): Course<Relayed> {
  if (lossOf(slot) !== undefined) yield* waited(lossAskedOf(slot));
  return endedBy(event, live, started);
}

function batchIn(event: ResultEvent): Batch | undefined {
  if (event.kind === "done") return event.whole?.batch;
  return event.kind === "batch" ? event.batch : undefined;
}

function cancelledBy(error: GatewayError, live: LiveQuery): Relayed {
  live.cancel(error);
  return { last: { kind: "failed", error }, reached: true };
}

/** An adapter that stops without a last event must never look like a complete result. */
function endedWithout({ signal }: LiveQuery): Relayed {
  const error = signal.aborted ? abortError(signal) : gatewayError("engine.broken");
  return { last: { kind: "failed", error }, reached: true };
}

/** The engine's `done` with our own counts. */
export function doneWith(
  { updateType, updateCount, commandTag, report, whole }: DoneEvent,
  live: LiveQuery,
): DoneEvent {
  const stats = live.stats();
  // Written out twice: what follows a spread makes a hidden class anew for each query.
  return commandTag === undefined
    ? { kind: "done", stats, updateType, updateCount, report, whole }
    : { kind: "done", stats, updateType, updateCount, report, commandTag, whole };
}

/** After an abort the client is told the reason of the abort, not what the engine says. */
function endedBy(event: FailedEvent, live: LiveQuery, started: boolean): Relayed {
  if (live.signal.aborted) {
    return { last: { kind: "failed", error: abortError(live.signal) }, reached: true };
  }
  const reached = started || event.error.code !== "cluster.connectFailed";
  const rewritten = live.engineSql !== undefined && live.engineSql !== live.query.sql;
  return { last: rewritten ? { ...event, error: withoutPosition(event.error) } : event, reached };
}
