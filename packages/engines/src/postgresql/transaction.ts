/** Transactions: each on a connection of its own until it is over, one statement at a time. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { KeptLane, PinnedLane, ScanEstimate } from "@gateway/core/port/backend.ts";
import { waited, type Course } from "@gateway/core/query/course.ts";
import { streamOf } from "@gateway/core/query/courseStream.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import { noBackendIdentity, type BackendIdentity } from "@gateway/core/query/identity.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Division } from "@gateway/core/sql/session/statement.ts";
import type { Statement } from "@gateway/core/sql/statement.ts";
import { ask } from "./client/ask.ts";
import type { Taken } from "./client/pool.ts";
import { EarlyListener } from "./client/told.ts";
import type { Call } from "./client/run.ts";
import { estimateOn } from "./estimate.ts";
import { nameOf } from "./identity.ts";
import {
  askToEnd,
  courseOfCall,
  describeOn,
  courseOn,
  isPlain,
  sendAhead,
  withoutSequences,
  type RunContext,
  type Sent,
} from "./lane.ts";
import { brought } from "./bringing.ts";
import { judgedIn } from "./call.ts";
import { changedModes, openingOf, type Told } from "./sql/modes.ts";
import { preparationOf } from "./sql/preparation.ts";
import { quoteIdentifier } from "./sql/quote.ts";

/** What a lane has from its BEGIN. */
export interface Begun {
  readonly taken: Taken;
  readonly identity: BackendIdentity;
  readonly told: Told;
  /** The connection was its session's before, and is behind it. */
  readonly lent: boolean;
}

/** What it runs with. `lent`: on a connection that its session keeps. */
export type BeginContext = RunContext & { readonly lent: boolean };

/** Begins a transaction on a connection that was taken for it. It is given back where that fails. */
export async function begunOn(
  taken: Taken,
  query: Identified,
  { lent, ...context }: BeginContext,
  signal: AbortSignal,
): Promise<Result<TransactionLane, GatewayError>> {
  const { member } = taken;
  const { sql, told } = openingOf(query);
  const refused =
    (await brought(member, query, context, signal)) ?? (await withoutSequences(member, signal));
  const begun = refused === undefined ? await ask(member, sql, signal) : err(refused);
  if (begun.ok && member.status === "T") {
    const identity = query.backendIdentity;
    return ok(new TransactionLane({ taken, identity, told, lent }, context));
  }
  // A session keeps its connection when its BEGIN was refused; any other is not worth the doubt.
  if (!lent || member.status !== "I") member.destroy();
  taken[Symbol.dispose]();
  return begun.ok ? err(gatewayError("engine.broken", { detail: "BEGIN began nothing" })) : begun;
}

/** A transaction on a connection of its own, which does one thing at a time. */
export class TransactionLane implements PinnedLane {
  /** What its BEGIN said is not the last word: `SET TRANSACTION` may follow. */
  readonly refusesWritesOf = "postgres";
  readonly #taken: Taken;
  readonly #context: RunContext;
  readonly #identity: BackendIdentity;
  #told: Told;
  /** Who has, or waits for, the connection behind all others. */
  #last: Turn | undefined;
  /** How many have, or wait for, the connection and send what they have to when it is their turn. */
  #others = 0;
  /** The statement that ran last, where it may come again before it is answered. */
  #plain: Statement | undefined;
  #closed = false;
  #open = true;
  /** The server began the next one as it ended this one. */
  #chained = false;
  readonly #lent: boolean;
  /** A statement may have left something that outlives the transaction. */
  #lasting = false;
  /** Hears what comes with the end of a transaction that asked for notifications. */
  #early: EarlyListener | undefined;
  /** Its client speaks PostgreSQL's protocol, and can be told what stays. */
  #calls = false;

  constructor({ taken, identity, told, lent }: Begun, context: RunContext) {
    this.#lent = lent;
    this.#taken = taken;
    this.#identity = identity;
    this.#told = told;
    this.#context = context;
  }

  get process(): number | undefined {
    return this.#taken.member.key?.process;
  }

  execute(query: Identified, signal: AbortSignal): ResultStream {
    return streamOf(this.course(query, signal));
  }

  *course(query: Identified, signal: AbortSignal): Course {
    const { member } = this.#taken;
    const ahead = signal.aborted ? undefined : this.#sentAhead(query);
    if (ahead !== undefined) {
      yield* this.#answerTo({ query, call: ahead, ahead: true }, signal);
      return;
    }
    const turn = this.#takeTurn(false);
    using _turn = turn instanceof Promise ? yield* waited(turn) : turn;
    this.#plain = undefined;
    const wrong = this.#refusal(query);
    const telling = wrong === undefined ? this.#tell(query.session, signal) : undefined;
    const refused = wrong ?? (telling && (yield* waited(telling)));
    if (refused !== undefined) {
      yield { kind: "failed", error: refused };
      return;
    }
    this.#calls ||= query.call !== undefined;
    const judged = judgedIn(query, this.#context);
    const lasts = judged.ok && (judged.value.lasting !== undefined || judged.value.unsure);
    if (lasts && query.call !== undefined) this.#lasting = true;
    // Its last event is read with nothing behind it.
    this.#plain = isPlain(query, this.#context) ? query.statement : undefined;
    yield* courseOn(member, query, this.#context, signal);
  }

  /** The answer to a statement that was sent ahead. Whoever leaves it before its turn leaves what nobody can tell from the next. */
  *#answerTo(sent: Sent, signal: AbortSignal): Course {
    const { member } = this.#taken;
    const turn = this.#takeTurn(true);
    let came = false;
    try {
      using _turn = turn instanceof Promise ? yield* waited(turn) : turn;
      came = true;
      yield* courseOfCall(member, sent, this.#context, signal);
    } finally {
      if (!came) member.destroy();
    }
  }

  streams(statement: Statement): boolean {
    return this.#plain === statement && this.#taken.member.status === "T";
  }

  /** The statement as it was sent behind others that are not answered yet; undefined where it was not. */
  #sentAhead(query: Identified): Call | undefined {
    if (query.call?.behind !== true || query.statement !== this.#plain || this.#others > 0)
      return undefined;
    const { member } = this.#taken;
    if (this.#refusal(query) !== undefined || !member.open || member.status !== "T")
      return undefined;
    if (changedModes(query.session, this.#told) !== undefined) return undefined;
    return sendAhead(member, query, this.#context);
  }

  async describe(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    using _turn = await this.#takeTurn();
    const refused = this.#refusal(query) ?? (await this.#tell(query.session, signal));
    if (refused !== undefined) return err(refused);
    return await describeOn(this.#taken.member, query, this.#context, signal);
  }

  async estimateScan(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<ScanEstimate, GatewayError>> {
    using _turn = await this.#takeTurn();
    const refused = this.#refusal(query) ?? (await this.#tell(query.session, signal));
    if (refused !== undefined) return err(refused);
    return await estimateOn(this.#taken.member, query, this.#context, signal);
  }

  async commit(signal: AbortSignal, chains?: Session): Promise<Result<void, GatewayError>> {
    using _turn = await this.#takeTurn();
    const ended = await this.#endOrChain("COMMIT", chains, signal);
    if (!ended.ok) return ended;
    // A server answers COMMIT of a transaction that failed with success although nothing is kept.
    return ended.value === "COMMIT" ? ok(undefined) : err(gatewayError("query.transactionAborted"));
  }

  async rollback(signal: AbortSignal, chains?: Session): Promise<Result<void, GatewayError>> {
    using _turn = await this.#takeTurn();
    const ended = await this.#endOrChain("ROLLBACK", chains, signal);
    return ended.ok ? ok(undefined) : ended;
  }

  async prepare(statement: Statement, signal: AbortSignal): Promise<Result<void, GatewayError>> {
    using _turn = await this.#takeTurn();
    const sql = preparationOf(statement.sql);
    if (sql === undefined) return err(gatewayError("query.syntax"));
    const ended = await this.#end(sql, signal);
    if (!ended.ok) return ended;
    return ended.value === "ROLLBACK"
      ? err(gatewayError("query.transactionAborted"))
      : ok(undefined);
  }

  async divide({ kind, name }: Division, signal: AbortSignal): Promise<Result<void, GatewayError>> {
    using _turn = await this.#takeTurn();
    if (this.#closed || !this.#open) return err(over);
    const { member } = this.#taken;
    const sql = `${divisionWords[kind]} ${quoteIdentifier(name)}`;
    const done = await askToEnd(member, sql, this.#context, signal);
    if (kind === "rollbackToSavepoint") member.forgetSettings();
    return done.ok ? ok(undefined) : done;
  }

  async again(query: Identified, signal: AbortSignal): Promise<Result<PinnedLane, GatewayError>> {
    if (this.#closed || this.#open) return err(over);
    this.#closed = true;
    if (this.#chained) return ok(this.#next());
    const begun = await begunOn(this.#taken, query, { ...this.#context, lent: this.#lent }, signal);
    if (begun.ok) this.#leaveTo(begun.value);
    return begun;
  }

  /** What the server's chain began: it has every characteristic of this one, also those that came behind its BEGIN. */
  #next(): TransactionLane {
    const [taken, identity, told, lent] = [this.#taken, this.#identity, this.#told, this.#lent];
    const next = new TransactionLane({ taken, identity, told, lent }, this.#context);
    this.#leaveTo(next);
    return next;
  }

  #leaveTo(next: TransactionLane): void {
    [next.#lasting, next.#calls, next.#early] = [this.#lasting, this.#calls, this.#early];
  }

  async kept(signal: AbortSignal): Promise<KeptLane | undefined> {
    const { pins } = this.#context;
    if (this.#lent || this.#closed || this.#open || pins === undefined) return undefined;
    const wanted = pins === "always" ? this.#calls : this.#lasting;
    if (!wanted) return undefined;
    const lane = this.#context.keep(this.#taken, this.#identity, this.#early);
    await lane.look(signal);
    if (lane.keeps === undefined) return undefined;
    this.#closed = true;
    return lane;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const { member } = this.#taken;
    if (this.#early !== undefined) member.hear(undefined);
    if (this.#open || this.#chained) {
      // Closing the connection rolls back what is open; a statement that runs has to be ended first.
      if (member.open && member.busy) await this.#context.cancel(member);
      member.destroy();
    }
    this.#taken[Symbol.dispose]();
  }

  #refusal({ backendIdentity, group }: Identified): GatewayError | undefined {
    if (this.#closed || !this.#open) return over;
    if (nameOf(backendIdentity) === nameOf(this.#identity)) return undefined;
    const detail = "the transaction is another's";
    return noBackendIdentity(backendIdentity.mode, group, { detail });
  }

  /** What `SET TRANSACTION` behind the BEGIN asks for. It comes first: PostgreSQL refuses it behind a query. */
  #tell(session: Session, signal: AbortSignal): Promise<GatewayError | undefined> | undefined {
    const changed = changedModes(session, this.#told);
    return changed && this.#tellOf(changed, signal);
  }

  async #tellOf(
    changed: NonNullable<ReturnType<typeof changedModes>>,
    signal: AbortSignal,
  ): Promise<GatewayError | undefined> {
    const done = await ask(this.#taken.member, changed.sql, signal);
    if (!done.ok) return done.error;
    this.#told = changed.told;
    return undefined;
  }

  async #endOrChain(
    sql: "COMMIT" | "ROLLBACK",
    session: Session | undefined,
    signal: AbortSignal,
  ): Promise<Result<string, GatewayError>> {
    if (session === undefined) return await this.#end(sql, signal);
    if (this.#closed || !this.#open) return err(over);
    // Asked for behind the last statement, it is the next transaction's all the same.
    const aborted = this.#taken.member.status !== "T";
    const refused = aborted ? undefined : await this.#tell(session, signal);
    return refused === undefined ? await this.#end(`${sql} AND CHAIN`, signal) : err(refused);
  }

  async #end(sql: string, signal: AbortSignal): Promise<Result<string, GatewayError>> {
    if (this.#closed || !this.#open) return err(over);
    const { member } = this.#taken;
    // Whoever keeps the connection listens to it already.
    if (this.#lasting && !this.#lent) this.#early ??= new EarlyListener(member);
    const done = await askToEnd(member, sql, this.#context, signal);
    if (done.ok && done.value.tag === "ROLLBACK") member.forgetSettings();
    // A COMMIT that is refused has rolled back.
    if (done.ok || (member.open && member.status === "I")) this.#open = false;
    if (!done.ok) return done;
    this.#chained = member.status === "T";
    return ok(done.value.tag);
  }

  /** `ahead`: what it has to send was sent. A promise only where others are before it. */
  #takeTurn(ahead: boolean = false): Disposable | Promise<Disposable> {
    const turn = new Turn((ended) => {
      if (!ahead) this.#others -= 1;
      if (this.#last === ended) this.#last = undefined;
    });
    if (!ahead) this.#others += 1;
    const before = this.#last;
    this.#last = turn;
    return before === undefined ? turn : before.over().then(() => turn);
  }
}

/** The connection as one statement has it. */
class Turn implements Disposable {
  readonly #ended: (turn: Turn) => void;
  #pass: (() => void) | undefined;

  constructor(ended: (turn: Turn) => void) {
    this.#ended = ended;
  }

  /** Resolves when it is over; asked for by the one behind it. */
  over(): Promise<void> {
    return new Promise((resolve) => {
      this.#pass = resolve;
    });
  }

  [Symbol.dispose](): void {
    this.#ended(this);
    this.#pass?.();
  }
}

const divisionWords = {
  savepoint: "SAVEPOINT",
  releaseSavepoint: "RELEASE SAVEPOINT",
  rollbackToSavepoint: "ROLLBACK TO SAVEPOINT",
} as const satisfies Record<Division["kind"], string>;

const over: GatewayError = gatewayError("query.transaction", {
  message: "the transaction is over",
});
