/**
 * The line of a query, top to bottom: hold, route, police, admit, translate, identify, execute.
 *
 * Policy sees the source SQL before a slot is taken, so a denied query never queues. The cluster is
 * known only with the slot, and dialect and credential belong to the cluster, so those come after.
 * The last event leaves when slot, generation and record are closed: a client that never reads it
 * holds nothing.
 */
import { gatewayError, type GatewayError } from "../error.ts";
import { Attempt } from "./step/attempt.ts";
import { mayKeep, type Begun } from "./step/begun.ts";
import { wayOf, type Way } from "./step/way.ts";
import { courseOf, readerLeft, waited, type Course } from "../query/course.ts";
import { streamOf } from "../query/courseStream.ts";
import type { LastEvent, ResultStream } from "../query/event.ts";
import { OpenQuery } from "./step/lifecycle.ts";
import { beginTransaction } from "./transaction/begin.ts";
import { beginKept, keepAndRun, runKept } from "./transaction/kept.ts";
import { divideOutside, endOutside } from "./transaction/outside.ts";
import { runPinned } from "./transaction/pinned.ts";
import { wishOf } from "./transaction/wish.ts";
import type { Pin } from "../query/pin.ts";
import type { DataPlane } from "./step/plane.ts";
import type { Query } from "../query/query.ts";
import type { Slot } from "../query/slot.ts";
import { warningsOf } from "./step/warnings.ts";
import { relay, type Relayed } from "./step/relay.ts";

/** Runs one statement. Ending the generator early or aborting `signal` cancels it. */
export function runQuery(query: Query, plane: DataPlane, signal: AbortSignal): ResultStream {
  return streamOf(opened(query, plane, signal));
}

/** It is opened when it is asked for its first event. */
function* opened(query: Query, plane: DataPlane, signal: AbortSignal): Course {
  yield* courseOfQuery(new OpenQuery(query, plane, signal), plane);
}

/** `begun`: how far it has come already. */
export function* courseOfQuery(open: OpenQuery, plane: DataPlane, begun?: Begun): Course {
  const { query } = open;
  let last: LastEvent | undefined;
  try {
    const stage = begun === undefined ? runNew(open, plane) : runStatement(open, plane, begun);
    last = "kind" in stage ? stage : yield* stage;
  } catch (bug) {
    if (bug === readerLeft) throw bug;
    plane.host.log.bug(bug, { queryId: query.id });
    last = failed(gatewayError("internal.bug"));
  } finally {
    open.close((last ??= cancelled()));
  }
  yield last;
}

function runNew(open: OpenQuery, plane: DataPlane): Course<LastEvent> | LastEvent {
  const { pin } = open.query.session;
  return pin === undefined ? runUnpinned(open, plane) : runInPin(open, pin, plane);
}

/** A transaction keeps the generation it began with, but not the right of a user who is gone. */
function* runInPin(open: OpenQuery, pin: Pin, plane: DataPlane): Course<LastEvent> {
  const { active } = plane.generations;
  if (active !== undefined && active.renew(open.query.session.identity) === undefined) {
    yield* waited(pin.end());
    yield { kind: "session", change: { kind: "unpinned", outcome: "rolledBack" } };
    return failed(gatewayError("auth.expired"));
  }
  return yield* runPinned(open, pin);
}

/** Chooses the stage and is none itself: every stage that only passes events on costs each event a turn. */
function runUnpinned(open: OpenQuery, plane: DataPlane): Course<LastEvent> | LastEvent {
  if (plane.draining()) return failed(gatewayError("gateway.draining"));
  const wish = wishOf(open.query);
  const { kept } = open.query.session;
  switch (wish?.kind) {
    case "begin":
      return courseOf(
        kept === undefined ? beginTransaction(open, plane) : beginKept(open, kept, plane),
      );
    case "commit":
    case "rollback":
      return courseOf(endOutside(wish, open));
    case "divide": {
      const divided = divideOutside(wish.division, open);
      return "kind" in divided ? divided : courseOf(divided);
    }
    case undefined:
      return kept === undefined ? runStatement(open, plane) : courseOf(runKept(open, kept, plane));
  }
}

function* runStatement(open: OpenQuery, plane: DataPlane, begun?: Begun): Course<LastEvent> {
  const finding = begun?.finding ?? wayOf(open, plane);
  const found = finding instanceof Promise ? yield* waited(finding) : finding;
  if (!found.ok) return failed(found.error);
  const way = found.value;
  try {
    const { guarded } = way.policed;
    if (guarded !== undefined) yield* warningsOf(guarded);
    // A connection failure before the first event gives the slot back and admits again without that cluster.
    for (let from = begun; ; from = undefined) {
      const granted = from?.granted ?? way.slot();
      const slot = "ok" in granted ? granted : yield* courseOf(granted);
      if (!slot.ok) return failed(slot.error);
      const attempt = from?.attempt ?? new Attempt(slot.value, open, way, plane.host);
      const ended = yield* runAttempt(attempt, slot.value, { open, way, begun: from });
      if (ended.reached) return ended.last;
      way.exclude(slot.value.cluster);
    }
  } finally {
    way[Symbol.dispose]();
  }
}

interface Parts {
  readonly open: OpenQuery;
  readonly way: Way;
  readonly begun: Begun | undefined;
}

function* runAttempt(attempt: Attempt, slot: Slot, { open, way, begun }: Parts): Course<Relayed> {
  try {
    const identifying = begun?.identifying ?? attempt.identified();
    const identified = identifying instanceof Promise ? yield* waited(identifying) : identifying;
    if (!identified.ok) return { last: failed(identified.error), reached: true };
    const query = identified.value;
    const asking = begun?.judging ?? attempt.late(query);
    if (asking !== undefined) {
      const warnings = yield* waited(asking);
      if (!warnings.ok) {
        const reached = warnings.error.code !== "cluster.connectFailed" || open.signal.aborted;
        return { last: failed(warnings.error), reached };
      }
      yield* warningsOf({ warnings: warnings.value });
    }
    const sent = begun?.events;
    const ended =
      sent === undefined && mayKeep(query, slot, way)
        ? yield* courseOf(keepAndRun({ attempt, way, query }, open))
        : yield* relay(sent ?? attempt.execute(query, open.whole), open.live, slot, {
            // Of one that was sent its reader was told.
            quiet: open.whole || sent !== undefined,
            asked: sent !== undefined,
          });
    attempt.ended(ended.last);
    return ended;
  } finally {
    const ending = attempt.end();
    if (ending !== undefined) yield* waited(ending);
  }
}

/** How a query ended that nobody reads to its end. */
function cancelled(): LastEvent {
  return failed(gatewayError("query.cancelled"));
}

function failed(error: GatewayError): LastEvent {
  return { kind: "failed", error };
}
