/**
 * A transaction: its id travels with every statement, so it needs no connection of its own. One
 * statement at a time; whoever comes while one still runs waits.
 *
 * What a catalog allows in a transaction is its connector's: most take reads, few take writes.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { PinnedLane, ScanEstimate } from "@gateway/core/port/backend.ts";
import { streamOf } from "@gateway/core/query/courseStream.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Isolation, TransactionModes } from "@gateway/core/sql/session/statement.ts";
import { requestHeader, responseHeader } from "@gateway/wire/trino/headers.ts";
import type { StatementClient } from "./client/statementClient.ts";
import { describeStatement } from "./describe.ts";
import { estimateStatement } from "./estimate.ts";
import { isSameUser, refusalOf } from "./identity.ts";
import { headerValue, withHeader, type HeadOf, type RequestHead } from "./client/session.ts";
import { askOwn } from "./client/own.ts";
import { runStatement, type RunContext } from "./client/run.ts";
import { sentStatement } from "./sql/statement.ts";

const over = gatewayError("query.transaction", { message: "the transaction is over" });
const startedTransaction = responseHeader.startedTransactionId.toLowerCase();
/** What a client sends to say that it knows transactions and is in none. */
const noTransaction = "NONE";

/** Begins a transaction for a client's own BEGIN. */
export async function beginTransaction(
  context: RunContext,
  headOf: HeadOf,
  query: Identified,
  signal: AbortSignal,
): Promise<Result<PinnedLane, GatewayError>> {
  const head = headOf(query);
  if (!head.ok) return head;
  const asked = within(head.value, noTransaction);
  const sql = startStatement(query.statement.modes);
  const answer = await askOwn(context, { ...asked, sql, rowsMax: 1 }, signal);
  if (!answer.ok) return answer;
  const id = headerValue(answer.value.headers, startedTransaction);
  if (id !== undefined && /^[\w-]{1,128}$/.test(id)) {
    return ok(new TransactionLane(context, headOf, id, head.value));
  }
  return err(gatewayError("engine.broken", { detail: "a transaction without an id" }));
}

function startStatement({ isolation, readOnly }: TransactionModes): string {
  const modes: string[] = [];
  if (isolation !== undefined) modes.push(`ISOLATION LEVEL ${levels[isolation]}`);
  if (readOnly !== undefined) modes.push(readOnly ? "READ ONLY" : "READ WRITE");
  return ["START TRANSACTION", modes.join(", ")].join(" ").trim();
}

const levels = {
  readUncommitted: "READ UNCOMMITTED",
  readCommitted: "READ COMMITTED",
  repeatableRead: "REPEATABLE READ",
  serializable: "SERIALIZABLE",
} as const satisfies Record<Isolation, string>;

class TransactionLane implements PinnedLane {
  readonly refusesWritesOf = "trino";
  readonly #context: RunContext;
  readonly #headOf: HeadOf;
  readonly #id: string;
  /** Of the last statement: a token may have been renewed since the first. */
  #head: RequestHead;
  #turn: Promise<void> = Promise.resolve();
  #running: StatementClient | undefined;
  #ended = false;
  #closed: Promise<void> | undefined;

  constructor(context: RunContext, headOf: HeadOf, id: string, head: RequestHead) {
    this.#context = context;
    this.#headOf = headOf;
    this.#id = id;
    this.#head = head;
  }

  async *execute(query: Identified, signal: AbortSignal): ResultStream {
    using _turn = await this.#takeTurn();
    if (this.#closed !== undefined || this.#ended) return yield { kind: "failed", error: over };
    const head = this.#headFor(query);
    if (!head.ok) return yield { kind: "failed", error: head.error };
    const sent = sentStatement(query);
    if (!sent.ok) return yield { kind: "failed", error: sent.error };
    const statement = {
      ...sent.value,
      ...head.value,
      session: query.session,
      native: query.takes.includes("trinoData"),
      begun: (statementClient: StatementClient) => {
        this.#running = statementClient;
      },
    };
    yield* streamOf(runStatement(this.#context, statement, signal));
  }

  async describe(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    using _turn = await this.#takeTurn();
    if (this.#closed !== undefined || this.#ended) return err(over);
    const head = this.#headFor(query);
    if (!head.ok) return head;
    return await describeStatement(this.#context, query.engineSql, head.value, signal);
  }

  async estimateScan(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<ScanEstimate, GatewayError>> {
    using _turn = await this.#takeTurn();
    if (this.#closed !== undefined || this.#ended) return err(over);
    const head = this.#headFor(query);
    return head.ok ? await estimateStatement(this.#context, query, head.value, signal) : head;
  }

  commit(signal: AbortSignal): Promise<Result<void, GatewayError>> {
    return this.#end("COMMIT", signal);
  }

  rollback(signal: AbortSignal): Promise<Result<void, GatewayError>> {
    return this.#end("ROLLBACK", signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    // A reader that still holds a stream of this lane finds it ended.
    await this.#running?.end();
    if (!this.#ended) await this.#ask("ROLLBACK", new AbortController().signal);
    this.#ended = true;
  }

  async #end(sql: "COMMIT" | "ROLLBACK", signal: AbortSignal): Promise<Result<void, GatewayError>> {
    using _turn = await this.#takeTurn();
    if (this.#closed !== undefined || this.#ended) return err(over);
    const ended = await this.#ask(sql, signal);
    // Whatever came of it, Trino knows the transaction no more, or lets it run out.
    if (ended.ok) this.#ended = true;
    return ended;
  }

  async #ask(sql: string, signal: AbortSignal): Promise<Result<void, GatewayError>> {
    const head = within(this.#head, this.#id);
    const answer = await askOwn(this.#context, { ...head, sql, rowsMax: 1 }, signal);
    return answer.ok ? ok(undefined) : answer;
  }

  /** The head of a statement in it, which is of the user who began it. */
  #headFor(query: Identified): Result<RequestHead, GatewayError> {
    const head = this.#headOf(query);
    if (!head.ok) return head;
    if (!isSameUser(head.value.caller, this.#head.caller)) {
      return err(refusalOf(head.value.caller, "the transaction is another user's"));
    }
    this.#head = head.value;
    return ok(within(head.value, this.#id));
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

function within({ headers, tags, caller }: RequestHead, id: string): RequestHead {
  return { headers: withHeader(headers, requestHeader.transactionId, id), tags, caller };
}

function nothing(): void {}
