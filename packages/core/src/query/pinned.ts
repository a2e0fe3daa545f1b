/**
 * Transactions: BEGIN takes a generation, a slot and a connection and keeps them in a pin; the
 * statements of the session run there one after the other until COMMIT, ROLLBACK, an idle limit, or
 * the client's leave. The pin owns what it holds and gives it back exactly once.
 */
import { gatewayError, type GatewayError } from "../error.ts";
import type { PinnedLane } from "../port/backend.ts";
import type { Slot } from "../port/capacity.ts";
import { err, type Result } from "../result.ts";
import type { HeldGeneration } from "../snapshot/generation.ts";
import { classifyStatement } from "../sql/classify/classify.ts";
import { abortedWith, Canceller } from "./canceller.ts";
import type { Description, LastEvent, Stage } from "./event.ts";
import type { OpenQuery } from "./lifecycle.ts";
import { endedWhenLost, lateLossOf, lossAskedOf, lossOf } from "./lost.ts";
import { PatientReader } from "./patience.ts";
import type { Pin } from "./pin.ts";
import { chain, divide, failedIn, isChained } from "./pinDivided.ts";
import { readDivision } from "./pinSavepoints.ts";
import { identify, placeOf, SessionPin } from "./pinSession.ts";
import type { DataPlane } from "./plane.ts";
import type { Query, Routed } from "./query.ts";
import { relay } from "./relay.ts";

export type TransactionStatement = "begin" | "commit" | "rollback";

/** Whether the statement begins or ends a transaction; undefined for everything else. */
export function transactionStatement(query: Query): TransactionStatement | undefined {
  const { kind } = classifyStatement(query.sql, query.session.dialect);
  return kind === "begin" || kind === "commit" || kind === "rollback" ? kind : undefined;
}

/** BEGIN: the same line as any query, but what it took stays with the pin. */
export async function* beginTransaction(open: OpenQuery, plane: DataPlane): Stage {
  const held = plane.generations.hold();
  if (!held.ok) return { kind: "failed", error: held.error };
  const { generation } = held.value;
  open.revision = generation.revision;
  let kept = false;
  try {
    const routed = await generation.route(open.query, open.live.trace, open.live.signal);
    if (!routed.ok) return { kind: "failed", error: routed.error };
    open.live.group = routed.value.group;
    const policed = generation.police(routed.value);
    if (!policed.ok) return { kind: "failed", error: policed.error };

    const admission = generation.admission(policed.value, new Set());
    if (!admission.ok) return { kind: "failed", error: admission.error };
    const granted = open.slotNow(admission.value) ?? (yield* open.slotLater(admission.value));
    if (!granted.ok) return { kind: "failed", error: granted.error };
    const slot = granted.value;
    const running = open.running(slot.cluster, generation);
    try {
      const lane = await openLane(routed.value, slot, held.value, open);
      if (!lane.ok) return { kind: "failed", error: lane.error };
      kept = true;
      const pin = new SessionPin(
        {
          generation: held.value,
          slot,
          lane: lane.value,
          running,
          routed: routed.value,
          idleMs: plane.idleInTransactionMs,
          lifeMs: generation.limits(routed.value.group).maxTransactionMs,
          begin: open.query,
        },
        plane.host.clock,
      );
      yield { kind: "session", change: { kind: "pinned", pin } };
      return { kind: "done", stats: open.live.stats(), updateType: "BEGIN" };
    } finally {
      if (!kept) {
        running[Symbol.dispose]();
        await slot[Symbol.asyncDispose]();
      }
    }
  } finally {
    if (!kept) held.value[Symbol.dispose]();
  }
}

async function openLane(
  routed: Routed,
  slot: Slot,
  hold: HeldGeneration,
  open: OpenQuery,
): Promise<Result<PinnedLane, GatewayError>> {
  const place = { routed, slot, generation: hold.generation };
  const identified = await identify(open.query, place, open.live.signal);
  if (!identified.ok) return identified;
  open.live.identified(identified.value);
  using tried = open.tried(slot.cluster, hold.generation);
  using _lost = endedWhenLost(slot, open.live);
  const lost = lossOf(slot) && (await lossAskedOf(slot));
  if (lost !== undefined) return err(lost);
  const lane = await hold.generation
    .backend(slot.cluster)
    .begin(identified.value, open.live.signal);
  if (!lane.ok) {
    tried.ended({ kind: "failed", error: lane.error });
    return lane;
  }
  const late = lateLossOf(slot);
  if (late === undefined) return lane;
  await lane.value[Symbol.asyncDispose]();
  return err(late);
}

/** A statement of a session in a transaction. */
export async function* runPinned(open: OpenQuery, pin: Pin): Stage {
  if (!(pin instanceof SessionPin)) throw new Error("a pin that this pipeline did not make");
  const { generation } = pin.held.generation;
  open.revision = generation.revision;
  open.live.group = pin.group;
  open.live.trace.push({ step: "transaction", outcome: pin.cluster });
  if (lossOf(pin.held.slot) !== undefined) await lossAskedOf(pin.held.slot);
  const taken = pin.take((reason) => open.live.cancel(reason));
  if (!taken.ok) {
    if (pin.state === "ended") yield { kind: "session", change: { kind: "unpinned" } };
    return { kind: "failed", error: taken.error };
  }
  using _lane = taken.value;
  open.live.ranOn(generation.backend(pin.cluster));
  open.live.started(pin.cluster, generation.limits(pin.group));

  const transaction = transactionStatement(open.query);
  if (transaction === "begin") {
    yield {
      kind: "notice",
      code: "inTransaction",
      text: "there is already a transaction in progress",
    };
    return { kind: "done", stats: open.live.stats(), updateType: "BEGIN" };
  }
  if (transaction !== undefined) return yield* endTransaction(transaction, open, pin);
  const division = readDivision(open.query);
  if (division !== undefined) return yield* divide(division, open, pin);
  if (pin.state === "aborted")
    return { kind: "failed", error: gatewayError("query.transactionAborted") };

  const refused = pin.readOnly ? writing(open.query) : undefined;
  if (refused !== undefined) return failedIn(pin, open, refused);

  const last = yield* executePinned(open, pin);
  return last.kind === "failed" ? failedIn(pin, open, last.error) : last;
}

/** Kinds that change something by what they are; a CALL or an EXECUTE is for the engine to judge. */
const changing: ReadonlySet<string> = new Set(["insert", "update", "delete", "merge", "ddl"]);

/**
 * Why the statement can not be in a transaction that only reads. Not every engine has those, or says so
 * in a way that a client can tell from a conflict.
 */
function writing({ sql, session }: Query): GatewayError | undefined {
  const { kind, tag } = classifyStatement(sql, session.dialect);
  if (!changing.has(kind)) return undefined;
  const message = `cannot execute ${tag} in a read-only transaction`;
  return gatewayError("query.transaction", { sqlState: "25006", message });
}

async function* executePinned(open: OpenQuery, pin: SessionPin): Stage {
  const { lane, points } = pin;
  const identified = await identify(open.query, placeOf(pin), open.live.signal);
  if (!identified.ok) return { kind: "failed", error: identified.error };
  open.live.identified(identified.value);
  points.run(open.query);
  const { slot } = pin.held;
  using _lost = endedWhenLost(slot, open.live);
  const { signal } = open.live;
  const events = new PatientReader(lane.execute(identified.value, signal), open.clock);
  using _patience = abortedWith(signal, { abort: () => events.aborted() });
  const { last } = yield* relay(events, open.live, slot);
  if (last.kind === "failed") points.fail(open.query);
  if (events.ignored) {
    // Nothing more can run on this connection. The slot follows the lane, which ends when the engine does.
    open.remains(pin.end());
    yield { kind: "session", change: { kind: "unpinned" } };
  }
  return last;
}

async function* endTransaction(
  wish: "commit" | "rollback",
  open: OpenQuery,
  pin: SessionPin,
): Stage {
  // COMMIT of an aborted transaction is a rollback, and says so.
  const kind = pin.state === "aborted" ? "rollback" : wish;
  const ended = await pin.lane[kind](open.live.signal);
  const chained = ended.ok && isChained(open.query) ? await chain(open, pin) : ended;
  if (!chained.ok || !isChained(open.query)) {
    await pin.end();
    yield { kind: "session", change: { kind: "unpinned" } };
  }
  const last: LastEvent = chained.ok
    ? { kind: "done", stats: open.live.stats(), updateType: kind.toUpperCase() }
    : { kind: "failed", error: pin.endedBy ?? chained.error };
  return last;
}

/** Describes a statement on the transaction's own connection, where its uncommitted tables are. */
export async function describePinned(
  query: Query,
  pin: Pin,
  signal: AbortSignal,
): Promise<Result<Description, GatewayError>> {
  if (!(pin instanceof SessionPin)) throw new Error("a pin that this pipeline did not make");
  if (pin.state === "aborted") return err(gatewayError("query.transactionAborted"));
  if (lossOf(pin.held.slot) !== undefined) await lossAskedOf(pin.held.slot);
  const ending = new Canceller();
  using _with = abortedWith(signal, ending);
  const taken = pin.take((reason) => ending.abort(reason));
  if (!taken.ok) return taken;
  using _lane = taken.value;
  const { lane } = pin;
  const identified = await identify(query, placeOf(pin), ending.signal);
  const described = identified.ok
    ? await lane.describe(identified.value, ending.signal)
    : identified;
  return described.ok || pin.endedBy === undefined ? described : err(pin.endedBy);
}
