/** Runs one text on one connection, and says in the port's events what came of it. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type {
  ColumnsEvent,
  DoneEvent,
  FailedEvent,
  LastEvent,
  QueryStats,
  ResultEvent,
  ResultStream,
} from "@gateway/core/query/event.ts";
import { batchBytes } from "@gateway/core/type/size.ts";
import { commandCode } from "@gateway/wire/mysql/protocol.ts";
import { textBatch } from "../page/cells.ts";
import { readColumn, type ReadColumn, type TextColumn } from "../page/columns.ts";
import { errorOf } from "../errors.ts";
import type { Member } from "./member.ts";
import { commandPackets, Packets, type IsRow, type Packet } from "../page/packets.ts";
import { foundBy } from "./found.ts";
import { isEnd, readEof, readError, readHead, readOk, type OkReply } from "./reply.ts";

export interface TextStatement {
  readonly member: Member;
  readonly clock: Clock;
  readonly sql: string;
  /** Upper case; what the statement did, when it has no rows. */
  readonly tag: string;
  /** The client takes row packets as they are. */
  readonly native: boolean;
}

export interface Trace {
  /** The server still has something to say on the connection. */
  open: boolean;
  /** How many the server counted; it is asked for them behind the statement. */
  warnings: number;
}

/** Runs it. The caller ends what is still open in the server, and does not use the connection again then. */
export async function* runText(statement: TextStatement, trace: Trace): ResultStream {
  const { member, clock, sql, native } = statement;
  const { endsWithOk } = member;
  const startedMs = clock.nowMs();
  const counted = { rows: 0, bytes: 0 };
  const stats = (): QueryStats => ({
    queueMs: 0,
    executionMs: clock.nowMs() - startedMs,
    rows: counted.rows,
    bytes: counted.bytes,
  });
  trace.open = true;
  member.send(commandPackets(commandCode.query, sql));
  const packets = new Packets(() => member.next(), member.answersFrom);
  using _surplus = { [Symbol.dispose]: () => endedBy(packets, statement, trace) };
  const first = packets.held() ?? (await packets.one());
  const begun = begin(first, packets, { statement, trace });
  if (begun.kind === "failed") return yield begun;
  if (begun.kind === "done") return yield doneWith(begun, stats());
  const columns = await readColumns(packets, begun.count, endsWithOk);
  if ("code" in columns) return yield failed(columns);
  yield columnsEvent(columns, native);
  const isRow = (byte: number, length: number): boolean =>
    byte !== 0xff && !isEnd(byte, length, endsWithOk);
  for (;;) {
    const event = native
      ? await nativeRows(packets, isRow)
      : await textRows(packets, isRow, columns);
    if (event === undefined) break;
    if (event.kind === "failed") return yield event;
    counted.rows += event.batch.rows;
    counted.bytes += batchBytes(event.batch);
    yield event;
  }
  const last = await endOfRows(packets, trace, endsWithOk);
  yield last.kind === "done" ? doneWith(last, stats()) : last;
}

/** Nothing may be behind the end of an answer. */
function endedBy(packets: Packets, { member }: TextStatement, { open }: Trace): void {
  if (!open && packets.surplus) member.destroy();
}

function doneWith({ updateType, updateCount, report }: DoneEvent, stats: QueryStats): DoneEvent {
  return { kind: "done", stats, updateType, updateCount, report };
}

type Begun = LastEvent | { readonly kind: "columns"; readonly count: number };

/** What the first packet of an answer says. */
function begin(
  first: Packet | undefined,
  packets: Packets,
  { statement, trace }: { readonly statement: TextStatement; readonly trace: Trace },
): Begun {
  if (first === undefined) return failed(brokenOf(packets));
  const head = readHead(first.payload);
  switch (head.kind) {
    case "broken":
      return failed(gatewayError("engine.broken", { detail: "an answer that is none" }));
    case "localInfile":
      return failed(
        gatewayError("query.permission", { message: "files of the gateway's host are not sent" }),
      );
    case "error":
      trace.open = false;
      return failed(errorOf(head.error));
    case "ok":
      trace.open = head.ok.moreResults;
      trace.warnings = head.ok.warnings;
      if (head.ok.moreResults) return failed(severalResults());
      return changed(head.ok, statement);
    case "columns":
      return head;
  }
}

function changed(reply: OkReply, { tag, sql }: TextStatement): DoneEvent {
  const { affectedRows, insertId, warnings, info } = reply;
  const report = { changedCount: affectedRows, insertId, warnings, info, foundRows: undefined };
  return { ...done, updateType: tag, updateCount: foundBy(reply, sql), report };
}

type RowsEvent = Extract<ResultEvent, { kind: "batch" | "failed" }>;

/** Rows that are passed on as they are; undefined when the next packet is none. */
async function nativeRows(packets: Packets, isRow: IsRow): Promise<RowsEvent | undefined> {
  const found = await packets.rowBytes(isRow);
  if (found === undefined) return undefined;
  return { kind: "batch", batch: { form: "native", format: "mysqlRows", ...found } };
}

/** Rows whose cells are found; undefined when the next packet is none. */
async function textRows(
  packets: Packets,
  isRow: IsRow,
  columns: readonly TextColumn[],
): Promise<RowsEvent | undefined> {
  const found = await packets.rows(isRow);
  if (found === undefined) return undefined;
  const batch = textBatch(found.window, found.spans, columns);
  if (batch !== undefined) return { kind: "batch", batch };
  return failed(gatewayError("engine.broken", { detail: "a row that is none" }));
}

/** What stands behind the rows. */
async function endOfRows(packets: Packets, trace: Trace, endsWithOk: boolean): Promise<LastEvent> {
  const end = packets.held() ?? (await packets.one());
  if (end === undefined) return failed(brokenOf(packets));
  if (end.payload[0] === 0xff) {
    trace.open = false;
    return failed(errorOf(readError(end.payload)));
  }
  const status = endsWithOk ? readOk(end.payload) : readEof(end.payload);
  trace.open = status.moreResults;
  trace.warnings = status.warnings;
  return trace.open ? await restOf(packets, trace) : done;
}

async function readColumns(
  packets: Packets,
  count: number,
  endsWithOk: boolean,
): Promise<readonly ReadColumn[] | GatewayError> {
  const columns: ReadColumn[] = [];
  while (columns.length < count) {
    const packet = packets.held() ?? (await packets.one());
    if (packet === undefined) return brokenOf(packets);
    const column = readColumn(packet);
    if (column === undefined)
      return gatewayError("engine.broken", { detail: "a column that is none" });
    columns.push(column);
  }
  if (endsWithOk) return columns;
  const end = packets.held() ?? (await packets.one());
  return end === undefined ? brokenOf(packets) : columns;
}

function columnsEvent(read: readonly ReadColumn[], native: boolean): ColumnsEvent {
  const columns = read.map(({ column }) => column);
  if (!native) return { kind: "columns", columns };
  const bytes = Buffer.concat(read.map((column) => column.bytes));
  return { kind: "columns", columns, native: { format: "mysqlRows", bytes } };
}

/** Behind the rows of a procedure stands how it ended, and nothing more that could be shown. */
async function restOf(packets: Packets, trace: Trace): Promise<LastEvent> {
  const packet = await packets.one();
  if (packet === undefined) return failed(brokenOf(packets));
  const head = readHead(packet.payload);
  if (head.kind === "error") {
    trace.open = false;
    return failed(errorOf(head.error));
  }
  if (head.kind !== "ok" || head.ok.moreResults) return failed(severalResults());
  trace.open = false;
  return done;
}

const done = { kind: "done", stats: { queueMs: 0, executionMs: 0, rows: 0, bytes: 0 } } as const;

function failed(error: GatewayError): FailedEvent {
  return { kind: "failed", error };
}

function severalResults(): GatewayError {
  return gatewayError("query.unsupported", { message: "the statement has several results" });
}

function brokenOf({ broken }: Packets): GatewayError {
  return gatewayError("engine.broken", { detail: broken ?? "the connection ended" });
}
