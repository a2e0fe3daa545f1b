/**
 * Runs one statement of a MySQL client on one connection: its definitions and rows go on as the server sent them,
 * and the ends of its results are read.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { waited, type Course, type Reading } from "@gateway/core/query/course.ts";
import type {
  DoneEvent,
  FailedEvent,
  QueryStats,
  ResultEvent,
  ServerReport,
} from "@gateway/core/query/event.ts";
import { settingsOf, type MysqlCall } from "@gateway/core/query/mysqlCall.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { tagComment } from "@gateway/core/query/tag.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { batchBytes } from "@gateway/core/type/size.ts";
import type { Batch, NativeFormat, NextResult } from "@gateway/core/type/vector.ts";
import { attributesHead, noAttributes } from "@gateway/wire/mysql/attributes.ts";
import { commandCode, serverStatus } from "@gateway/wire/mysql/protocol.ts";
import { errorOf } from "../../starRocks/errors.ts";
import { foundBy } from "../../starRocks/client/found.ts";
import type { Member } from "../../starRocks/client/member.ts";
import { readEof, readError, readHead } from "../../starRocks/client/reply.ts";
import { textBatch } from "../../starRocks/page/cells.ts";
import { packetsOfColumns, readColumn, type ReadColumn } from "../../starRocks/page/columns.ts";
import { textPackets } from "../../starRocks/page/halves.ts";
import { Packets } from "../../starRocks/page/packets.ts";
import { attributesLost, brokenOf, noAnswer } from "../errors.ts";
import { answerFile } from "./localFile.ts";
import { fetchRows, type OpenCursor } from "./cursor.ts";
import { closeStatement, prepareText, sendExecution } from "./prepare.ts";
import { endOf, isRow, nativeRows, type End, type Ended } from "./rows.ts";
import { taggedQuery } from "./taggedQuery.ts";
import { readWhole } from "./whole.ts";

export interface Statement {
  readonly member: Member;
  readonly clock: Clock;
  /** Whose tag stands in front of what is sent. */
  readonly query: Pick<Identified, "slot" | "id">;
  readonly sent: string;
  /** Upper case; what the statement did, when it has no rows. */
  readonly tag: string;
  readonly call: MysqlCall;
  /** Whether rows go on as packets, or are read for an answer that is made of them. */
  readonly native: boolean;
  /** Whether a result that is there with its end may come with it. */
  readonly mayComeWhole: boolean;
  /** Whether it may ask for a file of its client. */
  readonly localFiles: boolean;
  /** Where it is aborted no further rows are fetched. What runs is ended by whoever aborts. */
  readonly signal: AbortSignal;
  /** A text that was sent already. */
  readonly isSent: boolean;
}

export interface Trace {
  /** The server still has something to say on the connection. */
  open: boolean;
  /** How many the server counted at the end. */
  warnings: number;
}

/** Runs it. Where `trace.open` is left true, the connection is of no use until the rest was read. */
export function* runStatement(statement: Statement, trace: Trace): Course {
  const { member, call } = statement;
  const { execution, attributes } = call;
  if (attributes !== undefined && !member.takesAttributes) {
    yield failed(attributesLost);
    return;
  }
  if (execution === undefined) {
    trace.open = true;
    if (!statement.isSent) sendQuery(statement);
    if (yield* cameWhole(statement, "mysqlRows", trace)) return;
    return yield* readAnswer(statement, "mysqlRows", trace);
  }
  const text = textOf(statement);
  const preparing = prepareText(member, text, execution.parameters, (open) => {
    trace.open = open;
  });
  const prepared = yield* waited(preparing);
  if (!prepared.ok) {
    yield failed(prepared.error);
    return;
  }
  trace.open = true;
  sendExecution(member, prepared.value, execution, attributes);
  const { cursor } = execution;
  const open = cursor && { cursor, prepared: prepared.value, signal: statement.signal };
  try {
    const isWhole = open === undefined && (yield* cameWhole(statement, "mysqlBinaryRows", trace));
    if (!isWhole) yield* readAnswer(statement, "mysqlBinaryRows", trace, open);
  } finally {
    // Also where nobody fetches the rest: the server has the cursor as long as its statement.
    if (!trace.open && member.open) closeStatement(member, prepared.value.id);
  }
}

/** Sends the text as a command of its own. */
export function sendQuery(statement: Statement): void {
  const { member, query, sent, call } = statement;
  const { attributes, settings } = call;
  const none = member.takesAttributes ? noAttributes : undefined;
  const isPlain = attributes === undefined && settings === undefined;
  const head = attributes === undefined ? none : attributesHead(attributes);
  const short = isPlain ? taggedQuery(query, sent, none) : undefined;
  member.send(short ?? textPackets(member, commandCode.query, textOf(statement), head));
}

/** What is sent, with the tag in front. */
function textOf({ query, call, sent }: Statement): string {
  return `${tagComment(query)}${settingsOf(call)}${sent}`;
}

/** Tells a result that is there with its end; true where it did. */
function* cameWhole(statement: Statement, format: NativeFormat, trace: Trace): Course<boolean> {
  const { member, clock, native } = statement;
  if (!statement.mayComeWhole || !native) return false;
  const startedMs = clock.nowMs();
  if (member.quiet) yield member.more();
  const done = wholeDone(statement, format, startedMs);
  if (done === undefined) return false;
  member.takeHeld();
  trace.open = false;
  trace.warnings = done.report?.warnings ?? 0;
  yield done;
  return true;
}

/** The end of a statement with its result, where all of it is here; nothing is taken. */
export function wholeDone(
  statement: Statement,
  format: NativeFormat,
  startedMs: number,
): DoneEvent | undefined {
  const { member, clock, call } = statement;
  const whole = member.held && readWhole(member.held, format, call.extendedMetadata === true);
  if (whole === undefined) return undefined;
  const { result, warnings, status } = whole;
  const { batch } = result;
  const rows = batch?.rows ?? 0;
  const bytes = batch === undefined ? 0 : batchBytes(batch);
  return {
    kind: "done",
    stats: { queueMs: 0, executionMs: clock.nowMs() - startedMs, rows, bytes },
    updateType: statement.tag,
    updateCount: call.foundRows ? 0 : foundBy(noChange, statement.sent),
    report: reportOf(warnings, status),
    whole: result,
  };
}

/** What a result of rows says of changes. */
const noChange = { affectedRows: 0, info: "" } as const;

let lastReport: (ServerReport & { readonly status: number }) | undefined;

/** The end of rows. Most say what the one before said. */
function reportOf(warnings: number, status: number): ServerReport {
  if (lastReport?.status === status && lastReport.warnings === warnings) return lastReport;
  const { affectedRows: changedCount, info } = noChange;
  lastReport = { changedCount, insertId: 0n, warnings, info, foundRows: undefined, status };
  return lastReport;
}

function* readAnswer(
  statement: Statement,
  format: NativeFormat,
  trace: Trace,
  open?: OpenCursor,
): Course {
  const { member } = statement;
  const packets = new Packets(() => member.next(), member.answersFrom);
  try {
    yield yield* readResults(statement, { packets, format, trace, open });
  } finally {
    endedBy(packets, member, trace);
  }
}

/** Reads all results of an answer. Returns what is to be said at its end. */
function* readResults(
  statement: Statement,
  { packets, format, trace, open }: Pick<Answering, "packets" | "format" | "trace" | "open">,
): Course<DoneEvent | FailedEvent> {
  const { member, clock, native, call } = statement;
  const extended = call.extendedMetadata === true;
  const startedMs = clock.nowMs();
  const counted = { rows: 0, bytes: 0 };
  let before: End | undefined;
  let asked = false;
  for (;;) {
    const first = packets.held() ?? (yield* waited(packets.one()));
    if (first === undefined) return failed(brokenOf(packets));
    const head = readHead(first.payload, member.decode);
    let end: End;
    switch (head.kind) {
      case "broken":
        return failed(noAnswer("an answer"));
      case "error":
        trace.open = false;
        // The result before is whole, and its client reads it as such.
        if (before !== undefined && native) yield nextOf(before, [], 0);
        return failed(errorOf(head.error));
      case "localInfile": {
        const refused = yield* waited(fileFor(statement, packets, head.name, asked));
        if (refused !== undefined) return failed(refused);
        asked = true;
        continue;
      }
      case "ok":
        end = head.ok;
        if (before !== undefined && native) yield nextOf(before, [], 0);
        break;
      case "columns": {
        const reading = { packets, native, extended, format, counted, member, trace, open };
        const ended = yield* readResult(reading, head.count, before);
        if ("code" in ended) return failed(ended);
        // An error behind rows is the end of all of it.
        if ("error" in ended) trace.open = false;
        if ("error" in ended) return failed(ended.error);
        end = ended;
        break;
      }
    }
    trace.warnings = end.warnings;
    if ((end.status & moreResults) === 0) {
      trace.open = false;
      const stats = { queueMs: 0, executionMs: clock.nowMs() - startedMs, ...counted };
      return doneOf(end, statement, stats);
    }
    before = end;
  }
}

/** Nothing may be behind the end of an answer. */
function endedBy(packets: Packets, member: Member, { open }: Trace): void {
  member.rest();
  if (!open && packets.surplus) member.destroy();
}

interface Answering {
  readonly packets: Packets;
  readonly native: boolean;
  /** The client reads MariaDB's blocks in definitions. */
  readonly extended: boolean;
  readonly format: NativeFormat;
  readonly counted: { rows: number; bytes: number };
  readonly member: Member;
  readonly trace: Trace;
  readonly open: OpenCursor | undefined;
}

/** Columns and rows, and how they ended. A `GatewayError` itself is a server that did not speak as it must. */
function* readResult(reading: Answering, count: number, before: End | undefined): Course<Ended> {
  const { packets, native, extended, format, counted, member, trace, open } = reading;
  const read = yield* readColumns(packets, count, member);
  if ("code" in read || "error" in read) return read;
  // What is no client's own answer has one result.
  if (before !== undefined && !native) return severalResults;
  // A server answers without a cursor where the statement has none.
  const isOpen = native && (read.status & serverStatus.cursorExists) !== 0;
  const cursor = isOpen ? open : undefined;
  if (cursor !== undefined && packets.surplus) return noAnswer("an end of columns");
  if (cursor !== undefined) trace.open = false;
  if (before === undefined) yield columnsOf(read, native, extended);
  else yield nextOf(before, read.columns, read.status, extended);
  if (cursor !== undefined) return yield* fetchRows(reading, cursor);
  for (;;) {
    const batch = native
      ? yield* nativeRows(packets, format)
      : yield* waited(textRows(packets, read.columns));
    if (batch === undefined) break;
    if ("code" in batch) return batch;
    counted.rows += batch.rows;
    counted.bytes += batchBytes(batch);
    yield { kind: "batch", batch };
  }
  return yield* endOf(packets, member);
}

/** A file goes to the server once, and only where the statement may ask for one. */
async function fileFor(
  statement: Statement,
  packets: Packets,
  name: Uint8Array,
  asked: boolean,
): Promise<GatewayError | undefined> {
  const { member, localFiles, call } = statement;
  if (asked || !localFiles || !isNamed(textOf(statement), name)) return unasked;
  return await answerFile(member, packets, name, call.files);
}

/** A server may ask for any file. The client gets a request for the one that its statement names. */
function isNamed(text: string, name: Uint8Array): boolean {
  const file = new TextDecoder().decode(name);
  return file !== "" && (text.includes(file) || text.includes(file.replaceAll("\\", "\\\\")));
}

const moreResults = 8;

const severalResults = gatewayError("query.unsupported", {
  message: "the statement has several results",
});

const unasked = gatewayError("query.permission", {
  message: "the server asked for a file that the statement did not name",
});

interface ReadColumns {
  readonly columns: readonly ReadColumn[];
  /** Behind them. */
  readonly status: number;
}

/** A server that fails as it opens a cursor says so in the place of the end of the columns. */
function* readColumns(
  packets: Packets,
  count: number,
  { decode }: Pick<Member, "decode">,
): Reading<ReadColumns | GatewayError | { readonly error: GatewayError }> {
  const columns: ReadColumn[] = [];
  while (columns.length < count) {
    const packet = packets.held() ?? (yield* waited(packets.one()));
    if (packet === undefined) return brokenOf(packets);
    const column = readColumn(packet);
    if (column === undefined) return noAnswer("a column");
    columns.push(column);
  }
  const end = packets.held() ?? (yield* waited(packets.one()));
  if (end === undefined) return brokenOf(packets);
  if (end.payload[0] === 0xff) return { error: errorOf(readError(end.payload, decode)) };
  if (end.payload[0] !== 0xfe) return noAnswer("an end of columns");
  return { columns, status: readEof(end.payload).status };
}

async function textRows(
  packets: Packets,
  columns: readonly ReadColumn[],
): Promise<Batch | GatewayError | undefined> {
  const found = await packets.rows(isRow);
  return found && (textBatch(found.window, found.spans, columns) ?? noAnswer("a row"));
}

function columnsOf(
  { columns: read, status }: ReadColumns,
  native: boolean,
  extended: boolean,
): ResultEvent {
  const columns: readonly Column[] = read.map(({ column }) => column);
  if (!native) return { kind: "columns", columns };
  const bytes = packetsOfColumns(read, extended);
  return { kind: "columns", columns, native: { format: "mysqlRows", bytes, status } };
}

/** Where the next result begins, with its definitions. */
function nextOf(
  before: End,
  read: readonly ReadColumn[],
  columnsStatus: number,
  extended = false,
): ResultEvent {
  const { affectedRows, insertId, warnings, info, status } = before;
  const end = { affectedRows, insertId, warnings, info, status };
  const next: NextResult = { ...end, columns: read.length, columnsStatus };
  const bytes = packetsOfColumns(read, extended);
  return { kind: "batch", batch: { form: "native", format: "mysqlNext", rows: 0, bytes, next } };
}

function doneOf(end: End, { tag, sent, call }: Statement, stats: QueryStats): DoneEvent {
  const { affectedRows, insertId, warnings, info, status } = end;
  const found = call.foundRows ? affectedRows : foundBy(end, sent);
  const report = {
    changedCount: affectedRows,
    insertId,
    warnings,
    info,
    foundRows: undefined,
    status,
  };
  return { kind: "done", stats, updateType: tag, updateCount: found, report, whole: undefined };
}

function failed(error: GatewayError): FailedEvent {
  return { kind: "failed", error };
}
