/**
 * Statements of a session in a transaction: they run on the connection that BEGIN left in the pin, one after
 * the other, until COMMIT, ROLLBACK, an idle limit, or the client's leave.
 */
import { gatewayError, type GatewayError } from "../../error.ts";
import { err, type Result } from "../../result.ts";
import type { AskScan } from "../../guard/scan.ts";
import { asksModes } from "../../sql/session/statement.ts";
import type { Statement } from "../../sql/statement.ts";
import { abortedWith, Canceller } from "../../tool/canceller.ts";
import type { Host } from "../../port/host.ts";
import type { Description, LastEvent, ResultEvent, Stage } from "../../query/event.ts";
import type { OpenQuery } from "../step/lifecycle.ts";
import { endedWhenLost } from "../step/lost.ts";
import { PatientReader } from "../step/patience.ts";
import type { Pin } from "../../query/pin.ts";
import { chain, divide, failedIn } from "./divided.ts";
import { keptBehind } from "./kept.ts";
import { outcomeOf, preparing, wishOf, type EndWish } from "./wish.ts";
import { identify, ownPin, unlogged, type SessionPin, type Taken } from "./pinSession.ts";
import type { Query, QueryLimits } from "../../query/query.ts";
import { relay, type Relayed } from "../step/relay.ts";
import { courseOf, waited, type Course } from "../../query/course.ts";
import { streamOf } from "../../query/courseStream.ts";
import { warningsOf } from "../step/warnings.ts";

/** A statement of a session in a transaction. */
export function* runPinned(open: OpenQuery, sessionPin: Pin): Course<LastEvent> {
  const pin = ownPin(sessionPin);
  const { generation } = pin.held.generation;
  open.revision = generation.revision;
  open.live.group = pin.group;
  open.live.trace.push({ step: "transaction", outcome: pin.cluster });
  const behind = open.query.call?.behind === true;
  // The time of one that waits for others begins with its turn.
  const limits = { now: generation.limits(pin.group) };
  const started = (): void => open.live.started(pin.cluster, limits.now);
  const taking = pin.take((reason) => open.live.cancel(reason), behind ? started : undefined);
  const taken = taking instanceof Promise ? yield* waited(taking) : taking;
  if (!taken.ok) {
    if (pin.state === "ended")
      yield { kind: "session", change: { kind: "unpinned", outcome: "rolledBack" } };
    return { kind: "failed", error: taken.error };
  }
  using _lane = taken.value;
  open.live.ranOn(generation.backend(pin.cluster));
  if (!behind) started();

  const wish = wishOf(open.query);
  switch (wish?.kind) {
    case "begin":
      if (pin.state === "aborted") return { kind: "failed", error: aborted() };
      if (asksModes(open.query.statement.modes)) return failedIn(pin, open, modesAsked());
      yield { kind: "notice", code: "inTransaction", text: begunText };
      return { kind: "done", stats: open.live.stats(), updateType: "BEGIN" };
    case "commit":
    case "rollback":
      return yield* courseOf(endTransaction(wish, open, pin));
    case "divide":
      return yield* courseOf(divide(wish.division, open, pin));
    case undefined:
      break;
  }
  if (pin.state === "aborted") return { kind: "failed", error: aborted() };

  const isOurs = pin.lane.refusesWritesOf !== open.query.session.dialect;
  const refused = isOurs && pin.modes.readOnly === true ? writing(open.query.statement) : undefined;
  if (refused !== undefined) return failedIn(pin, open, refused);

  const last = yield* executePinned(open, pin, { taken: taken.value, limits });
  if (last.kind !== "failed") return last;
  // Those before it are not to be refused for it.
  const before = taken.value.place.alone();
  if (before !== undefined) yield* waited(before);
  return failedIn(pin, open, last.error);
}

function aborted(): GatewayError {
  return gatewayError("query.transactionAborted");
}

/** Why a BEGIN is refused in a transaction: a server would give its modes to the one that is open. */
export function modesAsked(): GatewayError {
  const message = "a transaction is open: SET TRANSACTION tells its modes";
  return gatewayError("query.unsupported", { message });
}

const begunText = "there is already a transaction in progress";

/** Kinds that change something by what they are; a CALL or an EXECUTE is for the engine to judge. */
const changing: ReadonlySet<string> = new Set(["insert", "update", "delete", "merge", "ddl"]);

/**
 * Why the statement may not run in a read-only transaction. Some engines have none, and some refuse in a way
 * that a client can not tell from a conflict.
 */
function writing({ kind, tag }: Statement): GatewayError | undefined {
  if (!changing.has(kind)) return undefined;
  const message = `cannot execute ${tag} in a read-only transaction`;
  return gatewayError("query.transaction", { sqlState: "25006", message });
}

interface Executing {
  readonly taken: Taken;
  /** Which limits hold from its start on. */
  readonly limits: { now: QueryLimits };
}

function* executePinned(
  open: OpenQuery,
  pin: SessionPin,
  { taken, limits }: Executing,
): Course<LastEvent> {
  const { lane, points } = pin;
  const { signal } = open.live;
  const identifying = identify(open.query, pin, open.live, signal);
  const identified = identifying instanceof Promise ? yield* waited(identifying) : identifying;
  if (!identified.ok) return { kind: "failed", error: identified.error };
  open.live.identified(identified.value);
  const { guarded } = identified.value;
  if (guarded !== undefined) {
    if (open.live.state === "running") open.live.narrowed(guarded.limits);
    else limits.now = guarded.limits;
    yield* warningsOf(guarded);
  }
  const { generation } = pin.held.generation;
  const askScan: AskScan = (query) => lane.estimateScan?.(query, signal);
  const asking = generation.late(identified.value, { log: open.live, askScan }, signal);
  const late = asking && (yield* waited(asking));
  if (late?.ok === false) return { kind: "failed", error: late.error };
  if (late !== undefined) yield* warningsOf({ warnings: late.value });
  const before = taken.place.toSend();
  if (before !== undefined) yield* waited(before);
  if (pin.state === "aborted") return { kind: "failed", error: aborted() };
  points.run(open.query.statement);
  const { slot } = pin.held;
  using _lost = endedWhenLost(slot, open.live);
  const executing =
    lane.course?.(identified.value, signal) ?? lane.execute(identified.value, signal);
  const events = new PatientReader(executing, open.clock, () => taken.place.sent());
  using _patience = abortedWith(signal, { abort: () => events.aborted() });
  const relaying = relay(events, open.live, slot);
  const waits = open.query.mysql?.execution?.cursor !== undefined;
  const { last } = yield* waits ? courseOf(lending(streamOf(relaying), taken)) : relaying;
  if (last.kind === "failed") points.fail(open.query.statement);
  else points.succeed(open.query.statement);
  if (events.ignored) {
    // Nothing more can run on this connection. The slot is released after the lane, which ends with the engine's work.
    open.remains(pin.end());
    yield { kind: "session", change: { kind: "unpinned", outcome: "rolledBack" } };
  }
  return last;
}

/** A cursor of the server's: between two fetches other statements of the transaction run on its connection. */
async function* lending(
  events: AsyncGenerator<ResultEvent, Relayed, void>,
  taken: Taken,
): AsyncGenerator<ResultEvent, Relayed, void> {
  try {
    for (;;) {
      const step = await events.next();
      if (step.done === true) return step.value;
      taken.lend();
      yield step.value;
      const late = taken.back();
      if (late !== undefined) return { last: { kind: "failed", error: late }, reached: true };
    }
  } finally {
    await events.return(unreached);
  }
}

/** What a stream that is left says to nobody. */
const unreached: Relayed = {
  last: { kind: "failed", error: gatewayError("query.cancelled") },
  reached: true,
};

async function* endTransaction(wish: EndWish, open: OpenQuery, pin: SessionPin): Stage {
  // COMMIT of an aborted transaction is a rollback, and says so.
  const kind = pin.state === "aborted" ? "rollback" : wish.kind;
  const prepares = wish.prepares && kind === "commit";
  // Who decides it later counts on its waiting: an engine that would commit it at once must not be asked.
  if (prepares && pin.lane.prepare === undefined) {
    const message = "the engine has no PREPARE TRANSACTION";
    return failedIn(pin, open, gatewayError("query.unsupported", { message }));
  }
  const { signal } = open.live;
  const preparation = prepares ? pin.lane.prepare?.(open.query.statement, signal) : undefined;
  const ended = await (preparation ??
    pin.lane[kind](signal, wish.chain ? open.query.session : undefined));
  const chained = ended.ok && wish.chain ? await chain(open, pin) : ended;
  const outcome = ended.ok ? outcomeOf[kind] : "rolledBack";
  if (chained.ok && wish.chain) {
    yield { kind: "session", change: { kind: "chained", outcome } };
  } else {
    const kept = ended.ok ? await keptBehind(pin, open) : undefined;
    if (kept === undefined) await pin.end();
    yield { kind: "session", change: { kind: "unpinned", outcome } };
    if (kept !== undefined) yield { kind: "session", change: { kind: "kept", kept } };
  }
  const last: LastEvent = chained.ok
    ? {
        kind: "done",
        stats: open.live.stats(),
        updateType: prepares ? preparing : kind.toUpperCase(),
      }
    : { kind: "failed", error: pin.endedBy ?? chained.error };
  return last;
}

/**
 * Describes a statement on the transaction's own connection, which sees its uncommitted tables. The engine has
 * to plan the statement, so this may take as long as a query of the group.
 */
export async function describePinned(
  query: Query,
  sessionPin: Pin,
  { clock }: Pick<Host, "clock">,
  signal: AbortSignal,
): Promise<Result<Description, GatewayError>> {
  const pin = ownPin(sessionPin);
  if (pin.state === "aborted") return err(gatewayError("query.transactionAborted"));
  const ending = new Canceller();
  using _with = abortedWith(signal, ending);
  const taken = await pin.take((reason) => ending.abort(reason));
  if (!taken.ok) return taken;
  using _lane = taken.value;
  const { lane } = pin;
  const identified = await identify(query, pin, unlogged, ending.signal);
  const { maxExecutionMs } =
    (identified.ok ? identified.value.guarded?.limits : undefined) ??
    pin.held.generation.generation.limits(pin.group);
  using _limit =
    maxExecutionMs === undefined
      ? undefined
      : clock.timer(maxExecutionMs, () => ending.abort(gatewayError("query.timeout")));
  const described = identified.ok
    ? await lane.describe(identified.value, ending.signal)
    : identified;
  return described.ok || pin.endedBy === undefined ? described : err(pin.endedBy);
}
