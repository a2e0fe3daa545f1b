/**
 * Runs one statement on one connection and says in the port's events what came of it. Where the
 * connection comes from is in connections.ts.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Log } from "@gateway/core/port/log.ts";
import type {
  Description,
  FailedEvent,
  LastEvent,
  ResultStream,
} from "@gateway/core/query/event.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { batchBytes } from "@gateway/core/type/size.ts";
import type { Column, DataType, Parameter } from "@gateway/core/type/type.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import type { ColumnarBatch } from "@gateway/core/type/vector.ts";
import { failureOf, type AdbcFailure } from "../../native/driver.ts";
import { readSchemaMessage } from "../../native/arrow/ipc.ts";
import type { Executed, StatementRequest, ConnectionStep } from "../../native/message.ts";
import type { StreamEvent } from "../../native/reach/driverThread.ts";
import {
  carriedColumns,
  carrying,
  columnsChanged,
  hasChanged,
  unboundedIn,
  unwrapped,
  type Carrying,
} from "./carrying.ts";
import type { Taken } from "./connections.ts";
import type { KnownTexts } from "./known.ts";
import { inferredTypes, isPrepared, openPlaces, withCasts } from "./parameterTypes.ts";
import { breaksConnection, errorOf } from "../errors.ts";
import type { Carried } from "../sql/carried.ts";
import type { Judged } from "../sql/guard.ts";
import type { SessionContext, Profile } from "../profile.ts";
import { withTypeNames } from "../types.ts";
import type { Written } from "../sql/written.ts";

/** What a statement runs with: its connection, the driver's profile, and whom to tell of a failure. */
export interface RunContext {
  readonly cluster: string;
  readonly profile: Profile;
  readonly taken: Taken;
  /** In a transaction, on a connection of its own. */
  readonly pinned: boolean;
  readonly known: KnownTexts;
  /** Called behind a statement that may have changed what names mean. */
  renamed(): void;
  /**
   * Steps that give the connection the session's catalog, schema and settings; none where it has them by
   * itself.
   */
  contextSteps(session: SessionContext): readonly ConnectionStep[];
  readonly clock: Clock;
  readonly log: Log;
  /** Called with every failure, before it becomes an error. */
  failed(failure: AdbcFailure): void;
}

/** A statement that was judged and written in the driver's form. */
export interface EngineStatement {
  readonly written: Written;
  readonly judged: Judged;
  /** What goes before it on its connection. */
  readonly before: readonly ConnectionStep[];
  /** Of a message of its rows (`StatementRequest`). */
  readonly messageBytes?: number | undefined;
}

/** Runs it. Ending the generator early waits until the engine has stopped. */
export async function* runStatement(
  context: RunContext,
  statement: EngineStatement,
  signal: AbortSignal,
): ResultStream {
  const { judged } = statement;
  const startedMs = context.clock.nowMs();
  const asked = await askedFor(context, statement, signal);
  if (!asked.ok) return yield { kind: "failed", error: asked.error };
  const { request, carried, remembered } = asked.value;
  let rows = 0;
  let bytes = 0;
  let names: readonly string[] = [];
  let changed: number | undefined;
  const stream = context.taken.thread.execute(request, signal);
  let ended = false;
  let begun = false;
  try {
    for (;;) {
      const step = await stream.next();
      ended = step.done === true;
      const isStale = remembered && !begun && step.done === true && hasChanged(step.value);
      if (isStale) break;
      if (step.done === true) {
        const stats = { queueMs: 0, executionMs: context.clock.nowMs() - startedMs, rows, bytes };
        const count = changed ?? (step.value.ok ? step.value.value.rowsAffected : undefined);
        const ran = { ...statement, written: asked.value.written };
        yield lastOf(context, ran, step.value, { stats, count });
        return;
      }
      begun = true;
      const event = shownEvent(context, step.value, { carried, names });
      if (event.kind === "failed") {
        context.known.forget();
        context.failed(failureOf("cancelled", "a value that can not be carried"));
        return yield event;
      }
      if (event.kind === "columns") names = event.columns.map(({ name }) => name);
      if (judged.answers === "count") {
        changed = event.kind === "batch" ? changesIn(names, event.batch) : changed;
      } else if (event.kind === "columns") {
        yield { kind: "columns", columns: withTypeNames(event.columns) };
      } else {
        rows += event.batch.rows;
        bytes += batchBytes(event.batch);
        yield event;
      }
    }
  } finally {
    // It may have changed what names mean.
    if (!isPrepared(judged)) context.renamed();
    // The reader left and so cancelled the statement: its connection may be in any state.
    if (!ended) context.taken.spoil();
    await stream.return(err(failureOf("cancelled", "the reader left")));
  }
  // Nothing ran: the statement was refused as it was read.
  context.known.forget();
  if (context.pinned) {
    // That ended the client's transaction, so nothing can be asked in it.
    context.failed(failureOf("cancelled", "the columns changed"));
    return yield { kind: "failed", error: columnsChanged() };
  }
  yield* runStatement(context, { ...statement, before: [] }, signal);
}

/** A statement as it is asked, once its columns are known where that has to be before it runs. */
interface Asked extends Carrying {
  readonly request: StatementRequest;
}

async function askedFor(
  context: RunContext,
  given: EngineStatement,
  signal: AbortSignal,
): Promise<Result<Asked, GatewayError>> {
  const cast = await withCasts(context, given, signal);
  if (!cast.ok) return err(statementError(context, cast.error, given));
  const statement = cast.value;
  const { judged, written } = statement;
  const request = requestOf(context, statement);
  if (!context.profile.asksColumns || !judged.plainQuery || judged.answers !== "rows") {
    return ok({ request, written, carried: undefined, before: [], remembered: false });
  }
  const found = await carrying(context, request, statement, signal);
  if (!found.ok) return err(statementError(context, found.error, statement));
  const { written: whole, before } = found.value;
  return ok({ ...found.value, request: { ...request, sql: whole.sql, before } });
}

/** An event of the driver as it is handed on, or the error where it would be wrong. */
function shownEvent(
  { profile }: RunContext,
  event: StreamEvent,
  { carried, names }: { readonly carried: Carried | undefined; readonly names: readonly string[] },
): StreamEvent | FailedEvent {
  if (event.kind === "batch") {
    const wrong = profile.asksColumns ? unboundedIn(event.batch, names) : undefined;
    return wrong === undefined ? event : { kind: "failed", error: wrong };
  }
  if (carried === undefined) return event;
  const columns = unwrapped(carried, event.columns);
  return columns.ok
    ? { ...event, columns: columns.value }
    : { kind: "failed", error: columns.error };
}

interface Outcome {
  readonly stats: Extract<LastEvent, { kind: "done" }>["stats"];
  readonly count: number | undefined;
}

function lastOf(
  context: RunContext,
  statement: EngineStatement,
  answer: Result<Executed, AdbcFailure>,
  { stats, count }: Outcome,
): LastEvent {
  if (!answer.ok)
    return { kind: "failed", error: statementError(context, answer.error, statement) };
  const { updateType, answers } = statement.judged;
  if (updateType === undefined) return { kind: "done", stats };
  const updateCount = answers === "rows" ? stats.rows : count;
  return { kind: "done", stats, updateType, ...(updateCount === undefined ? {} : { updateCount }) };
}

/** The error of a failed statement. A connection that broke is not used again; a fault of ours is logged. */
function statementError(
  context: RunContext,
  failure: AdbcFailure,
  { written, judged }: Pick<EngineStatement, "written" | "judged">,
): GatewayError {
  context.failed(failure);
  if (breaksConnection(context.profile, failure)) context.taken.spoil();
  if (failure.code === "bug")
    context.log.bug(new Error(failure.message), { cluster: context.cluster });
  return errorOf(context.profile, failure, { ...written, writes: judged.writes });
}

/** Types of parameters and columns, without running. */
export async function describeOn(
  context: RunContext,
  given: EngineStatement,
  signal: AbortSignal,
): Promise<Result<Description, GatewayError>> {
  const { asksColumns } = context.profile;
  if (!asksColumns || given.written.places === 0) return await describedOn(context, given, signal);
  const inferred = await inferredTypes(context, given, signal);
  if (!inferred.ok) return err(statementError(context, inferred.error, given));
  const { types, before } = inferred.value;
  const described = await describedOn(context, { ...given, before }, signal);
  if (!described.ok || types.length === 0) return described;
  return ok({ ...described.value, parameters: openPlaces(given.written, types) });
}

async function describedOn(
  context: RunContext,
  statement: EngineStatement,
  signal: AbortSignal,
): Promise<Result<Description, GatewayError>> {
  const request = { kind: "describe", statement: requestOf(context, statement) } as const;
  const answer = await context.taken.thread.ask(request, signal);
  if (!answer.ok) return err(statementError(context, answer.error, statement));
  if (answer.value.kind !== "described")
    throw new Error("a description answered by something else");
  const { parameters, schema } = answer.value.described;
  const types = Array.from(
    { length: Math.max(parameters.length, statement.written.places) },
    (_, index): DataType => parameters[index] ?? { kind: "null" },
  );
  if (statement.judged.answers === "count") return ok({ parameters: types, columns: [] });
  if (schema !== undefined && context.profile.namesColumns) {
    const found = readSchemaMessage(schema);
    const asked = context.profile.asksColumns && statement.judged.plainQuery;
    const columns = asked ? await shownColumns(context, found, statement, signal) : ok(found);
    if (!columns.ok) return err(statementError(context, columns.error, statement));
    return ok({ parameters: types, columns: withTypeNames(columns.value) });
  }
  const columns = await emptyAnswer(context, statement, signal);
  return columns.ok ? ok({ parameters: types, columns: withTypeNames(columns.value) }) : columns;
}

/** The columns as a query with them is answered. */
async function shownColumns(
  context: RunContext,
  columns: readonly Column[],
  statement: EngineStatement,
  signal: AbortSignal,
): Promise<Result<readonly Column[], AdbcFailure>> {
  const { written } = statement;
  const parameters = Array.from(
    { length: written.places },
    (_, index): Parameter => written.parameters[index] ?? openNull,
  );
  const given = { ...statement, before: [], written: { ...written, parameters } };
  const cast = await withCasts(context, given, signal);
  if (!cast.ok) return cast;
  const carried = await carriedColumns(context, columns, cast.value, signal);
  return carried.ok ? ok(carried.value.columns) : carried;
}

const openNull: Parameter = { type: { kind: "text" }, value: null };

/**
 * The columns of a query, for drivers that do not name them: it runs with `LIMIT 0`, whose result has
 * columns and no rows.
 */
async function emptyAnswer(
  context: RunContext,
  statement: EngineStatement,
  signal: AbortSignal,
): Promise<Result<readonly Column[], GatewayError>> {
  const { written, judged } = statement;
  if (!judged.plainQuery || judged.writes) return ok([]);
  const nulls = Array.from({ length: written.places }, (): Parameter => nothing);
  const empty = { ...written, sql: `SELECT * FROM (${written.sql}) LIMIT 0`, parameters: nulls };
  const request = requestOf(context, { ...statement, written: empty, before: [] });
  let columns: readonly Column[] = [];
  const stream = context.taken.thread.execute(request, signal);
  for (;;) {
    const step = await stream.next();
    if (step.done !== true) {
      if (step.value.kind === "columns") columns = step.value.columns;
    } else {
      if (step.value.ok) return ok(columns);
      return err(statementError(context, step.value.error, statement));
    }
  }
}

const nothing: Parameter = { type: { kind: "null" }, value: null };

/** The error of a statement with more or fewer parameters than places for them. */
export function placesError(
  { places, parameters }: Written,
  given: number,
): GatewayError | undefined {
  // A statement whose places were not found is the engine's to judge.
  if (places === given || (places === 0 && parameters.length === 0 && given === 0))
    return undefined;
  const message = `the statement has ${places} parameters, ${given} were given`;
  // PostgreSQL's own word for a place in a text that came without values.
  return gatewayError("query.parameters", {
    message,
    ...(given === 0 ? { sqlState: "42P02" } : {}),
  });
}

function requestOf(
  { profile, taken }: RunContext,
  { written, judged, before, messageBytes }: EngineStatement,
): StatementRequest {
  const { sql, parameters, shownTag } = written;
  return {
    sql,
    parameters,
    database: taken.database,
    before,
    expected: judged.expected,
    messageBytes,
    options: profile.statementOptions({ plainQuery: judged.plainQuery, tag: shownTag }),
    rowless: profile.counts === "rowless" && judged.answers === "count",
  };
}

/** Rows changed, where an answer says so in a column `Count` (DuckDB) or in `number of rows inserted` (Snowflake). */
function changesIn(names: readonly string[], { columns, rows }: ColumnarBatch): number {
  let changed = 0;
  for (const [index, column] of columns.entries()) {
    const name = names[index] ?? "";
    if (rows === 0 || !(name === "Count" || name.startsWith("number of rows "))) continue;
    const value = valueAt(column, 0);
    if (typeof value === "bigint") changed += Number(value);
  }
  return changed;
}
