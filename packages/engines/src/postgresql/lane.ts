/** Statements on one connection in order: one of the pool's for a statement, or a transaction's own. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { PinnedLane } from "@gateway/core/port/backend.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import { noBackendIdentity, type BackendIdentity } from "@gateway/core/query/identity.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { statementComment } from "@gateway/core/query/tagText.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Division, Isolation } from "@gateway/core/sql/session/statement.ts";
import { ask } from "./client/ask.ts";
import { Conversation } from "./client/conversation.ts";
import type { Member } from "./client/member.ts";
import type { Taken } from "./client/pool.ts";
import { columnsOf, runCall, type Call, type Trace } from "./client/run.ts";
import { bring } from "./client/settings.ts";
import { brokenError, errorOf } from "./errors.ts";
import { nameOf } from "./identity.ts";
import { judge } from "./sql/guard.ts";
import { boundText, quoteIdentifier } from "./sql/quote.ts";
import { changedIsolation } from "./sql/modes.ts";
import { oidOf, parameterTypeOf, ruleOf } from "./types.ts";

/** What a statement runs with, apart from its connection. */
export interface RunContext {
  readonly clock: Clock;
  /** True where the connection is the statement's own until its transaction is over. */
  readonly pinned: boolean;
  /** Asks the server to end what the connection runs; resolves when it was told. */
  readonly cancel: (member: Member) => Promise<boolean>;
}

/** How long a server may take to end a statement before its connection is thrown away. */
const endingMs = 10_000;

/** Runs one statement on a connection, which is marked where anything may be left on it. */
export async function* runOn(
  member: Member,
  query: Identified,
  context: RunContext,
  signal: AbortSignal,
): ResultStream {
  const call = callOf(member, query, context);
  if (!call.ok) return yield { kind: "failed", error: call.error };
  const refused = await bring(member, query, signal);
  if (refused !== undefined) return yield { kind: "failed", error: refused };
  if (signal.aborted) return yield { kind: "failed", error: gatewayError("query.cancelled") };
  const trace: Trace = { open: false };
  let ending: Promise<void> | undefined;
  /** Ends it in the server, once. A cancel that comes late must not meet the connection's next statement. */
  const end = (): Promise<void> => {
    member.tainted = true;
    ending ??= cancelled(member, context);
    return ending;
  };
  const abort = (): void => void end();
  signal.addEventListener("abort", abort, { once: true });
  try {
    for await (const event of runCall(member, call.value, context.clock, trace)) {
      const last = event.kind === "done" || event.kind === "failed";
      if (last && trace.open) {
        await drained(member, end, context);
        trace.open = false;
      }
      if (last && ending !== undefined) await ending;
      if (event.kind === "failed" && signal.aborted)
        yield { kind: "failed", error: gatewayError("query.cancelled") };
      else yield event;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    if (trace.open && member.open) await drained(member, end, context);
    if (ending !== undefined) await ending;
  }
}

/** Asks the server to stop, and gives the connection up when it does not answer in time. */
async function cancelled(member: Member, { cancel }: RunContext): Promise<void> {
  if (!(await cancel(member))) member.destroy();
}

/** Reads what the server still has to say, until it is ready. */
async function drained(
  member: Member,
  end: () => Promise<void>,
  { clock }: RunContext,
): Promise<void> {
  using _limit = clock.timer(endingMs, () => member.destroy());
  const told = end();
  while (member.open) {
    const message = await member.skipped();
    if (message === undefined || message.kind === "ready") break;
  }
  await told;
}

/** The text and values as they are sent, or why they are not. Marks what the statement may leave behind. */
function callOf(
  member: Member,
  query: Identified,
  { pinned }: RunContext,
): Result<Call, GatewayError> {
  const { engineSql: sql, call } = query;
  const judged = judge(sql, {
    pinned,
    copies: call?.copy !== undefined,
    shared: query.backendIdentity.mode === "serviceAccount",
  });
  if (!judged.ok) return judged;
  if (judged.value.leaves) member.used = true;
  const prefix = statementComment(query);
  const shared = {
    text: `${prefix}${sql}`,
    sent: { sql, prefix: prefix.length },
    tag: judged.value.query ? undefined : judged.value.tag,
  };
  if (call !== undefined) {
    const { types, formats, values, resultFormats, simple, copy } = call;
    return ok({ ...shared, types, formats, values, resultFormats, simple, copy });
  }
  const { parameters } = query;
  return ok({
    ...shared,
    types: parameters.map(oidOf),
    formats: [],
    values: parameters.map(boundText),
    resultFormats: undefined,
    simple: false,
    copy: undefined,
  });
}

/** Parameters and columns without running. */
export async function describeOn(
  member: Member,
  query: Identified,
  context: RunContext,
  signal: AbortSignal,
): Promise<Result<Description, GatewayError>> {
  const made = callOf(member, query, context);
  if (!made.ok) return made;
  const refused = await bring(member, query, signal);
  if (refused !== undefined) return err(refused);
  if (signal.aborted) return err(gatewayError("query.cancelled"));
  const { text, sent, types } = made.value;
  const leave = (): void => member.destroy();
  signal.addEventListener("abort", leave, { once: true });
  try {
    member.put({ kind: "parse", statement: "", sql: text, types });
    member.put({ kind: "describe", target: "statement", name: "" });
    member.put({ kind: "sync" });
    member.flush();
    const described = await descriptionOf(
      new Conversation(member, (report) => errorOf(report, sent)),
      query.call !== undefined,
    );
    return described.ok || !signal.aborted ? described : err(gatewayError("query.cancelled"));
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

async function descriptionOf(
  talk: Conversation,
  native: boolean,
): Promise<Result<Description, GatewayError>> {
  const failed = await talk.expect("parseComplete");
  const oids = failed ?? (await talk.parameters());
  const head = "kind" in oids ? oids : await talk.described();
  const broken = await talk.ready();
  if (head.kind === "failed") return err(head.error);
  if (broken !== undefined) return err(broken.error);
  if ("kind" in oids) return err(brokenError("a description without parameters"));
  const rules = head.fields.map(({ type, modifier }) => ruleOf(type, modifier));
  const columns = columnsOf(head.fields, rules, native);
  const described = { parameters: oids.map(parameterTypeOf), columns };
  return ok(native ? { ...described, parameterOids: oids } : described);
}

/** What a lane has from its BEGIN. */
export interface Begun {
  readonly taken: Taken;
  readonly identity: BackendIdentity;
  /** What the server was told; undefined where it decides. */
  readonly isolation: Isolation | undefined;
}

/** A transaction on a connection of its own, which does one thing at a time. */
export class TransactionLane implements PinnedLane {
  readonly #taken: Taken;
  readonly #context: RunContext;
  readonly #identity: BackendIdentity;
  #isolation: Isolation | undefined;
  #turn: Promise<void> = Promise.resolve();
  #closed = false;
  #open = true;

  constructor({ taken, identity, isolation }: Begun, context: RunContext) {
    this.#taken = taken;
    this.#identity = identity;
    this.#isolation = isolation;
    this.#context = context;
  }

  async *execute(query: Identified, signal: AbortSignal): ResultStream {
    using _turn = await this.#takeTurn();
    const refused = this.#refusal(query) ?? (await this.#isolate(query, signal));
    if (refused !== undefined) return yield { kind: "failed", error: refused };
    yield* runOn(this.#taken.member, query, this.#context, signal);
  }

  async describe(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    using _turn = await this.#takeTurn();
    const refused = this.#refusal(query) ?? (await this.#isolate(query, signal));
    if (refused !== undefined) return err(refused);
    return await describeOn(this.#taken.member, query, this.#context, signal);
  }

  async commit(signal: AbortSignal): Promise<Result<void, GatewayError>> {
    using _turn = await this.#takeTurn();
    const ended = await this.#end("COMMIT", signal);
    if (!ended.ok) return ended;
    // A server answers COMMIT of a transaction that failed with success although nothing is kept.
    return ended.value === "COMMIT" ? ok(undefined) : err(gatewayError("query.transactionAborted"));
  }

  async rollback(signal: AbortSignal): Promise<Result<void, GatewayError>> {
    using _turn = await this.#takeTurn();
    const ended = await this.#end("ROLLBACK", signal);
    return ended.ok ? ok(undefined) : ended;
  }

  async divide({ kind, name }: Division, signal: AbortSignal): Promise<Result<void, GatewayError>> {
    using _turn = await this.#takeTurn();
    if (this.#closed || !this.#open) return err(over);
    const { member } = this.#taken;
    const done = await ask(member, `${divisionWords[kind]} ${quoteIdentifier(name)}`, signal);
    if (kind === "rollbackToSavepoint") member.forgetSettings();
    return done.ok ? ok(undefined) : done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const { member } = this.#taken;
    if (this.#open) {
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
  async #isolate({ session }: Identified, signal: AbortSignal): Promise<GatewayError | undefined> {
    const changed = changedIsolation(session, this.#isolation);
    if (changed === undefined) return undefined;
    const done = await ask(this.#taken.member, changed.sql, signal);
    if (!done.ok) return done.error;
    this.#isolation = changed.isolation;
    return undefined;
  }

  async #end(
    sql: "COMMIT" | "ROLLBACK",
    signal: AbortSignal,
  ): Promise<Result<string, GatewayError>> {
    if (this.#closed || !this.#open) return err(over);
    const { member } = this.#taken;
    const done = await ask(member, sql, signal);
    if (done.ok && done.value.tag === "ROLLBACK") member.forgetSettings();
    if (!done.ok) return done;
    this.#open = false;
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
