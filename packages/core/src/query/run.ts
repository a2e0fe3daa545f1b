/**
 * The line of a query, top to bottom: hold, route, police, admit, translate, identify, execute.
 *
 * Policy sees the source SQL before a slot is taken, so a denied query never queues. The cluster is
 * known only with the slot, and dialect and credential belong to the cluster, so those come after.
 * The last event leaves when slot, generation and record are closed: a client that never reads it
 * holds nothing.
 */
import { gatewayError, type GatewayError } from "../error.ts";
import { Attempt } from "./attempt.ts";
import type { LastEvent, ResultStream, Stage } from "./event.ts";
import { OpenQuery } from "./lifecycle.ts";
import { isChained } from "./pinDivided.ts";
import { divideNothing, readDivision, wordsOf } from "./pinSavepoints.ts";
import { beginTransaction, runPinned, transactionStatement } from "./pinned.ts";
import type { Pin } from "./pin.ts";
import type { DataPlane } from "./plane.ts";
import type { Query } from "./query.ts";
import { relay } from "./relay.ts";

/** Runs one statement. Ending the generator early or aborting `signal` cancels it. */
export async function* runQuery(query: Query, plane: DataPlane, signal: AbortSignal): ResultStream {
  const open = new OpenQuery(query, plane, signal);
  let last: LastEvent = failed(gatewayError("query.cancelled"));
  try {
    last = yield* query.session.pin === undefined
      ? runUnpinned(open, plane)
      : runInPin(open, query.session.pin, plane);
  } catch (bug) {
    plane.host.log.bug(bug, { queryId: query.id });
    last = failed(gatewayError("internal.bug"));
  } finally {
    open.close(last);
  }
  yield last;
}

/** A transaction keeps the generation it began with, but not the right of a user who is gone. */
async function* runInPin(open: OpenQuery, pin: Pin, plane: DataPlane): Stage {
  const { active } = plane.generations;
  if (active !== undefined && active.renew(open.query.session.identity) === undefined) {
    await pin.end();
    yield { kind: "session", change: { kind: "unpinned" } };
    return failed(gatewayError("auth.expired"));
  }
  return yield* runPinned(open, pin);
}

async function* runUnpinned(open: OpenQuery, plane: DataPlane): Stage {
  if (plane.draining()) return failed(gatewayError("gateway.draining"));
  const transaction = transactionStatement(open.query);
  if (transaction === "begin") return yield* beginTransaction(open, plane);
  if (transaction !== undefined) return yield* outsideTransaction(transaction, open);
  const division = readDivision(open.query);
  if (division !== undefined) return divideOutside(division, open);

  const held = plane.generations.hold();
  if (!held.ok) return failed(held.error);
  using hold = held.value;
  const { generation } = hold;
  open.revision = generation.revision;

  const routed = await generation.route(open.query, open.live.trace, open.live.signal);
  if (!routed.ok) return failed(routed.error);
  open.live.group = routed.value.group;

  const policed = generation.police(routed.value);
  if (!policed.ok) return failed(policed.error);

  // A connection failure before the first event gives the slot back and admits again without that cluster.
  const excluded = new Set<string>();
  for (;;) {
    const admission = generation.admission(policed.value, excluded);
    if (!admission.ok) return failed(admission.error);
    const slot = open.slotNow(admission.value) ?? (yield* open.slotLater(admission.value));
    if (!slot.ok) return failed(slot.error);
    await using attempt = new Attempt(slot.value, open, generation, plane.host.log);
    const begun = await attempt.begin(policed.value);
    if (!begun.ok) return failed(begun.error);
    const ended = yield* relay(begun.value, open.live, slot.value);
    attempt.ended(ended.last);
    if (ended.reached) return ended.last;
    const { cluster } = slot.value;
    excluded.add(cluster);
    open.live.trace.push({ step: "attempt", outcome: `${cluster} unreachable` });
  }
}

/** A savepoint with nothing begun. */
function divideOutside(
  division: NonNullable<ReturnType<typeof readDivision>>,
  open: OpenQuery,
): LastEvent {
  if (!division.ok) return failed(division.error);
  const refused = divideNothing(division.value, open.query);
  if (refused !== undefined) return failed(refused);
  const updateType = wordsOf[division.value.kind];
  return { kind: "done", stats: open.live.stats(), updateType };
}

/** COMMIT or ROLLBACK with nothing begun: PostgreSQL and MySQL both answer success, unless another is to follow. */
async function* outsideTransaction(kind: "commit" | "rollback", open: OpenQuery): Stage {
  if (isChained(open.query)) {
    const message = `${kind.toUpperCase()} AND CHAIN can only be used in transaction blocks`;
    return failed(gatewayError("query.transaction", { sqlState: "25P01", message }));
  }
  yield { kind: "notice", code: "noTransaction", text: "there is no transaction in progress" };
  return { kind: "done", stats: open.live.stats(), updateType: kind.toUpperCase() };
}

export function failed(error: GatewayError): LastEvent {
  return { kind: "failed", error };
}
