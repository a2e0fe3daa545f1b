/**
 * Runs one statement on one thread and says in the port's events what came of it. Where the thread
 * and its connection come from is in adapter.ts and lane.ts.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Log } from "@gateway/core/port/log.ts";
import type {
  Description,
  DoneEvent,
  LastEvent,
  ResultEvent,
  ResultStream,
} from "@gateway/core/query/event.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { batchBytes } from "@gateway/core/type/size.ts";
import type { DataType, Parameter, Value } from "@gateway/core/type/type.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import type { ColumnarBatch } from "@gateway/core/type/vector.ts";
import type { AdbcFailure } from "../../native/driver.ts";
import type { DriverThread, StreamEvent } from "../../native/reach/driverThread.ts";
import { readSchemaMessage } from "../../native/arrow/ipc.ts";
import type { Described, Executed, StatementRequest } from "../../native/message.ts";
import type { Address } from "../../native/memory/native.ts";
import type { FailedStatement } from "../library/failure.ts";
import { errorOf } from "../errors.ts";
import type { Guarded } from "../library/guard.ts";
import { countPlaces, guessTypes, type GuessWhere, type Look } from "../sql/guess.ts";
import { withKnownTypes } from "../sql/places.ts";
import { statementBegins } from "./statementLog.ts";
import { withEngineTypes } from "../types.ts";

/** What a statement runs with: its connection, and whom to tell of a failure. */
export interface RunContext {
  readonly cluster: string;
  readonly thread: DriverThread;
  /** A new connection of this database for each statement; undefined means the one the thread keeps. */
  readonly database: Address | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * What happened to the database's contents when the engine's process ended; undefined when they are in a
   * file, where nothing did.
   */
  readonly afterCrash: string | undefined;
  /** Called with every failure, before it becomes an error. */
  failed(failure: AdbcFailure): void;
}

/** A statement that was judged. */
export interface EngineStatement {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
  /** Statements that go before it on its connection. */
  readonly before: readonly string[];
  readonly guarded: Guarded;
  /** Of a message of its rows (`StatementRequest`). */
  readonly messageBytes?: number | undefined;
}

/** Runs it. Ending the generator early waits until the engine has stopped. */
export async function* runStatement(
  context: RunContext,
  statement: EngineStatement,
  signal: AbortSignal,
): ResultStream {
  const { guarded, sql } = statement;
  const startedMs = context.clock.nowMs();
  let rows = 0;
  let bytes = 0;
  let changed: number | undefined;
  using _logged = statementBegins(context.cluster, sql, context.clock);
  const stream = context.thread.execute(requestOf(context, statement), signal);
  try {
    for (;;) {
      const step = await stream.next();
      if (step.done === true) {
        const stats = { queueMs: 0, executionMs: context.clock.nowMs() - startedMs, rows, bytes };
        yield lastOf(context, statement, step.value, { stats, changed });
        return;
      }
      const event = step.value;
      if (guarded.answers === "count") {
        changed = countIn(event) ?? changed;
        continue;
      }
      if (event.kind === "batch") {
        rows += event.batch.rows;
        bytes += batchBytes(event.batch);
      }
      yield shown(event);
    }
  } finally {
    await stream.return(err(cancelledFailure));
  }
}

function shown(event: StreamEvent): ResultEvent {
  if (event.kind === "batch") return event;
  return { kind: "columns", columns: withEngineTypes(event.columns) };
}

/** What a statement came to, beside its answer. */
interface Outcome {
  readonly stats: DoneEvent["stats"];
  readonly changed: number | undefined;
}

function lastOf(
  context: RunContext,
  { sql, guarded }: EngineStatement,
  answer: Result<Executed, AdbcFailure>,
  { stats, changed }: Outcome,
): LastEvent {
  if (!answer.ok) {
    return {
      kind: "failed",
      error: failureOf(context, answer.error, { sql, writes: guarded.writes }),
    };
  }
  const { updateType } = guarded;
  if (updateType === undefined) return { kind: "done", stats };
  const updateCount = guarded.answers === "rows" ? stats.rows : changed;
  return { kind: "done", stats, updateType, ...(updateCount === undefined ? {} : { updateCount }) };
}

const cancelledFailure: AdbcFailure = {
  code: "cancelled",
  status: 0,
  message: "the reader left",
  vendorCode: undefined,
  sqlState: undefined,
};

/** Types of parameters and columns, without running. */
export async function describeOn(
  context: RunContext,
  statement: EngineStatement,
  signal: AbortSignal,
): Promise<Result<Description, GatewayError>> {
  const described = await askDescription(context, statement, signal);
  const asked = { sql: statement.sql, writes: false };
  if (!described.ok) {
    // A function that makes tables names its columns with a value only: `range($1::integer)`.
    const known = Array.from({ length: countPlaces(statement.sql) }, () => undefined);
    const where = { known, stated: statement.parameters, plainOnly: true };
    const guessed = await guess(context, statement, where, signal);
    return guessed === undefined ? err(failureOf(context, described.error, asked)) : ok(guessed);
  }
  const { parameters, schema } = described.value;
  const types = parameters.map((type): DataType => type ?? { kind: "null" });
  if (statement.guarded.answers === "count") return ok({ parameters: types, columns: [] });
  if (schema !== undefined) {
    return ok({ parameters: types, columns: withEngineTypes(readSchemaMessage(schema)) });
  }
  // DuckDB waits for the values of some parameters before it names the columns.
  const sql = withKnownTypes(statement.sql, parameters, statement.parameters);
  const again = await askDescription(context, { ...statement, sql }, signal);
  const guessed = again.ok
    ? undefined
    : await guess(context, statement, { known: parameters, stated: statement.parameters }, signal);
  if (guessed !== undefined) return ok(guessed);
  if (!again.ok) return err(withoutPosition(failureOf(context, again.error, asked)));
  const columns = again.value.schema === undefined ? [] : readSchemaMessage(again.value.schema);
  return ok({ parameters: types, columns: withEngineTypes(columns) });
}

/** Parameters and columns of a statement that makes no sense when its unknown parameters are text. */
async function guess(
  context: RunContext,
  statement: EngineStatement,
  where: GuessWhere,
  signal: AbortSignal,
): Promise<Description | undefined> {
  const look: Look = async (sql) => {
    const described = await askDescription(context, { ...statement, sql }, signal);
    const schema = described.ok ? described.value.schema : undefined;
    return schema === undefined ? undefined : withEngineTypes(readSchemaMessage(schema));
  };
  const found = await guessTypes(statement.sql, where, look);
  return found && { parameters: found.types, columns: found.columns };
}

/** Every row of a small answer as values, for the engine's own catalog. */
export async function rowsOf(
  thread: DriverThread,
  request: StatementRequest,
  signal: AbortSignal,
): Promise<Result<readonly (readonly Value[])[], AdbcFailure>> {
  const rows: (readonly Value[])[] = [];
  const stream = thread.execute(request, signal);
  for (;;) {
    const step = await stream.next();
    if (step.done === true) return step.value.ok ? ok(rows) : step.value;
    if (step.value.kind !== "batch") continue;
    const { batch } = step.value;
    for (let row = 0; row < batch.rows; row += 1) {
      rows.push(batch.columns.map((column) => valueAt(column, row)));
    }
  }
}

/** The error of a failure, after `context` was told and faults of ours were logged. */
export function failureOf(
  context: RunContext,
  failure: AdbcFailure,
  statement: FailedStatement,
): GatewayError {
  context.failed(failure);
  if (failure.code === "bug")
    context.log.bug(new Error(failure.message), { cluster: context.cluster });
  const error = errorOf(failure, statement);
  if (failure.code !== "crashed" || context.afterCrash === undefined) return error;
  return { ...error, message: `${error.message} ${context.afterCrash}` };
}

async function askDescription(
  context: RunContext,
  statement: EngineStatement,
  signal: AbortSignal,
): Promise<Result<Described, AdbcFailure>> {
  const request = { kind: "describe", statement: requestOf(context, statement) } as const;
  const answer = await context.thread.ask(request, signal);
  if (!answer.ok) return answer;
  if (answer.value.kind !== "described")
    throw new Error("a description answered by something else");
  return ok(answer.value.described);
}

function requestOf(
  { database }: RunContext,
  { sql, parameters, before, guarded, messageBytes }: EngineStatement,
): StatementRequest {
  return { sql, parameters, database, before, expected: guarded.expected, messageBytes };
}

/** How many rows changed: DuckDB answers such statements with one number in a column `Count`. */
function countIn(event: StreamEvent): number | undefined {
  if (event.kind !== "batch") return undefined;
  return numberIn(event.batch);
}

function numberIn({ columns, rows }: ColumnarBatch): number | undefined {
  const [column] = columns;
  if (column === undefined || rows === 0 || column.type.kind !== "integer") return undefined;
  const value = valueAt(column, 0);
  return typeof value === "bigint" ? Number(value) : undefined;
}

function withoutPosition({ position: _position, ...error }: GatewayError): GatewayError {
  return error;
}

/** The error of a query that got no connection. */
export function notTaken(signal: AbortSignal): GatewayError {
  return gatewayError(signal.aborted ? "query.cancelled" : "cluster.unavailable");
}
