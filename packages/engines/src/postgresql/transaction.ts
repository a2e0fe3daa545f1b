/** Transactions: each on a connection of its own until it is over, one statement at a time. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { KeptLane, PinnedLane, ScanEstimate } from "@gateway/core/port/backend.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import { noBackendIdentity, type BackendIdentity } from "@gateway/core/query/identity.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Division } from "@gateway/core/sql/session/statement.ts";
import type { Statement } from "@gateway/core/sql/statement.ts";
import { ask } from "./client/ask.ts";
import type { Taken } from "./client/pool.ts";
import { estimateOn } from "./estimate.ts";
import { nameOf } from "./identity.ts";
import {
  askToEnd,
  describeOn,
  judgedIn,
  runOn,
  withoutSequences,
  type RunContext,
} from "./lane.ts";
import { brought } from "./bringing.ts";
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
  #turn: Promise<void> = Promise.resolve();
  #closed = false;
  #open = true;
  /** The server began the next one as it ended this one. */
  #chained = false;
  readonly #lent: boolean;
  /** A statement may have left something that outlives the transaction. */
  #lasting = false;
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

  async *execute(query: Identified, signal: AbortSignal): ResultStream {
    using _turn = await this.#takeTurn();
    const refused = this.#refusal(query) ?? (await this.#tell(query.session, signal));
    if (refused !== undefined) return yield { kind: "failed", error: refused };
    this.#calls ||= query.call !== undefined;
    const judged = judgedIn(query, this.#context);
    const lasts = judged.ok && (judged.value.lasting !== undefined || judged.value.unsure);
    if (lasts && query.call !== undefined) this.#lasting = true;
    yield* runOn(this.#taken.member, query, this.#context, signal);
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
    const done = await ask(member, `${divisionWords[kind]} ${quoteIdentifier(name)}`, signal);
    if (kind === "rollbackToSavepoint") member.forgetSettings();
    return done.ok ? ok(undefined) : done;
  }

  async again(query: Identified, signal: AbortSignal): Promise<Result<PinnedLane, GatewayError>> {
    if (this.#closed || this.#open) return err(over);
    this.#closed = true;
    if (this.#chained) return ok(this.#next());
    const begun = await begunOn(this.#taken, query, { ...this.#context, lent: this.#lent }, signal);
    if (begun.ok) [begun.value.#lasting, begun.value.#calls] = [this.#lasting, this.#calls];
    return begun;
  }

  /** What the server's chain began: it has every characteristic of this one, also those that came behind its BEGIN. */
  #next(): TransactionLane {
    const [taken, identity, told, lent] = [this.#taken, this.#identity, this.#told, this.#lent];
    const next = new TransactionLane({ taken, identity, told, lent }, this.#context);
    [next.#lasting, next.#calls] = [this.#lasting, this.#calls];
    return next;
  }

  async kept(signal: AbortSignal): Promise<KeptLane | undefined> {
    const { pins } = this.#context;
    if (this.#lent || this.#closed || this.#open || pins === undefined) return undefined;
    const wanted = pins === "always" ? this.#calls : this.#lasting;
    if (!wanted) return undefined;
    const lane = this.#context.keep(this.#taken, this.#identity);
    await lane.look(signal);
    if (lane.keeps === undefined) return undefined;
    this.#closed = true;
    return lane;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const { member } = this.#taken;
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
  async #tell(session: Session, signal: AbortSignal): Promise<GatewayError | undefined> {
    const changed = changedModes(session, this.#told);
    if (changed === undefined) return undefined;
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
    const done = await askToEnd(member, sql, this.#context, signal);
    if (done.ok && done.value.tag === "ROLLBACK") member.forgetSettings();
    // A COMMIT that is refused has rolled back.
    if (done.ok || (member.open && member.status === "I")) this.#open = false;
    if (!done.ok) return done;
    this.#chained = member.status === "T";
    return ok(done.value.tag);
  }

  async #takeTurn(): Promise<Disposable> {
    const before = this.#turn;
    let pass = nothing;
    this.#turn = new Promise((resolve) => {
      pass = resolve;
    });
    await before;
    return { [Symbol.dispose]: () => pass() };
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

function nothing(): void {}
