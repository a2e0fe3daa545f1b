/**
 * One statement's answer: rows that the frontend made, or the engine's stream turned into packets.
 *
 * The engine is asked for the next event only when the socket took what was written, so a slow client
 * slows the engine.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { DoneEvent, ResultEvent, ResultStream } from "@gateway/core/query/event.ts";
import type { Answer } from "@gateway/core/query/course.ts";
import type { Query } from "@gateway/core/query/query.ts";
import { batchOf } from "@gateway/core/type/build.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import type { Batch, NativeFormat } from "@gateway/core/type/vector.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import {
  affectedRowsOf,
  putColumns,
  putEvent,
  putNextResult,
  putRowsEnd,
  withServerStatus,
  type NextBatch,
} from "../encode.ts";
import { errorReply } from "../errors.ts";
import { flushBytes } from "../limits.ts";
import { encoderOf, rowsAsWritten } from "../value/encoders.ts";
import { nativeTypes } from "../value/nativeRows.ts";
import { relayWhole } from "../value/relay.ts";
import type { RowEncoder, RowFormat } from "../value/rows.ts";
import type { Responder } from "./responder.ts";
import { tellsFoundRows } from "../read/rowCount.ts";
import type { EngineStatement } from "./statement.ts";
import { endedByServer } from "./transaction.ts";

/** How one statement of a command is answered. */
export interface AnswerForm {
  readonly rows: "text" | "binary";
  /** Another statement's answer follows. */
  readonly moreFollow: boolean;
}

/** A result set while its events come. */
interface ResultSet {
  readonly query: Query;
  readonly statement: EngineStatement;
  readonly form: AnswerForm;
  hasColumns: boolean;
  /** Something of the answer was written. */
  begun: boolean;
  /** MySQL's types of the columns, where rows come as its packets. */
  types: readonly number[];
  rows: number;
}

/** How it ended: as the engine said, at the session's limit of rows, or with an error. */
type Ended = "done" | "limited" | GatewayError;

/** Answers with rows the frontend made itself. */
export async function putRows(
  responder: Responder,
  columns: readonly Column[],
  rows: readonly (readonly Value[])[],
  form: AnswerForm,
): Promise<true> {
  putColumns(responder.out, columns, responder.context(form.moreFollow));
  await putBatch(responder, batchOf(columns, rows), { form, types: [] }, rows.length);
  // A question about the server keeps the warnings of the last statement, but does not count them.
  putRowsEnd(responder.out, { ...responder.context(form.moreFollow), warnings: 0 });
  responder.client = { ...responder.client, rowCount: -1, foundRows: rows.length };
  return true;
}

const noTypes: readonly number[] = [];

/** Runs a statement on the engine and writes its whole answer. False when it failed. */
export function putResult(
  responder: Responder,
  statement: EngineStatement,
  form: AnswerForm,
): Promise<boolean> {
  return new AskedResult(responder, statement, form).whole();
}

/** A statement that the door was asked. Whoever waits for its answer puts it, and leaves where there is none: a function of its own that waits is one promise more for each query. */
export class AskedResult {
  readonly answer: Promise<Answer> | ResultStream;
  readonly #responder: Responder;
  readonly #result: ResultSet;
  readonly #limit: Disposable | undefined;
  #isOver = false;

  constructor(responder: Responder, statement: EngineStatement, form: AnswerForm) {
    const query = responder.open(statement, nativeRows);
    this.#responder = responder;
    this.#result = {
      query,
      statement,
      form,
      hasColumns: false,
      begun: false,
      types: noTypes,
      rows: 0,
    };
    const { signal } = responder.begin(query);
    this.#limit = responder.limited(statement.timeMs);
    const { door } = responder;
    try {
      this.answer = door.answer?.(query, signal) ?? door.run(query, signal);
    } catch (bug) {
      this.leave();
      throw bug;
    }
  }

  /** Waits for the answer and writes it. */
  async whole(): Promise<boolean> {
    try {
      return await this.put(await this.answer);
    } finally {
      this.leave();
    }
  }

  /** Writes the answer. False when the statement failed; a promise only where something has to be waited for. */
  put(answer: Answer): Promise<boolean> | boolean {
    const result = this.#result;
    const putting =
      Symbol.asyncIterator in answer
        ? streamed(this.#responder, answer, result)
        : atOnce(this.#responder, answer, result);
    return putting instanceof Promise
      ? putting.then((ended) => this.#close(ended))
      : this.#close(putting);
  }

  /** It runs no longer. Once; behind it nothing happens. */
  leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#limit?.[Symbol.dispose]();
    this.#responder.ran();
  }

  /** A stream without a last event must not look like a complete result. */
  #close(ended: Ended = gatewayError("engine.broken")): Promise<boolean> | boolean {
    this.leave();
    if (ended !== "done") return close(this.#responder, ended, this.#result);
    this.#responder.told();
    return true;
  }
}

/** The same where an answer may still be waited for. */
export function settled<Begun>(begun: Begun | AskedResult): Begun | Promise<boolean> {
  return begun instanceof AskedResult ? begun.whole() : begun;
}

/** Writes events as they come, up to how the result ended. */
async function streamed(
  responder: Responder,
  events: ResultStream,
  result: ResultSet,
): Promise<Ended | undefined> {
  for await (const event of events) {
    const step = writeEvent(responder, event, result);
    const over = step instanceof Promise ? await step : step;
    if (over !== undefined) return over;
  }
  return undefined;
}

/** The same of events that are all here. A promise only where the client or the end of a transaction is waited for. */
function atOnce(
  responder: Responder,
  events: readonly ResultEvent[],
  result: ResultSet,
  first = 0,
): Promise<Ended | undefined> | Ended | undefined {
  if (first === 0 && putWhole(responder, events, result)) return "done";
  for (let index = first; index < events.length; index += 1) {
    const event = events[index];
    const step = event && writeEvent(responder, event, result);
    if (step instanceof Promise)
      return step.then((over) => over ?? atOnce(responder, events, result, index + 1));
    if (step !== undefined) return step;
  }
  return undefined;
}

/** Bytes of rows that are written in one go. */
const wholeBytesMax = 8 * 1024;

/**
 * Writes a short result of a server of MySQL's outside of transactions, which is most of them: its packets go on with
 * the same head as the last time. False, and nothing is written, where its events have to be looked at one by one.
 */
function putWhole(
  responder: Responder,
  events: readonly ResultEvent[],
  result: ResultSet,
): boolean {
  const { out, client } = responder;
  const { query, statement, form } = result;
  const [columns, rows, done] = [events[0], events[1], events[2]];
  if (columns?.kind !== "columns" || rows?.kind !== "batch" || done?.kind !== "done") return false;
  const { native } = columns;
  const { batch } = rows;
  if (native?.format !== "mysqlRows" || batch.form !== "native" || batch.next !== undefined)
    return false;
  if (form.rows !== "text" && batch.format !== "mysqlBinaryRows") return false;
  if (events.length !== 3 || columns.columns.length === 0) return false;
  if (out.at > 0 || batch.bytes.length > wholeBytesMax) return false;
  if (statement.rowLimit !== undefined || client.session.pin !== undefined) return false;
  const context = responder.context(form.moreFollow, query.id);
  responder.heads.put(out, columns, withServerStatus(context, native.status));
  relayWhole(out, batch.rows, batch.bytes);
  result.hasColumns = true;
  result.begun = true;
  result.rows = batch.rows;
  count(responder, done, result);
  putEvent(out, done, true, withServerStatus(context, done.report?.status));
  return true;
}

/** Writes what an event brings, and tells how the result ended where that was its last one. */
function writeEvent(
  responder: Responder,
  event: ResultEvent,
  result: ResultSet,
): Promise<Ended | undefined> | Ended | undefined {
  const behind = endedByServer(responder, event);
  if (behind !== undefined) return behind.then(() => writeOne(responder, event, result));
  return writeOne(responder, event, result);
}

function writeOne(
  responder: Responder,
  event: ResultEvent,
  result: ResultSet,
): Promise<Ended | undefined> | Ended | undefined {
  return event.kind === "batch"
    ? rowsOf(responder, event.batch, result)
    : tell(responder, event, result);
}

/** Rows of an engine that speaks MySQL are what the client reads: the session's zone is on the engine's connection. */
export const nativeRows: readonly NativeFormat[] = ["mysqlRows"];

/** Writes rows as far as they are wanted. */
function rowsOf(
  responder: Responder,
  batch: Batch,
  result: ResultSet,
): Promise<Ended | undefined> | Ended | undefined {
  if (batch.form === "native" && batch.next !== undefined)
    return goOn(responder, { ...batch, next: batch.next }, result);
  const { rowLimit = Infinity } = result.statement;
  const wanted = Math.min(batch.rows, rowLimit - result.rows);
  const failed = putBatch(responder, batch, result, wanted);
  const over = (error: GatewayError | undefined): Ended | undefined => {
    result.rows += wanted;
    return error ?? (result.rows === rowLimit ? "limited" : undefined);
  };
  return failed instanceof Promise ? failed.then(over) : over(failed);
}

/** Ends a result of several, and begins the next one. */
function goOn(
  responder: Responder,
  batch: NextBatch,
  result: ResultSet,
): Promise<Ended | undefined> | Ended | undefined {
  const { capabilities } = responder.client;
  if ((capabilities & capability.multiResults) === 0)
    return gatewayError("query.unsupported", { message: "the client reads one result at a time" });
  putNextResult(responder.out, batch, result.hasColumns, responder.context(true));
  responder.told();
  result.begun = true;
  result.hasColumns = batch.next.columns > 0;
  result.types = nativeTypes(batch.bytes);
  result.rows = 0;
  const leaving = responder.flushFull();
  return leaving?.then(() => undefined);
}

/** Writes what an event has to say, and tells whether it was the last one. */
function tell(
  responder: Responder,
  event: Exclude<ResultEvent, { kind: "batch" }>,
  result: ResultSet,
): Ended | undefined {
  responder.remember(event);
  if (event.kind === "failed") return responder.reasonOf(event);
  if (event.kind === "columns" && event.columns.length > 0) {
    result.hasColumns = true;
    result.begun = true;
    result.types = event.native === undefined ? [] : nativeTypes(event.native.bytes);
  }
  if (event.kind === "done") count(responder, event, result);
  // A statement without columns is an OK here, however the engine describes it.
  if (event.kind === "done" || (event.kind === "columns" && result.hasColumns)) {
    const context = withServerStatus(
      responder.context(result.form.moreFollow, result.query.id),
      event.kind === "done" ? event.report?.status : event.native?.status,
    );
    putEvent(responder.out, event, result.hasColumns, context);
  }
  return event.kind === "done" ? "done" : undefined;
}

/** Takes the counts of the end into the session. */
function count(
  responder: Responder,
  event: DoneEvent,
  { query, hasColumns, rows }: ResultSet,
): void {
  const { client } = responder;
  const rowCount = hasColumns ? -1 : affectedRowsOf(event, client.capabilities);
  // The same counts as before, whatever they are of.
  if (rowCount === -1 && client.rowCount === -1 && rows === client.foundRows)
    if (event.report?.foundRows === undefined) return;
  const tells = hasColumns && tellsFoundRows(query.sql);
  const foundRows = tells ? (event.report?.foundRows ?? rows) : client.foundRows;
  // A statement that comes again and again finds the same counts, and a copy of the session costs time.
  if (rowCount === client.rowCount && foundRows === client.foundRows) return;
  responder.client = { ...client, rowCount, foundRows };
}

/** Ends an answer that was cut off or failed, or asks the statement's other form. False when it failed. */
async function close(
  responder: Responder,
  ended: Exclude<Ended, "done">,
  { query, statement, form, begun, rows }: ResultSet,
): Promise<boolean> {
  if (typeof ended === "object") {
    const answered = begun ? undefined : await statement.orElse?.(ended);
    if (answered !== undefined) return answered;
    if (!mayAskOtherwise(statement, ended, begun)) {
      return responder.putError(errorReply(ended, query.id));
    }
    const sql = statement.otherwise;
    const other = { ...statement, sql, relayed: undefined, otherwise: undefined };
    return await putResult(responder, other, form);
  }
  responder.client = { ...responder.client, rowCount: -1, foundRows: rows };
  putRowsEnd(responder.out, responder.context(form.moreFollow, query.id));
  responder.told();
  return true;
}

/** True when the engine refused it before it ran, for a name that it does not have. */
function mayAskOtherwise(
  statement: EngineStatement,
  error: GatewayError,
  begun: boolean,
): statement is EngineStatement & { readonly otherwise: string } {
  return statement.otherwise !== undefined && !begun && error.code === "query.unknownObject";
}

/** A promise only where the client has to take something first. */
function putBatch(
  responder: Responder,
  batch: Batch,
  { form, types }: Pick<ResultSet, "form" | "types">,
  rows: number,
): Promise<GatewayError | undefined> | GatewayError | undefined {
  const asWritten =
    rows === batch.rows ? rowsAsWritten(batch, form.rows, responder.out) : undefined;
  if (asWritten !== undefined) return responder.passOn(asWritten);
  const format: RowFormat = {
    kind: form.rows,
    zone: responder.client.zone,
    rowBytesMax: responder.connection.config.maxMessageBytes,
    flushBytes,
  };
  const encoder = encoderOf(batch, types, format);
  const written = encoder.write(0, rows, responder.out);
  if (!written.ok) return written.error;
  const leaving = responder.flushFull();
  return leaving && putRest(responder, encoder, leaving, { from: written.value, to: rows });
}

async function putRest(
  responder: Responder,
  encoder: RowEncoder,
  leaving: Promise<void>,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<GatewayError | undefined> {
  await leaving;
  let row = from;
  // When the client is gone, the caller's next step ends the stream.
  while (row < to && !responder.connection.over) {
    const written = encoder.write(row, to, responder.out);
    if (!written.ok) return written.error;
    row = written.value;
    await responder.flushFull();
  }
  return undefined;
}
