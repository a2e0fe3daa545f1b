/**
 * A transaction: one thread with one connection from BEGIN to its end.
 *
 * It does one thing at a time; whoever comes while a statement still runs waits. DuckDB answers COMMIT of an
 * aborted transaction with success although nothing is kept. So it is asked before it commits.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { PinnedLane } from "@gateway/core/port/backend.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { AdbcFailure } from "../native/driver.ts";
import { messageBytesOf } from "../native/messageBytes.ts";
import type { TakenThread } from "../native/reach/pool.ts";
import { isBeforeRun, isTransactionOver } from "./errors.ts";
import { guardStatement, type Guarded } from "./library/guard.ts";
import {
  describeOn,
  failureOf,
  rowsOf,
  runStatement,
  type RunContext,
  type EngineStatement,
} from "./client/run.ts";
import { useFor, runUse, speaksOfSession, useStatement, usedPath } from "./client/session.ts";
import { ownStatement } from "./library/statementTypes.ts";
import { changeRefusal } from "./sql/isolation.ts";

const over = gatewayError("query.transaction", { message: "the transaction is over" });

export class TransactionLane implements PinnedLane {
  readonly #taken: TakenThread;
  readonly #context: RunContext;
  readonly #defaultCatalog: string;
  /** The last `USE` of the connection; undefined while it stands where a new one does. */
  #use: string | undefined;
  #failed = false;
  /** The last statement may have changed something, and how it ended is not known for certain. */
  #doubtful = false;
  /** Settled when nothing runs on the lane. */
  readonly #running: Disposable;
  #turn: Promise<void> = Promise.resolve();
  #closed: Promise<void> | undefined;

  /** `taken` keeps a connection with a transaction begun on it, whose last `USE` was `use`. */
  constructor(
    taken: TakenThread,
    context: RunContext,
    stands: {
      readonly use: string | undefined;
      readonly defaultCatalog: string;
      /** Lists the transaction as running until it is disposed. */
      readonly running: Disposable;
    },
  ) {
    this.#taken = taken;
    this.#running = stands.running;
    this.#use = stands.use;
    this.#defaultCatalog = stands.defaultCatalog;
    this.#context = {
      ...context,
      failed: (failure) => {
        this.#failed = true;
        context.failed(failure);
      },
    };
  }

  async *execute(query: Identified, signal: AbortSignal): ResultStream {
    using _turn = await this.#takeTurn();
    if (this.#closed !== undefined) return yield { kind: "failed", error: over };
    const path = usedPath(query);
    if (path !== undefined) return yield* this.#executeUse(path, query.session, signal);
    const guarded = guardStatement(query.engineSql, { pinned: true });
    if (!guarded.ok) return yield { kind: "failed", error: guarded.error };
    const refused = changeRefusal(query.session);
    if (refused !== undefined) return yield { kind: "failed", error: refused };
    this.#doubtful = guarded.value.writes;
    const context = {
      ...this.#context,
      failed: (failure: AdbcFailure) => {
        if (isBeforeRun(failure)) this.#doubtful = false;
        this.#context.failed(failure);
      },
    };
    const statement = this.#statement(query, guarded.value);
    for await (const event of runStatement(context, statement, signal)) {
      if (event.kind === "done") this.#doubtful = false;
      yield event;
    }
  }

  async describe(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    using _turn = await this.#takeTurn();
    if (this.#closed !== undefined) return err(over);
    if (speaksOfSession(query.engineSql)) return ok({ parameters: [], columns: [] });
    const guarded = guardStatement(query.engineSql, { pinned: true });
    if (!guarded.ok) return guarded;
    return await describeOn(this.#context, this.#statement(query, guarded.value), signal);
  }

  async commit(signal: AbortSignal): Promise<Result<void, GatewayError>> {
    using _turn = await this.#takeTurn();
    if (this.#closed !== undefined) return err(over);
    if (!this.#failed || !(await this.#isOver(signal))) return await this.#end("COMMIT", signal);
    await this.#end("ROLLBACK", signal);
    return err(gatewayError("query.transactionAborted"));
  }

  async goesOn(signal: AbortSignal): Promise<boolean> {
    using _turn = await this.#takeTurn();
    if (this.#closed !== undefined || this.#doubtful) return false;
    return !(await this.#isOver(signal));
  }

  async rollback(signal: AbortSignal): Promise<Result<void, GatewayError>> {
    using _turn = await this.#takeTurn();
    return this.#closed === undefined ? await this.#end("ROLLBACK", signal) : err(over);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    // A reader that still holds a stream of this lane finds it ended.
    await this.#taken.thread.settle();
    // Closing the connection rolls back what is open.
    await this.#taken.thread.ask({ kind: "disconnect" });
    this.#running[Symbol.dispose]();
    this.#taken[Symbol.dispose]();
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

  #statement(query: Identified, guarded: Guarded): EngineStatement {
    const { engineSql, parameters, session } = query;
    const messageBytes = messageBytesOf(query);
    return { sql: engineSql, parameters, before: this.#goTo(session), guarded, messageBytes };
  }

  /** The `USE` that the connection still needs to stand where the session does now. */
  #goTo(session: Session): readonly string[] {
    const use = useFor(session, this.#defaultCatalog);
    if (use === this.#use) return [];
    this.#use = use;
    return [use ?? useStatement(this.#defaultCatalog, "main")];
  }

  async *#executeUse(path: readonly string[], session: Session, signal: AbortSignal): ResultStream {
    const standing = yield* runUse(this.#context, { path, before: this.#goTo(session) }, signal);
    if (standing !== undefined) this.#use = useFor(standing, this.#defaultCatalog);
  }

  async #isOver(signal: AbortSignal): Promise<boolean> {
    const answer = await rowsOf(this.#context.thread, ownStatement("SELECT 1", undefined), signal);
    return !answer.ok && isTransactionOver(answer.error);
  }

  async #end(sql: "COMMIT" | "ROLLBACK", signal: AbortSignal): Promise<Result<void, GatewayError>> {
    const answer = await rowsOf(this.#context.thread, ownStatement(sql, undefined), signal);
    if (answer.ok) return ok(undefined);
    return err(failureOf(this.#context, answer.error, { sql, writes: true }));
  }
}

function nothing(): void {}
