/**
 * Statements and transactions of a session that keeps its connection: they run there, in its slot. What a session
 * leaves on a connection (a temporary table, a lock, LISTEN) would be lost on one that is shared, so the connection
 * stays with it for as long as anything is left there.
 */
import { gatewayError, type GatewayError } from "../../error.ts";
import type { AskScan } from "../../guard/scan.ts";
import type { PolicyLog } from "../../guard/told.ts";
import type { KeptLane } from "../../port/backend.ts";
import type { Host } from "../../port/host.ts";
import type { Description, LastEvent, Stage } from "../../query/event.ts";
import type { Kept } from "../../query/pin.ts";
import type { Identified, Query } from "../../query/query.ts";
import { routedTo } from "../../query/stages.ts";
import { err, ok, type Result } from "../../result.ts";
import type { Generation } from "../../snapshot/generation.ts";
import { abortedWith, Canceller } from "../../tool/canceller.ts";
import type { Question } from "../step/ask.ts";
import type { Attempt } from "../step/attempt.ts";
import { identifiedOn } from "../step/identified.ts";
import type { OpenQuery } from "../step/lifecycle.ts";
import { endedWhenLost } from "../step/lost.ts";
import { PatientReader } from "../step/patience.ts";
import type { DataPlane } from "../step/plane.ts";
import { relay, type Relayed } from "../step/relay.ts";
import { streamOf } from "../../query/courseStream.ts";
import { warningsOf } from "../step/warnings.ts";
import type { Way } from "../step/way.ts";
import { KeptSession, ownKept, type HeldForSession } from "./keptSession.ts";
import { SessionPin, unlogged } from "./pinSession.ts";

const keeping: Question<KeptLane> = {
  ask: async (backend, query, signal) =>
    (await backend.keep?.(query, signal)) ?? err(gatewayError("query.unsupported")),
  undo: async (lane) => await lane[Symbol.asyncDispose](),
};

/** What a statement that may keep its connection runs with. */
export interface Keeping {
  readonly attempt: Attempt;
  readonly way: Way;
  readonly query: Identified;
}

/** Runs a statement that may leave something behind. Its session is told to keep the connection where it did. */
export async function* keepAndRun(
  { attempt, way, query }: Keeping,
  open: OpenQuery,
): Stage<Relayed> {
  const asked = await attempt.ask(keeping, query);
  if (!asked.ok) {
    const reached = asked.error.code !== "cluster.connectFailed" || open.signal.aborted;
    return { last: failed(asked.error), reached };
  }
  const parts = { ...attempt.keep(), lane: asked.value, routed: way.policed };
  const kept = new KeptSession({ generation: way.keep(), ...parts });
  let stays = false;
  try {
    const taken = await kept.take((reason) => open.live.cancel(reason));
    if (!taken.ok) return { last: failed(taken.error), reached: true };
    using _lane = taken.value;
    const last = yield* passed(open, kept, query);
    const { keeps } = asked.value;
    stays = kept.state === "open" && keeps !== undefined;
    if (stays) {
      open.live.trace.push({ step: "kept", outcome: `${kept.cluster}: ${keeps ?? ""}` });
      yield { kind: "session", change: { kind: "kept", kept } };
    }
    return { last, reached: true };
  } finally {
    // Where the engine ignored its cancel, its end is waited for elsewhere.
    if (!stays && kept.state === "open") await kept.end();
  }
}

/** A statement of a session that keeps its connection. */
export async function* runKept(open: OpenQuery, sessionKept: Kept, plane: DataPlane): Stage {
  const kept = ownKept(sessionKept);
  const entered = await enter(open, kept, plane);
  if (!entered.ok) {
    if (kept.state === "ended") yield released;
    return failed(entered.error);
  }
  const { query, busy } = entered.value;
  using _lane = busy;
  const { guarded } = query;
  if (guarded !== undefined) {
    open.live.narrowed(guarded.limits);
    yield* warningsOf(guarded);
  }
  const last = yield* guardedLate(open, { kept, query, active: plane.generations.active });
  const { keeps } = kept.held.lane;
  if (kept.state === "ended") yield released;
  else if (keeps === undefined) {
    await kept.end();
    yield released;
  }
  return last;
}

/** BEGIN of a session that keeps its connection: the transaction is on that one, in the slot that it has. */
export async function* beginKept(open: OpenQuery, sessionKept: Kept, plane: DataPlane): Stage {
  const kept = ownKept(sessionKept);
  const entered = await enter(open, kept, plane);
  if (!entered.ok) {
    if (kept.state === "ended") yield released;
    return failed(entered.error);
  }
  const { query, busy } = entered.value;
  using _lane = busy;
  const begun = await kept.held.lane.begin(query, open.live.signal);
  if (!begun.ok) {
    if (kept.state === "ended") yield released;
    return failed(begun.error);
  }
  const { generation } = kept.held.generation;
  const held = {
    ...heldByKept(kept),
    lane: begun.value,
    idleMs: plane.idleInTransactionMs,
    lifeMs: generation.limits(kept.group).maxTransactionMs,
    begin: open.query,
  };
  const pin = new SessionPin(held, plane.host.clock);
  const { modes } = open.query.statement;
  yield { kind: "session", change: { kind: "pinned", pin, modes } };
  return { kind: "done", stats: open.live.stats(), updateType: "BEGIN" };
}

/** What a transaction holds of what its session keeps: nothing that it would give back. */
export function heldByKept({
  held: { generation, slot, routed },
}: KeptSession): Omit<HeldForSession, "lane"> {
  return {
    generation: { generation: generation.generation, leave: nothing, [Symbol.dispose]: nothing },
    slot: lent(slot),
    running: { [Symbol.dispose]: nothing },
    routed,
  };
}

/**
 * What a transaction leaves to its session: the connection with all that the pin held, when something is left on it.
 * The pin is over with it.
 */
export async function keptBehind(
  pin: SessionPin,
  open: OpenQuery,
): Promise<KeptSession | undefined> {
  const { generation, slot, running, routed } = pin.held;
  const lane = await pin.lane.kept?.(open.live.signal);
  if (lane === undefined) return undefined;
  if (!pin.handOver()) {
    await lane[Symbol.asyncDispose]();
    return undefined;
  }
  open.live.trace.push({ step: "kept", outcome: `${pin.cluster}: ${lane.keeps ?? ""}` });
  return new KeptSession({ generation, slot, running, lane, routed });
}

/** Describes a statement on the session's own connection, which alone knows its temporary tables. */
export async function describeKept(
  query: Query,
  sessionKept: Kept,
  { host, generations }: Pick<DataPlane, "host" | "generations">,
  signal: AbortSignal,
): Promise<Result<Description, GatewayError>> {
  const kept = ownKept(sessionKept);
  const ending = new Canceller();
  using _with = abortedWith(signal, ending);
  const taken = await kept.take((reason) => ending.abort(reason));
  if (!taken.ok) return taken;
  using _lane = taken.value;
  using _limit = limitOf(kept, ending, host);
  const identified = await identify(
    query,
    kept,
    { active: generations.active, log: unlogged },
    ending.signal,
  );
  if (!identified.ok) return identified;
  return await kept.held.lane.describe(identified.value, ending.signal);
}

function limitOf(
  { held, group }: KeptSession,
  ending: Canceller,
  { clock }: Pick<Host, "clock">,
): Disposable | undefined {
  const { maxExecutionMs } = held.generation.generation.limits(group);
  if (maxExecutionMs === undefined) return undefined;
  return clock.timer(maxExecutionMs, () => ending.abort(gatewayError("query.timeout")));
}

interface Entered {
  readonly query: Identified;
  readonly busy: Disposable;
}

/** Takes the connection for a statement. A user who is gone keeps none. */
async function enter(
  open: OpenQuery,
  kept: KeptSession,
  { generations }: DataPlane,
): Promise<Result<Entered, GatewayError>> {
  const { active } = generations;
  const { generation } = kept.held.generation;
  open.revision = generation.revision;
  open.live.group = kept.group;
  const why = kept.held.lane.keeps ?? "";
  open.live.trace.push({ step: "kept", outcome: `${kept.cluster}: ${why}` });
  if (active !== undefined && active.renew(open.query.session.identity) === undefined) {
    await kept.end();
    return err(gatewayError("auth.expired"));
  }
  const taken = await kept.take((reason) => open.live.cancel(reason));
  if (!taken.ok) return taken;
  open.live.ranOn(generation.backend(kept.cluster));
  open.live.started(kept.cluster, generation.limits(kept.group));
  const identified = await identify(open.query, kept, { active, log: open.live }, open.live.signal);
  if (!identified.ok) {
    taken.value[Symbol.dispose]();
    return identified;
  }
  open.live.identified(identified.value);
  return ok({ query: identified.value, busy: taken.value });
}

/** A session may keep a connection for days, so it is policed by the configuration that is active, not by the one it began with. */
function judging({ held }: Pick<KeptSession, "held">, active: Generation | undefined): Generation {
  return active?.members(held.routed.group).length ? active : held.generation.generation;
}

async function identify(
  query: Query,
  { held }: Pick<KeptSession, "held">,
  { active, log }: { readonly active: Generation | undefined; readonly log: PolicyLog },
  signal: AbortSignal,
): Promise<Result<Identified, GatewayError>> {
  const { routed, slot } = held;
  const { generation } = held.generation;
  const judge = judging({ held }, active);
  const tagged = judge.tagged(routedTo(query, routed.group, routed.trace));
  const police = judge.police(tagged, log, signal);
  const policed = police instanceof Promise ? await police : police;
  if (!policed.ok) return policed;
  return await identifiedOn(slot, policed.value, generation, signal);
}

/** Runs it where guards have nothing against what its engine is sent. */
async function* guardedLate(
  open: OpenQuery,
  { kept, query, active }: { kept: KeptSession; query: Identified; active: Generation | undefined },
): Stage {
  const { signal } = open.live;
  const askScan: AskScan = (asked) => kept.held.lane.estimateScan?.(asked, signal);
  const late = await judging(kept, active).late(query, { log: open.live, askScan }, signal);
  if (late?.ok === false) return failed(late.error);
  if (late !== undefined) yield* warningsOf({ warnings: late.value });
  return yield* passed(open, kept, query);
}

/** Runs it on the kept connection. */
async function* passed(open: OpenQuery, kept: KeptSession, query: Identified): Stage {
  const { slot, lane } = kept.held;
  using _lost = endedWhenLost(slot, open.live);
  const { signal } = open.live;
  const events = new PatientReader(lane.execute(query, signal), open.clock);
  using _patience = abortedWith(signal, { abort: () => events.aborted() });
  const { last } = yield* streamOf(relay(events, open.live, slot));
  // Nothing more can run on this connection. The slot is released after the engine's work.
  if (events.ignored) open.remains(kept.end());
  return last;
}

/** The slot of the session, which its transaction does not give back. */
function lent(slot: KeptSession["held"]["slot"]): KeptSession["held"]["slot"] {
  const { cluster, fence, holder, lease } = slot;
  const own = { cluster, fence, holder, [Symbol.asyncDispose]: () => Promise.resolve() };
  return lease === undefined ? own : { ...own, lease };
}

const released = { kind: "session", change: { kind: "released" } } as const;

function failed(error: GatewayError): LastEvent {
  return { kind: "failed", error };
}

function nothing(): void {}
