/**
 * A transaction: one connection from its begin to its end, which does one thing at a time.
 *
 * Some engines answer COMMIT of an aborted transaction with success although nothing is kept. So the engine
 * is asked before it commits.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { PinnedLane } from "@gateway/core/port/backend.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import { noBackendIdentity, type BackendIdentity } from "@gateway/core/query/identity.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Division, Isolation } from "@gateway/core/sql/session/statement.ts";
import type { ConnectionStep } from "../native/message.ts";
import { messageBytesOf } from "../native/messageBytes.ts";
import { connectError, errorOf } from "./errors.ts";
import { limitStatements } from "./limit.ts";
import { KnownTexts } from "./client/known.ts";
import { ownExpected, preparedFor } from "./client/prepared.ts";
import { rowsOf } from "./client/rows.ts";
import { describeOn, runStatement, type RunContext } from "./client/run.ts";
import { changedIsolation } from "./sql/modes.ts";
import { quoteIdentifier } from "./sql/quote.ts";

const over = gatewayError("query.transaction", { message: "the transaction is over" });

export class TransactionLane implements PinnedLane {
  readonly #context: RunContext;
  /** What is known of texts outside of the transaction. */
  readonly #shared: KnownTexts;
  /** Lists the transaction as running until it is disposed. */
  readonly #running: Disposable;
  readonly #identity: BackendIdentity;
  /** Absent where the engine's transactions have no savepoints. */
  readonly divide?: NonNullable<PinnedLane["divide"]>;
  /** What the engine was told; undefined where it decides. */
  #isolation: Isolation | undefined;
  /** What is known since the transaction made something, which others do not see. */
  #known: KnownTexts | undefined;
  #failed = false;
  #moved = false;
  #ended = false;
  /** Settled when nothing runs on the lane. */
  #turn: Promise<void> = Promise.resolve();
  #closed: Promise<void> | undefined;

  /** `context` has a connection with a transaction begun on it, as `identity`, with `isolation`. */
  constructor(
    context: RunContext,
    running: Disposable,
    {
      identity,
      isolation,
    }: { readonly identity: BackendIdentity; readonly isolation: Isolation | undefined },
  ) {
    this.#running = running;
    this.#shared = context.known;
    this.#identity = identity;
    this.#isolation = isolation;
    if (context.profile.savepoints) {
      this.divide = (division, signal, session) => this.#divide(division, signal, session);
    }
    const own = (): KnownTexts => this.#known ?? this.#shared;
    this.#context = {
      ...context,
      get known() {
        return own();
      },
      renamed: () => {
        this.#known = new KnownTexts(context.clock);
        context.renamed();
      },
      failed: (failure) => {
        this.#failed = true;
        context.failed(failure);
      },
    };
  }

  async *execute(query: Identified, signal: AbortSignal): ResultStream {
    using _turn = await this.#takeTurn();
    const refused = this.#refusal(query);
    if (refused !== undefined) return yield { kind: "failed", error: refused };
    const { profile } = this.#context;
    const prepared = preparedFor(profile, query, true);
    if (!prepared.ok) return yield { kind: "failed", error: prepared.error };
    const before = this.#before(query);
    if (!before.ok) return yield { kind: "failed", error: before.error };
    const messageBytes = messageBytesOf(query);
    const statement = { ...prepared.value, before: before.value, messageBytes };
    yield* runStatement(this.#context, statement, signal);
  }

  async describe(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    using _turn = await this.#takeTurn();
    const refused = this.#refusal(query);
    if (refused !== undefined) return err(refused);
    const { profile } = this.#context;
    const prepared = preparedFor(profile, query, true, "describe");
    if (!prepared.ok) return prepared;
    const before = this.#before(query);
    if (!before.ok) return before;
    const statement = { ...prepared.value, before: before.value };
    return await describeOn(this.#context, statement, signal);
  }

  async commit(signal: AbortSignal): Promise<Result<void, GatewayError>> {
    using _turn = await this.#takeTurn();
    if (this.#closed !== undefined || this.#ended) return err(over);
    const aborted =
      this.#failed && this.#context.profile.errorAborts && (await this.#isOver(signal));
    if (!aborted) return await this.#end("commit", signal);
    await this.#end("rollback", signal);
    return err(gatewayError("query.transactionAborted"));
  }

  async rollback(signal: AbortSignal): Promise<Result<void, GatewayError>> {
    using _turn = await this.#takeTurn();
    if (this.#closed !== undefined || this.#ended) return err(over);
    return await this.#end("rollback", signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** What goes before a statement. An isolation comes first: PostgreSQL refuses it behind a query, and a step is one. */
  #before(query: Identified): Result<readonly ConnectionStep[], GatewayError> {
    const { profile, taken } = this.#context;
    const changed = changedIsolation(profile, query.session, this.#isolation);
    if (!changed.ok) return changed;
    if (changed.value !== undefined) this.#isolation = changed.value.isolation;
    const first = changed.value?.statements ?? [];
    const steps = taken.goTo(this.#contextSteps(query.session));
    return ok([...first, ...steps, ...limitStatements(profile, taken, query)]);
  }

  async #divide(
    { kind, name }: Division,
    signal: AbortSignal,
    session: Identified["session"],
  ): Promise<Result<void, GatewayError>> {
    using _turn = await this.#takeTurn();
    if (this.#closed !== undefined || this.#ended) return err(over);
    const { taken, profile } = this.#context;
    const sql = `${divisions[kind]} ${quoteIdentifier(name)}`;
    // PostgreSQL takes no isolation behind a savepoint.
    const changed =
      kind === "savepoint" ? changedIsolation(profile, session, this.#isolation) : ok(undefined);
    if (!changed.ok) return changed;
    if (changed.value !== undefined) this.#isolation = changed.value.isolation;
    const statements = [...(changed.value?.statements ?? []), sql];
    const answer = await taken.thread.ask({ kind: "runAll", statements }, signal);
    // What the session set behind the savepoint is undone as well.
    if (kind === "rollbackToSavepoint") taken.stray();
    this.#known?.forget();
    if (answer.ok) return ok(undefined);
    this.#context.failed(answer.error);
    return err(errorOf(profile, answer.error, { sql, prefix: 0, original: sql, writes: false }));
  }

  /** A connection that was sent elsewhere in the transaction has to be sent back too. */
  #contextSteps(session: Identified["session"]): readonly ConnectionStep[] {
    const steps = this.#context.contextSteps(session);
    this.#moved ||= steps.length > 0;
    return this.#moved ? this.#context.profile.contextSteps(session) : steps;
  }

  #refusal({ backendIdentity, group }: Identified): GatewayError | undefined {
    if (this.#closed !== undefined) return over;
    if (nameOf(backendIdentity) === nameOf(this.#identity)) return undefined;
    const detail = "the transaction is another's";
    return noBackendIdentity(backendIdentity.mode, group, { detail });
  }

  async #close(): Promise<void> {
    const { taken } = this.#context;
    // A reader that still holds a stream of this lane finds it ended.
    await taken.thread.settle();
    // Closing the connection rolls back what is open.
    if (!this.#ended) taken.spoil();
    this.#running[Symbol.dispose]();
    await taken.release();
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

  async #isOver(signal: AbortSignal): Promise<boolean> {
    const { profile } = this.#context;
    const request = { sql: "SELECT 1", expected: ownExpected(profile) };
    return !(await rowsOf(this.#context, request, signal)).ok;
  }

  async #end(how: "commit" | "rollback", signal: AbortSignal): Promise<Result<void, GatewayError>> {
    const { taken, profile } = this.#context;
    const ends =
      profile.transactions === "option"
        ? ({ kind: "end", how } as const)
        : ({ kind: "runAll", statements: [how.toUpperCase()] } as const);
    const answer = await taken.thread.ask(ends, signal);
    this.#ended = answer.ok;
    // What it made is everybody's now.
    if (this.#known !== undefined) this.#shared.forget();
    if (answer.ok) return ok(undefined);
    const text = { sql: how, prefix: 0, original: how, writes: true };
    const broken = answer.error.code === "broken" || answer.error.code === "cancelled";
    return err(broken ? connectError(answer.error) : errorOf(profile, answer.error, text));
  }
}

/** As PostgreSQL and SQLite both write them. */
const divisions = {
  savepoint: "SAVEPOINT",
  releaseSavepoint: "RELEASE SAVEPOINT",
  rollbackToSavepoint: "ROLLBACK TO SAVEPOINT",
} as const satisfies Record<Division["kind"], string>;

function nameOf(identity: BackendIdentity): string | undefined {
  return identity.mode === "serviceAccount" ? undefined : identity.principal;
}

function nothing(): void {}
