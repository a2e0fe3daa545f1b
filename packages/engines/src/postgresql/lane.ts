/** Statements on one connection in order: one of the pool's for a statement, or a transaction's own. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { KeptLane } from "@gateway/core/port/backend.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import {
  settled,
  unlessRefused,
  waited,
  type Course,
  type Now,
  type Reading,
} from "@gateway/core/query/course.ts";
import { streamOf } from "@gateway/core/query/courseStream.ts";
import type { Description, ResultStream, SessionChange } from "@gateway/core/query/event.ts";
import type { BackendIdentity } from "@gateway/core/query/identity.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { ask, type Answer } from "./client/ask.ts";
import { Conversation } from "./client/conversation.ts";
import type { Member } from "./client/member.ts";
import type { Taken } from "./client/pool.ts";
import { columnsOf } from "./client/descriptions.ts";
import type { EarlyListener } from "./client/told.ts";
import { runCall, send, type Call, type Trace } from "./client/run.ts";
import { encodingOf } from "./client/reading.ts";
import { brought, standsThere, withoutOthers } from "./bringing.ts";
import { callOf, judgedIn, type CallContext } from "./call.ts";
import { Ending } from "./ending.ts";
import { brokenError, errorOf, textOf } from "./errors.ts";
import { broughtTo } from "./ownStatements.ts";
import { signalledFields, type Signalling } from "./page/signalled.ts";
import { parameterTypeOf } from "./types.ts";

/** What a statement runs with, apart from its connection. */
export interface RunContext extends CallContext {
  readonly clock: Clock;
  /** Lets the connection stay with its session. */
  readonly keep: (
    taken: Taken,
    identity: BackendIdentity,
    early: EarlyListener | undefined,
  ) => LookingLane;
  /** Asks the server to end what the connection runs; resolves when it was told. */
  readonly cancel: (member: Member) => Promise<boolean>;
}

/** A kept connection that asks its server what of the session is left there. */
export interface LookingLane extends KeptLane {
  look(signal: AbortSignal): Promise<void>;
}

/** How long a server may take to end a statement before its connection is thrown away. */
const endingMs = 10_000;

/** Runs one statement on a connection, which is marked where anything may be left on it. */
export function runOn(
  member: Member,
  query: Identified,
  context: RunContext,
  signal: AbortSignal,
): ResultStream {
  return streamOf(courseOn(member, query, context, signal));
}

/** The same as a course. */
export function* courseOn(
  member: Member,
  query: Identified,
  context: RunContext,
  signal: AbortSignal,
): Course {
  yield* courseNow(member, query, context, signal);
}

/** The same, for whoever begins it at once: the connection is made ready here where nothing has to be waited for. */
export function courseNow(
  member: Member,
  query: Identified,
  context: RunContext,
  signal: AbortSignal,
): Course {
  const parts = { member, query, context, signal };
  const readying = readied(parts);
  return "ok" in readying ? courseOfReady(parts, readying) : courseOnceReady(parts, readying);
}

function courseOfReady({ member, query, context, signal }: Readying, ready: Ready): Course {
  if (!ready.ok) return refusing(ready.error);
  return courseOfCall(member, { query, call: ready.value, ahead: false }, context, signal);
}

function* courseOnceReady(parts: Readying, readying: Reading<Ready>): Course {
  yield* courseOfReady(parts, yield* readying);
}

function* refusing(error: GatewayError): Course {
  yield { kind: "failed", error };
}

/** A statement as it is sent. */
export interface Sent {
  readonly query: Identified;
  readonly call: Call;
  /** It was, behind another. */
  readonly ahead: boolean;
}

/** What comes of a statement that was made ready, and is sent where it was not. */
export function* courseOfCall(
  member: Member,
  { query, call, ahead }: Sent,
  context: RunContext,
  signal: AbortSignal,
): Course {
  const trace: Trace = { open: ahead };
  const ending = new Ending(member, context);
  const abort = (): void => ending.begin();
  signal.addEventListener("abort", abort, { once: true });
  // The server refuses whatever comes behind a failure by itself.
  if (signal.aborted && member.status !== "E") abort();
  try {
    const running = runCall(member, call, context.clock, trace);
    for (let step = running.next(); step.done !== true;) {
      const event = step.value;
      if (event instanceof Promise) {
        // Here itself: each statement waits once at least.
        step = running.next(yield event);
        continue;
      }
      const last = event.kind === "done" || event.kind === "failed";
      if (last && trace.open) {
        yield* waited(drained(member, ending, context));
        trace.open = false;
      }
      if (last && ending.begun) yield* waited(ending.over());
      if (last && query.call !== undefined && member.encoding.name !== encodingOf(query.session))
        yield { kind: "session", change: encodingChange(member) };
      if (event.kind === "failed" && signal.aborted)
        yield { kind: "failed", error: gatewayError("query.cancelled") };
      else yield event;
      step = running.next();
    }
  } finally {
    signal.removeEventListener("abort", abort);
    if (trace.open && member.open) yield* waited(drained(member, ending, context));
    if (ending.begun) yield* waited(ending.over());
  }
}

/** The statement changed how its client and the server write, or took that back; the client is told as by the server. */
function encodingChange({ encoding }: Member): SessionChange {
  return { kind: "setting", name: "client_encoding", value: encoding.name };
}

interface Readying {
  readonly member: Member;
  readonly query: Identified;
  readonly context: RunContext;
  readonly signal: AbortSignal;
}

type Ready = Result<Call, GatewayError>;
type Made = Extract<Ready, { readonly ok: true }>;

/** Makes the connection ready for a statement. Answers what is to be sent, or why nothing is; waits only where it has to. */
function readied(parts: Readying): Now<Call> {
  const { member, query, signal } = parts;
  member.session = query.session.process;
  // Before it is looked up among what the connection keeps prepared.
  const leaving = withoutOthers(member, query, signal);
  return leaving === undefined ? called(parts) : unlessRefused(leaving, called, parts);
}

function called(parts: Readying): Now<Call> {
  const { member, query, context, signal } = parts;
  const call = callOf(member, query, context);
  if (!call.ok) return call;
  const forgetting = forgetSequences(member, query, context, signal);
  return forgetting === undefined
    ? bringing(parts, call)
    : unlessRefused(forgetting, bringing, parts, call);
}

function bringing(parts: Readying, call: Made): Now<Call> {
  const { member, query, context, signal } = parts;
  const bring = brought(member, query, context, signal);
  return bring === undefined ? listing(parts, call) : unlessRefused(bring, listing, parts, call);
}

function listing(parts: Readying, call: Made): Now<Call> {
  const { member, query, signal } = parts;
  const { finds } = call.value;
  if (finds === undefined) return asked(parts, call);
  return unlessRefused(broughtTo(finds, member, query, signal), asked, parts, call);
}

function asked({ signal }: Readying, call: Made): Ready {
  return signal.aborted ? err(gatewayError("query.cancelled")) : call;
}

/**
 * Sends a statement behind others that the server has not answered yet, and answers it as it was sent. Undefined where it
 * has to wait for them: something has to be asked before it, or it may leave something.
 */
export function sendAhead(
  member: Member,
  query: Identified,
  context: RunContext,
): Call | undefined {
  if (!isPlain(query, context) || !standsThere(member, query, context)) return undefined;
  const call = callOf(member, query, context);
  if (!call.ok) return undefined;
  member.session = query.session.process;
  member.sendBehind();
  send(member, call.value);
  return call.value;
}

/** It leaves nothing on its connection that another statement could find there. */
export function isPlain(query: Identified, context: RunContext): boolean {
  const { call } = query;
  if (call === undefined || call.simple || call.copy !== undefined) return false;
  const judged = judgedIn(query, context);
  if (!judged.ok) return false;
  const { leaves, lasting, stains, unsure, lists, signals } = judged.value;
  if (signals !== undefined) return false;
  return !leaves && lasting === undefined && !stains && !unsure && !lists;
}

/**
 * Asks the server something that it may have done before it hears of a cancel, as COMMIT. So its answer is waited for:
 * to leave without it would tell a client that nothing was committed where everything was.
 */
export async function askToEnd(
  member: Member,
  sql: string,
  context: RunContext,
  signal: AbortSignal,
): Promise<Result<Answer, GatewayError>> {
  await using ending = new LimitedEnding(member, context);
  return await ask(member, sql, signal, ending.begin);
}

/** The end of what is asked beside statements. The connection may hold a transaction, or be a session's: it goes on behind it. */
class LimitedEnding implements AsyncDisposable {
  readonly #ending: Ending;
  readonly #limited: () => Disposable;
  #limit: Disposable | undefined;

  constructor(member: Member, context: RunContext) {
    this.#ending = new Ending(member, context);
    this.#limited = () => context.clock.timer(endingMs, () => member.destroy());
  }

  readonly begin = (): void => {
    this.#limit ??= this.#limited();
    this.#ending.begin();
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.#limit?.[Symbol.dispose]();
    await this.#ending.over();
  }
}

/** Reads what the server still has to say, until it is ready. */
async function drained(member: Member, ending: Ending, { clock }: RunContext): Promise<void> {
  using _limit = clock.timer(endingMs, () => member.destroy());
  ending.begin();
  while (member.open) {
    const message = await member.skipped();
    if (message === undefined || message.kind === "ready") break;
  }
  await ending.over();
}

/** The last values of sequences are not shown to a statement of another session. In a transaction they were forgotten before it. */
function forgetSequences(
  member: Member,
  query: Identified,
  context: RunContext,
  signal: AbortSignal,
): Promise<GatewayError | undefined> | undefined {
  if (context.until !== "statement" || !member.sequences.others) return undefined;
  const judged = judgedIn(query, context);
  if (!judged.ok || !judged.value.readsSequences) return undefined;
  return withoutSequences(member, signal);
}

/** The same for whatever comes next on the connection. */
export async function withoutSequences(
  member: Member,
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  if (!member.sequences.others) return undefined;
  const done = await ask(member, "DISCARD SEQUENCES", signal);
  if (!done.ok) return done.error;
  member.sequences = { own: false, others: false };
  return undefined;
}

/**
 * Parameters and columns without running. So nothing is left either, and what will stay with the session once it runs
 * may be described on any connection.
 */
export async function describeOn(
  member: Member,
  query: Identified,
  context: RunContext,
  signal: AbortSignal,
): Promise<Result<Description, GatewayError>> {
  const until = context.pins === undefined ? context.until : "session";
  const made = callOf(member, query, { ...context, until });
  if (!made.ok) return made;
  const refused = await brought(member, query, context, signal);
  if (refused !== undefined) return err(refused);
  const { before, sent, types, finds, signalling } = made.value;
  // The server describes EXECUTE by what is prepared: nothing where that is missing, and another's where that is there.
  const executes = query.statement.kind === "execute";
  const unlisted = executes && finds && (await broughtTo(finds, member, query, signal));
  if (unlisted) return err(unlisted);
  if (signal.aborted) return err(gatewayError("query.cancelled"));
  await using ending = new LimitedEnding(member, context);
  signal.addEventListener("abort", ending.begin, { once: true });
  try {
    member.put({ kind: "parse", statement: "", sql: textOf(sent), types, before });
    member.put({ kind: "describe", target: "statement", name: "" });
    member.put({ kind: "sync" });
    member.flush();
    const talk = new Conversation(member, (report) => errorOf(report, sent));
    const described = await settled(descriptionOf(talk, query.call !== undefined, signalling));
    return described.ok || !signal.aborted ? described : err(gatewayError("query.cancelled"));
  } finally {
    signal.removeEventListener("abort", ending.begin);
  }
}

function* descriptionOf(
  talk: Conversation,
  native: boolean,
  signalling: Signalling | undefined,
): Reading<Result<Description, GatewayError>> {
  const failed = yield* talk.expect("parseComplete");
  const oids = failed ?? (yield* talk.parameters());
  const head = "kind" in oids ? oids : yield* talk.described();
  const broken = yield* talk.ready();
  if (head.kind === "failed") return err(head.error);
  if (broken !== undefined) return err(broken.error);
  if ("kind" in oids) return err(brokenError("a description without parameters"));
  const columns = columnsOf(signalledFields(head.fields, signalling), native);
  const described = { parameters: oids.map(parameterTypeOf), columns };
  return ok(native ? { ...described, parameterOids: oids } : described);
}
