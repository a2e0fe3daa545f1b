/** Statements of MySQL's own clients on one connection in order: one of the pool's, a transaction's, or a session's own. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { PinnedLane } from "@gateway/core/port/backend.ts";
import {
  courseOf,
  endCourse,
  waited,
  type Course,
  type Reading,
} from "@gateway/core/query/course.ts";
import { streamOf } from "@gateway/core/query/courseStream.ts";
import type { Description, ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import { noBackendIdentity, type BackendIdentity } from "@gateway/core/query/identity.ts";
import { settingsOf } from "@gateway/core/query/mysqlCall.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";
import { tagComment } from "@gateway/core/query/tag.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Division } from "@gateway/core/sql/session/statement.ts";
import { aftermath, leavesMore } from "../starRocks/client/aftermath.ts";
import { ask } from "../starRocks/client/control.ts";
import { describeText } from "../starRocks/client/describe.ts";
import { set, use } from "../starRocks/lane.ts";
import { withQuestions } from "../starRocks/sql/parameters.ts";
import { quoteIdentifier } from "../starRocks/sql/quote.ts";
import {
  admittedOn,
  isCalled,
  type Admitted,
  type Asking,
  type Called,
  type RunContext,
} from "./admission.ts";
import { bring } from "./client/bring.ts";
import { cancelled, drained, isParked, settled, waitingAt } from "./client/ending.ts";
import { runStatement, type Statement, type Trace } from "./client/run.ts";
import type { Seat } from "./client/seat.ts";
import { stillBusy, transactionOver } from "./errors.ts";
import { judge } from "./sql/guard.ts";
import { ownIn } from "./sql/own.ts";
import { textFor } from "./sql/strings.ts";

/** How long a server may take to end a statement before its connection is thrown away. */
const endingMs = 10_000;

/** Runs one statement on a connection, which is marked where anything may be left on it. */
export function* courseOn(
  seat: Seat,
  query: Called,
  context: RunContext,
  signal: AbortSignal,
): Course {
  const { member } = seat;
  if (seat.busy) {
    yield failed(stillBusy);
    return;
  }
  if (!member.quiet) {
    member.destroy();
    yield failed(gatewayError("engine.broken", { detail: "bytes that nobody asked for" }));
    return;
  }
  seat.busy = true;
  try {
    const bringing = bring(seat, query, context, signal);
    const brought = bringing && (yield* waited(bringing));
    if (brought === undefined) yield* broughtOn(seat, query, context, signal);
    else yield failed(brought);
  } finally {
    seat.busy = false;
  }
}

/** Runs it on a connection that stands where its session does. */
function broughtOn(
  seat: Seat,
  query: Called,
  context: RunContext,
  signal: AbortSignal,
): Course<unknown> {
  const { database, variables } = ownIn(query.engineSql);
  if (database !== undefined) return courseOf(use(seat.member, database, context, signal));
  if (variables !== undefined) return courseOf(set(seat.member, variables, context, signal));
  const asking = { seat, query, context, signal, localFiles: false, sent: "" };
  const admission = admittedOn(asking);
  if (!("ok" in admission)) return admittedLater(asking, admission);
  return admission.ok ? sending(asking) : refusing(admission.error);
}

function* refusing(error: GatewayError): Course {
  yield failed(error);
}

function* admittedLater(asking: Asking, admitting: Reading<Admitted>): Course {
  const admission = yield* admitting;
  if (admission.ok) yield* sending(asking);
  else yield failed(admission.error);
}

function sending(asking: Asking): Course {
  const { seat, query, context, signal } = asking;
  const statement = statementOf(seat, query, asking, signal);
  return running(seat, query, { context, statement }, signal);
}

/** A statement as it is sent. */
function statementOf(
  { member }: Seat,
  query: Called,
  { context, localFiles, sent }: Pick<Asking, "context" | "localFiles" | "sent">,
  signal: AbortSignal,
): Statement {
  const { mysql: call } = query;
  const { clock } = context;
  const { tag } = query.statement;
  const native = query.takes.includes("mysqlRows");
  const mayComeWhole = context.whole === true;
  const isSent = false;
  return {
    member,
    clock,
    query,
    sent,
    tag,
    call,
    native,
    mayComeWhole,
    localFiles,
    signal,
    isSent,
  };
}

/** Runs it, or goes on with one that was sent. */
export function* running(
  seat: Seat,
  query: Called,
  { context, statement }: { readonly context: RunContext; readonly statement: Statement },
  signal: AbortSignal,
): Course {
  const { member } = seat;
  const { engineSql: sql, session, mysql: call } = query;
  const { clock } = context;
  const trace: Trace = { open: false, warnings: 0 };
  let ending: Promise<void> | undefined;
  let limit: Disposable | undefined;
  /** Ends it in the server, once. A cancel that comes late must not meet the connection's next statement. */
  const end = (): Promise<void> => {
    seat.used = true;
    if (isParked(call, trace)) return Promise.resolve();
    // A server that was told and goes on all the same is left.
    limit ??= clock.timer(endingMs, () => member.destroy());
    ending ??= cancelled(seat, context.cancel);
    return ending;
  };
  const abort = (): void => void end();
  heard(signal, abort, statement);
  const events = runStatement(statement, trace);
  try {
    for (let step = events.next(); step.done !== true;) {
      const event = step.value;
      if (event instanceof Promise) {
        // Here itself: each statement waits once at least.
        step = events.next(yield event);
        continue;
      }
      const last = event.kind === "done" || event.kind === "failed";
      // The server did not speak as it must, and nobody knows what it will say next.
      if (last && trace.open) member.destroy();
      if (last && ending !== undefined) yield* waited(settled(seat, ending, signal));
      const lent = lentAt(event, seat, { query, trace, context });
      if (event.kind === "failed" && signal.aborted) {
        yield failed(gatewayError("query.cancelled"));
      } else if (event.kind === "done" && ending === undefined && leavesMore(sql, event, trace)) {
        yield* saidBehind(seat, { sql, session, done: event, ...trace }, signal);
      } else if (lent === undefined) yield event;
      else yield* waitingAt(seat, event, lent);
      step = events.next();
    }
  } finally {
    signal.removeEventListener("abort", abort);
    if (trace.open && member.open) yield* waited(drained(seat, events, { trace, end }));
    if (ending !== undefined) yield* waited(ending);
    if (call.execution?.cursor !== undefined) yield* waited(endCourse(events));
    limit?.[Symbol.dispose]();
  }
}

/** Hears of an abort; of a statement that was sent before anybody could, also of one that was. */
function heard(signal: AbortSignal, abort: () => void, { isSent }: Statement): void {
  signal.addEventListener("abort", abort, { once: true });
  if (isSent && signal.aborted) abort();
}

/** Behind a fetch of a cursor, where its connection may be lent. */
function lentAt(
  { kind }: ResultEvent,
  seat: Seat,
  asked: { readonly query: Called; readonly trace: Trace; readonly context: RunContext },
): Disposable | undefined {
  const { query, trace, context } = asked;
  const waits = (kind === "columns" || kind === "batch") && isParked(query.mysql, trace);
  return waits ? context.lend?.(seat, query) : undefined;
}

/** What the server says behind a statement, with its status as the statement left it. */
function* saidBehind(
  seat: Seat,
  finished: Parameters<typeof aftermath>[1],
  signal: AbortSignal,
): Course {
  const { tainted } = seat.member;
  const events = yield* waited(aftermath(seat.member, finished, signal));
  if (seat.member.tainted && !tainted) seat.used = true;
  // One by one: a list that is delegated to can not be ended early.
  for (const event of events) yield event;
}

/** Parameters and columns without running, as the server prepares it. */
export async function describeOn(
  seat: Seat,
  query: Called,
  context: RunContext,
  signal: AbortSignal,
): Promise<Result<Description, GatewayError>> {
  if (seat.busy) return err(stillBusy);
  const judged = judge(query.engineSql, context);
  if (!judged.ok) return judged;
  seat.busy = true;
  try {
    const brought = await bring(seat, { ...query, takes: relayed }, context, signal);
    if (brought !== undefined) return err(brought);
    const asked = withQuestions(query.engineSql);
    if (!asked.ok) return asked;
    const reading = { slices: context.slices, user: query.session.identity.user, signal };
    const read = await textFor(seat.member, asked.value.sql, reading);
    if (!read.ok) return read;
    const text = `${tagComment(query)}${settingsOf(query.mysql)}${read.value}`;
    const { extendedMetadata } = query.mysql;
    const described = await describeText(seat.member, text, signal, extendedMetadata);
    if (!described.ok) return described;
    const { columns, native, parameters } = described.value;
    const places = Array.from({ length: parameters }, () => ({ kind: "null" }) as const);
    return ok({ parameters: places, columns, native: { format: "mysqlRows", ...native } });
  } finally {
    seat.busy = false;
  }
}

/** Definitions go on as packets, whoever asks for them. */
const relayed: Called["takes"] = ["mysqlRows"];

/** What a lane has from its BEGIN. */
export interface Begun {
  readonly seat: Seat;
  readonly identity: BackendIdentity;
  /** Gives the connection back, unless it is the session's own. */
  readonly giveBack: () => Promise<void>;
}

/** A transaction on a connection of its own, which does one thing at a time. */
export class MysqlLane implements PinnedLane {
  readonly refusesWritesOf = "mysql";
  readonly #begun: Begun;
  readonly #context: RunContext;
  #open = true;
  /** The server began the next one as it ended this one. */
  #chained = false;
  #closed = false;

  constructor(begun: Begun, context: RunContext) {
    this.#begun = begun;
    this.#context = context;
  }

  async *execute(query: Identified, signal: AbortSignal): ResultStream {
    const called = this.#called(query);
    if (!called.ok) return yield failed(called.error);
    yield* streamOf(courseOn(this.#begun.seat, called.value, this.#context, signal));
  }

  async describe(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    const called = this.#called(query);
    if (!called.ok) return called;
    return await describeOn(this.#begun.seat, called.value, this.#context, signal);
  }

  commit(signal: AbortSignal, chains?: Session): Promise<Result<void, GatewayError>> {
    return this.#end("COMMIT", chains !== undefined, signal);
  }

  rollback(signal: AbortSignal, chains?: Session): Promise<Result<void, GatewayError>> {
    return this.#end("ROLLBACK", chains !== undefined, signal);
  }

  /** Of a chain alone, whose next transaction the server began on the same connection. */
  async again(): Promise<Result<PinnedLane, GatewayError>> {
    if (this.#closed || !this.#chained) return err(transactionOver);
    this.#closed = true;
    return ok(new MysqlLane(this.#begun, this.#context));
  }

  async divide({ kind, name }: Division, signal: AbortSignal): Promise<Result<void, GatewayError>> {
    if (this.#closed || !this.#open) return err(transactionOver);
    const { seat } = this.#begun;
    if (seat.busy) return err(stillBusy);
    const done = await ask(seat.member, `${divisionWords[kind]} ${quoteIdentifier(name)}`, signal);
    return done.ok ? ok(undefined) : done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const { seat, giveBack } = this.#begun;
    if (this.#open || this.#chained) await this.#rolledBack();
    if (!seat.kept) await giveBack();
  }

  /** Whoever left in the middle: a connection that does not come back to rest is closed, which rolls back too. */
  async #rolledBack(): Promise<void> {
    const { seat } = this.#begun;
    seat.used = true;
    if (seat.busy) {
      if (seat.member.open) await this.#context.cancel(seat);
      seat.member.destroy();
      return;
    }
    if (!seat.member.open) return;
    const limit = new AbortController();
    using _limit = this.#context.clock.timer(endingMs, () => limit.abort());
    const done = await ask(seat.member, "ROLLBACK", limit.signal);
    if (!done.ok) seat.member.destroy();
  }

  #called(query: Identified): Result<Called, GatewayError> {
    if (this.#closed || !this.#open) return err(transactionOver);
    const { backendIdentity, group } = query;
    if (nameOf(backendIdentity) !== nameOf(this.#begun.identity)) {
      const detail = "the transaction is another's";
      return err(noBackendIdentity(backendIdentity.mode, group, { detail }));
    }
    return isCalled(query) ? ok(query) : err(transactionOver);
  }

  async #end(
    sql: "COMMIT" | "ROLLBACK",
    chains: boolean,
    signal: AbortSignal,
  ): Promise<Result<void, GatewayError>> {
    if (this.#closed || !this.#open) return err(transactionOver);
    const { seat } = this.#begun;
    if (seat.busy) return err(stillBusy);
    if (signal.aborted) return err(gatewayError("query.cancelled"));
    // The server ends no COMMIT, and to leave without its answer would tell a client that nothing was committed.
    const limit = new AbortController();
    let timer: Disposable | undefined;
    const wait = (): void => {
      timer ??= this.#context.clock.timer(endingMs, () => limit.abort());
    };
    signal.addEventListener("abort", wait, { once: true });
    const done = await ask(seat.member, chains ? `${sql} AND CHAIN` : sql, limit.signal);
    signal.removeEventListener("abort", wait);
    timer?.[Symbol.dispose]();
    if (!done.ok) return done;
    this.#open = false;
    this.#chained = chains;
    return ok(undefined);
  }
}

function nameOf(identity: BackendIdentity): string | undefined {
  return identity.mode === "passthrough" ? identity.principal : undefined;
}

const divisionWords = {
  savepoint: "SAVEPOINT",
  releaseSavepoint: "RELEASE SAVEPOINT",
  rollbackToSavepoint: "ROLLBACK TO SAVEPOINT",
} as const satisfies Record<Division["kind"], string>;

function failed(error: GatewayError): Extract<ResultEvent, { kind: "failed" }> {
  return { kind: "failed", error };
}
