/** Statements on one connection in order: one of the pool's for a statement, or a transaction's own. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { PinnedLane } from "@gateway/core/port/backend.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Description, ResultStream } from "@gateway/core/query/event.ts";
import { noBackendIdentity, type BackendIdentity } from "@gateway/core/query/identity.ts";
import type { Identified, Session } from "@gateway/core/query/query.ts";
import { statementComment } from "@gateway/core/query/tagText.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { aftermath, bringLastId, leavesMore } from "./client/aftermath.ts";
import { ask } from "./client/control.ts";
import { describeText } from "./client/describe.ts";
import { judge } from "./sql/guard.ts";
import { changesLimit, hintRefusal, type EngineLimit } from "./limit.ts";
import type { Member } from "./client/member.ts";
import { withLiterals, withQuestions } from "./sql/parameters.ts";
import type { Taken } from "./client/pool.ts";
import { quoteIdentifier } from "./sql/quote.ts";
import { runText, type TextStatement, type Trace } from "./client/run.ts";
import {
  bringing,
  bringNames,
  catalogName,
  modeVariable,
  readsBackslashes,
  setStatement,
  usedDatabase,
  variablesSet,
  type Modes,
} from "./client/session.ts";

/** What a statement runs with, apart from its connection. */
export interface RunContext {
  readonly clock: Clock;
  readonly database: string | undefined;
  readonly limit: EngineLimit;
  /** Ends what the connection still runs in the server, and waits for it. */
  endIn(member: Member): Promise<void>;
}

/** Runs one statement on a connection. It is tainted when anything may be left on it. */
export async function* runOn(
  member: Member,
  query: Identified,
  context: RunContext,
  signal: AbortSignal,
): ResultStream {
  const { engineSql: sql, session } = query;
  const brought = await bring(member, session, context, signal);
  if (brought !== undefined) return yield { kind: "failed", error: brought };
  const database = usedDatabase(sql);
  if (database !== undefined) return yield* use(member, database, context, signal);
  const variables = variablesSet(sql);
  if (variables !== undefined) return yield* set(member, variables, context, signal);
  const statement = statementOf(member, query, context);
  if (!statement.ok) return yield { kind: "failed", error: statement.error };
  const refused =
    (await limited(member, query, context, signal)) ??
    (await bringLastId(member, session, sql, signal));
  if (refused !== undefined) return yield { kind: "failed", error: refused };
  if (signal.aborted) return yield { kind: "failed", error: gatewayError("query.cancelled") };
  const trace: Trace = { open: false, warnings: 0 };
  let ending: Promise<void> | undefined;
  /** Ends it in the server, once: when the reader leaves or the signal comes, before anything else is sent. */
  const end = (): Promise<void> => {
    member.tainted = true;
    ending ??= context.endIn(member);
    return ending;
  };
  const abort = (): void => void end();
  signal.addEventListener("abort", abort, { once: true });
  try {
    // In one generator with what is above: each further one would cost time for every event.
    for await (const event of runText(statement.value, trace)) {
      const last = event.kind === "done" || event.kind === "failed";
      if (last && trace.open) await end();
      if (ending !== undefined) await ending;
      if (event.kind === "failed" && signal.aborted) {
        yield { kind: "failed", error: gatewayError("query.cancelled") };
      } else if (event.kind === "done" && ending === undefined && leavesMore(sql, event, trace)) {
        yield* await aftermath(member, { sql, session, done: event, ...trace }, signal);
      } else yield event;
    }
  } finally {
    signal.removeEventListener("abort", abort);
    if (trace.open || ending !== undefined) await end();
  }
}

/**
 * The text as it is sent, or why it is not. A statement that leaves something on the connection taints it
 * from here on.
 */
function statementOf(
  member: Member,
  query: Identified,
  { clock }: RunContext,
): Result<TextStatement, GatewayError> {
  const judged = judge(query.engineSql);
  if (!judged.ok) return judged;
  const text = withLiterals(query.engineSql, query.parameters);
  if (!text.ok) return text;
  if (judged.value.leaves) member.tainted = true;
  const sql = `${statementComment(query)}${text.value}`;
  const native = query.takes.includes("mysqlRows");
  return ok({ member, clock, sql, tag: judged.value.tag, native });
}

/** The error when the statement can not get the limit that it must be sent with. */
async function limited(
  member: Member,
  { engineSql, maxExecutionMs }: Identified,
  { limit }: RunContext,
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  if (maxExecutionMs === undefined) return undefined;
  return hintRefusal(engineSql) ?? (await limit.bring(member, maxExecutionMs, signal));
}

/**
 * Brings the connection where the session stands. The error where it can not get there. `modes` says which strings
 * its caller writes: a connection under NO_BACKSLASH_ESCAPES would read the others as something else.
 */
export async function bring(
  member: Member,
  session: Session,
  { database, modes = "escaping" }: Pick<RunContext, "database"> & { readonly modes?: Modes },
  signal: AbortSignal,
): Promise<GatewayError | undefined> {
  const mode = session.frontend === "mysqlWire" ? session.settings.get(modeVariable) : undefined;
  if (modes === "escaping" && readsBackslashes(mode)) return otherStrings;
  await bringNames(member, session, signal);
  const statements = bringing(member, session, database) ?? [];
  for (const { sql, variable } of statements) {
    const done = await ask(member, sql, signal);
    // Whatever it is now: a mode that was set, and the error behind it, must not meet another's text.
    if (!done.ok) member.tainted = true;
    if (!done.ok) return done.error;
    if (variable !== undefined) remember(member, variable.name, variable.value);
  }
  member.database = session.schema ?? database ?? member.database;
  return undefined;
}

const otherStrings = gatewayError("query.unsupported", {
  message: "the session's sql_mode NO_BACKSLASH_ESCAPES is none of this engine's",
});

function remember(member: Member, name: string, value: string): void {
  if (changesLimit(name) && member.variables.get(name) !== value) member.limit = undefined;
  member.variables.set(name, value);
}

/** Runs `USE`. */
export async function* use(
  member: Member,
  database: string,
  context: Pick<RunContext, "clock">,
  signal: AbortSignal,
): ResultStream {
  const startedMs = context.clock.nowMs();
  const gone = await ask(member, `USE ${quoteIdentifier(database)}`, signal);
  if (!gone.ok) return yield { kind: "failed", error: gone.error };
  member.database = database;
  yield { kind: "session", change: { kind: "catalog", catalog: catalogName, schema: database } };
  yield { kind: "done", stats: statsSince(startedMs, context.clock), updateType: "USE" };
}

/** Runs `SET` of variables, which the session takes over. */
export async function* set(
  member: Member,
  variables: ReadonlyMap<string, string>,
  context: Pick<RunContext, "clock">,
  signal: AbortSignal,
): ResultStream {
  const startedMs = context.clock.nowMs();
  for (const [name, value] of variables) {
    const mode = member.variables.get(modeVariable);
    const done = await ask(member, setStatement(name, value, mode), signal);
    // Some may be set by now and others not.
    if (!done.ok) member.tainted = true;
    // Also the same value again: the connection's own may be lower by now.
    if (changesLimit(name)) member.limit = undefined;
    if (!done.ok) return yield { kind: "failed", error: done.error };
    remember(member, name, value);
  }
  for (const [name, value] of variables) {
    yield { kind: "session", change: { kind: "setting", name, value } };
  }
  yield { kind: "done", stats: statsSince(startedMs, context.clock), updateType: "SET" };
}

function statsSince(startedMs: number, clock: Clock) {
  return { queueMs: 0, executionMs: clock.nowMs() - startedMs, rows: 0, bytes: 0 };
}

/** Columns without running. Parameters have no types before they have values. */
export async function describeOn(
  member: Member,
  query: Identified,
  context: RunContext,
  signal: AbortSignal,
): Promise<Result<Description, GatewayError>> {
  const { engineSql, session } = query;
  if (usedDatabase(engineSql) !== undefined || variablesSet(engineSql) !== undefined) {
    return ok({ parameters: [], columns: [] });
  }
  const judged = judge(engineSql);
  if (!judged.ok) return judged;
  const brought = await bring(member, session, context, signal);
  if (brought !== undefined) return err(brought);
  const asked = withQuestions(engineSql);
  if (!asked.ok) return asked;
  const parameters = Array.from(
    { length: asked.value.count },
    (_, index) => query.parameters[index]?.type ?? ({ kind: "null" } as const),
  );
  const text = `${statementComment(query)}${asked.value.sql}`;
  const described = await describeText(member, text, signal);
  if (!described.ok) return described;
  const { columns, native } = described.value;
  // A parameter that stands in two places is two for the server.
  if (described.value.parameters !== parameters.length) return ok({ parameters, columns });
  return ok({ parameters, columns, native: { format: "mysqlRows", ...native } });
}

/** A transaction on a connection of its own. */
export class TransactionLane implements PinnedLane {
  readonly #taken: Taken;
  readonly #context: RunContext;
  readonly #identity: BackendIdentity;
  #turn: Promise<void> = Promise.resolve();
  #closed = false;

  /** `taken` has a transaction begun on it, as `identity`. */
  constructor(taken: Taken, context: RunContext, identity: BackendIdentity) {
    this.#taken = taken;
    this.#context = context;
    this.#identity = identity;
  }

  async *execute(query: Identified, signal: AbortSignal): ResultStream {
    using _turn = await this.#takeTurn();
    const refused = this.#refusal(query);
    if (refused !== undefined) return yield { kind: "failed", error: refused };
    yield* runOn(this.#taken.member, query, this.#context, signal);
  }

  async describe(
    query: Identified,
    signal: AbortSignal,
  ): Promise<Result<Description, GatewayError>> {
    using _turn = await this.#takeTurn();
    const refused = this.#refusal(query);
    return refused === undefined
      ? await describeOn(this.#taken.member, query, this.#context, signal)
      : err(refused);
  }

  commit(signal: AbortSignal): Promise<Result<void, GatewayError>> {
    return this.#end("COMMIT", signal);
  }

  rollback(signal: AbortSignal): Promise<Result<void, GatewayError>> {
    return this.#end("ROLLBACK", signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const { member } = this.#taken;
    // Closing the connection rolls back what is open; one that ended its transaction may be used again.
    if (this.#open) {
      if (member.open) await this.#context.endIn(member);
      member.tainted = true;
    }
    this.#taken[Symbol.dispose]();
  }

  #open = true;

  #refusal({ backendIdentity, group }: Identified): GatewayError | undefined {
    if (this.#closed) return over;
    if (nameOf(backendIdentity) === nameOf(this.#identity)) return undefined;
    const detail = "the transaction is another's";
    return noBackendIdentity(backendIdentity.mode, group, { detail });
  }

  async #end(sql: "COMMIT" | "ROLLBACK", signal: AbortSignal): Promise<Result<void, GatewayError>> {
    using _turn = await this.#takeTurn();
    if (this.#closed) return err(over);
    const done = await ask(this.#taken.member, sql, signal);
    if (!done.ok) return done;
    this.#open = false;
    return ok(undefined);
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

function nameOf(identity: BackendIdentity): string | undefined {
  return identity.mode === "passthrough" ? identity.principal : undefined;
}

const over: GatewayError = gatewayError("query.transaction", {
  message: "the transaction is over",
});

function nothing(): void {}
