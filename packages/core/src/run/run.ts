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
import { wayOf } from "./step/way.ts";
import type { LastEvent, ResultStream, Stage } from "../query/event.ts";
import { OpenQuery } from "./step/lifecycle.ts";
import { beginTransaction } from "./transaction/begin.ts";
import { beginKept, keepAndRun, runKept } from "./transaction/kept.ts";
import { divideOutside, endOutside } from "./transaction/outside.ts";
import { runPinned } from "./transaction/pinned.ts";
import { wishOf } from "./transaction/wish.ts";
import type { Pin } from "../query/pin.ts";
import type { DataPlane } from "./step/plane.ts";
import type { Query } from "../query/query.ts";
import { warningsOf } from "./step/warnings.ts";
import { relay } from "./step/relay.ts";

/** Runs one statement. Ending the generator early or aborting `signal` cancels it. */
export async function* runQuery(query: Query, plane: DataPlane, signal: AbortSignal): ResultStream {
  const open = new OpenQuery(query, plane, signal);
  let last: LastEvent = failed(gatewayError("query.cancelled"));
  try {
    const { pin } = query.session;
    const stage = pin === undefined ? runUnpinned(open, plane) : runInPin(open, pin, plane);
    last = "kind" in stage ? stage : yield* stage;
  } catch (bug) {
    plane.host.log.bug(bug, { queryId: query.id });
    last = failed(gatewayError("internal.bug"));
  } finally {
    const kept = query.mysql?.home.kept;
    if (kept !== undefined) {
      const outcome = `${kept.cluster}: its own connection, for ${kept.reason}`;
      open.live.trace.push({ step: "session", outcome });
    }
    open.close(last);
  }
  yield last;
}

/** A transaction keeps the generation it began with, but not the right of a user who is gone. */
async function* runInPin(open: OpenQuery, pin: Pin, plane: DataPlane): Stage {
  const { active } = plane.generations;
  if (active !== undefined && active.renew(open.query.session.identity) === undefined) {
    await pin.end();
    yield { kind: "session", change: { kind: "unpinned", outcome: "rolledBack" } };
    return failed(gatewayError("auth.expired"));
  }
  return yield* runPinned(open, pin);
}

/** Chooses the stage and is none itself: every stage that only passes events on costs each event a turn. */
function runUnpinned(open: OpenQuery, plane: DataPlane): Stage | LastEvent {
  if (plane.draining()) return failed(gatewayError("gateway.draining"));
  const wish = wishOf(open.query);
  const { kept } = open.query.session;
  switch (wish?.kind) {
    case "begin":
      return kept === undefined ? beginTransaction(open, plane) : beginKept(open, kept, plane);
    case "commit":
    case "rollback":
      return endOutside(wish, open);
    case "divide":
      return divideOutside(wish.division, open);
    case undefined:
      return kept === undefined ? runStatement(open, plane) : runKept(open, kept, plane);
  }
}

async function* runStatement(open: OpenQuery, plane: DataPlane): Stage {
  const found = await wayOf(open, plane);
  if (!found.ok) return failed(found.error);
  using way = found.value;
  const { guarded } = way.policed;
  if (guarded !== undefined) yield* warningsOf(guarded);
  // A connection failure before the first event gives the slot back and admits again without that cluster.
  for (;;) {
    const granted = way.slot();
    const slot = "ok" in granted ? granted : yield* granted;
    if (!slot.ok) return failed(slot.error);
    await using attempt = new Attempt(slot.value, open, way, plane.host);
    const identified = await attempt.identified();
    if (!identified.ok) return failed(identified.error);
    const keeps = way.generation.backend(slot.value.cluster).mayKeep?.(identified.value) === true;
    const ended = keeps
      ? yield* keepAndRun({ attempt, way, query: identified.value }, open)
      : yield* relay(attempt.execute(identified.value), open.live, slot.value);
    attempt.ended(ended.last);
    if (ended.reached) return ended.last;
    way.exclude(slot.value.cluster);
  }
}

function failed(error: GatewayError): LastEvent {
  return { kind: "failed", error };
}
