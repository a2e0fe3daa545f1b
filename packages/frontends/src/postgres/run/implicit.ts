/**
 * The transaction that PostgreSQL puts around the statements of one message, or of a series up to its
 * Sync, when the client began none itself.
 *
 * It begins only where it makes a difference: before a statement that must be undone if a later one fails. An
 * engine without transactions runs each statement on its own.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { modesAsked } from "@gateway/core/run/transaction/pinned.ts";
import { wordsOf } from "@gateway/core/run/transaction/savepoints.ts";
import { asksModes } from "@gateway/core/sql/session/statement.ts";
import type { ClientSession } from "../session/clientSession.ts";
import type { Executor } from "./executor.ts";
import { needsTransaction, type ReadStatement } from "../read/statement.ts";
import type { Lookahead } from "./series.ts";

/** Statements that get none. */
const alone: ReadonlySet<ReadStatement["kind"]["kind"]> = new Set([
  "transaction",
  "division",
  "cursor",
]);

export class Implicit {
  readonly #executor: Executor;
  readonly #session: ClientSession;
  #begun = false;
  /** The engine has no transactions; it is asked once per message or series. */
  #refused = false;

  constructor(executor: Executor, session: ClientSession) {
    this.#executor = executor;
    this.#session = session;
  }

  /** True while a transaction is open that the client did not begin. */
  get open(): boolean {
    return this.#begun && this.#session.pin !== undefined;
  }

  /**
   * A statement that changes something, with others behind it before the Sync, is one transaction with them. A single one
   * is left to itself, which costs less.
   */
  before(
    statement: ReadStatement,
    inbox: { ahead(): Lookahead | Promise<Lookahead> },
  ): GatewayError | Promise<GatewayError | undefined> | undefined {
    if (this.#session.pin !== undefined || alone.has(statement.kind.kind)) return undefined;
    const ahead = inbox.ahead();
    return ahead instanceof Promise
      ? ahead.then((known) => this.#before(known, statement))
      : this.#before(ahead, statement);
  }

  #before(next: Lookahead, statement: ReadStatement) {
    if (next === "gone") return gatewayError("query.cancelled");
    return next === "more" && needsTransaction(statement) ? this.enter() : undefined;
  }

  /** Begins one, unless a transaction is open or the engine has none. */
  async enter(): Promise<GatewayError | undefined> {
    if (this.#refused || this.#session.pin !== undefined) return undefined;
    const error = await this.#executor.control("BEGIN");
    this.#begun = error === undefined;
    this.#refused = error?.code === "query.unsupported";
    return this.#refused ? undefined : error;
  }

  /** Why the statement can not be in a transaction that the client did not begin. */
  refusal({ kind, statement }: ReadStatement): GatewayError | undefined {
    if (!this.open) return undefined;
    const begins = kind.kind === "transaction" && !kind.ends;
    if (begins) return asksModes(statement.modes) ? modesAsked() : undefined;
    if (kind.kind !== "division") return undefined;
    const message = `${wordsOf[kind.division.kind]} can only be used in transaction blocks`;
    return gatewayError("query.transaction", { sqlState: "25P01", message });
  }

  /** The client's BEGIN makes the open transaction its own. */
  adopt(): void {
    this.#begun = false;
  }

  /** Ends a message or series that has no transaction. */
  forget(): undefined {
    this.#begun = false;
    this.#refused = false;
  }

  /** Ends the message or series: commits, or rolls back after a failure or a cancel. Answers why it could not commit. */
  async leave(failed: boolean): Promise<GatewayError | undefined> {
    const open = this.open;
    this.#begun = false;
    this.#refused = false;
    if (!open) return undefined;
    const cancelled = failed ? undefined : this.#executor.cancelled;
    const undone = failed || cancelled !== undefined;
    const error = await this.#executor.control(undone ? "ROLLBACK" : "COMMIT");
    if (this.#session.pin === undefined)
      this.#session.endTransaction(!undone && error === undefined);
    return failed ? undefined : (cancelled ?? error);
  }
}
