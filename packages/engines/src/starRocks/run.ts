/** Runs one text on one connection, and says in the port's events what came of it. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type {
  ColumnsEvent,
  LastEvent,
  ResultEvent,
  ResultStream,
} from "@gateway/core/query/event.ts";
import { commandCode } from "@gateway/wire/mysql/protocol.ts";
import { textBatch } from "./cells.ts";
import { readColumn, type ReadColumn, type TextColumn } from "./columns.ts";
import { errorOf } from "./errors.ts";
import type { Member } from "./member.ts";
import { commandPackets, Packets, type RowPackets } from "./packets.ts";
import { isEnd, readEof, readError, readHead, readOk } from "./reply.ts";

export interface TextStatement {
  readonly member: Member;
  readonly clock: Clock;
  readonly sql: string;
  /** Upper case; what the statement did, when it has no rows. */
  readonly tag: string;
  /** The client takes row packets as they are. */
  readonly native: boolean;
}

/** Whether the server still has something to say on the connection. */
export interface Trace {
  open: boolean;
}

/** Runs it. The caller ends what is still open in the server, and does not use the connection again then. */
export async function* runText(statement: TextStatement, trace: Trace): ResultStream {
  const { member, clock, sql } = statement;
  const startedMs = clock.nowMs();
  trace.open = true;
  member.send(commandPackets(commandCode.query, sql));
  const packets = new Packets(() => member.next());
  const counted = { rows: 0, bytes: 0 };
  const last = yield* answerOf(statement, packets, { trace, counted });
  const stats = { queueMs: 0, executionMs: clock.nowMs() - startedMs, ...counted };
  yield last.kind === "done" ? { ...last, stats } : last;
}

interface Progress {
  readonly trace: Trace;
  readonly counted: { rows: number; bytes: number };
}

type Answer = AsyncGenerator<ResultEvent, LastEvent, void>;

async function* answerOf(statement: TextStatement, packets: Packets, progress: Progress): Answer {
  const first = await packets.one();
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
      progress.trace.open = false;
      return failed(errorOf(head.error));
    case "ok":
      progress.trace.open = head.ok.moreResults;
      if (head.ok.moreResults) return failed(severalResults());
      return { ...done, updateType: statement.tag, updateCount: head.ok.affectedRows };
    case "columns":
      return yield* rowsOf(statement, packets, { ...progress, columnCount: head.count });
  }
}

async function* rowsOf(
  statement: TextStatement,
  packets: Packets,
  { columnCount, trace, counted }: Progress & { readonly columnCount: number },
): Answer {
  const { endsWithOk } = statement.member;
  const columns = await readColumns(packets, columnCount, endsWithOk);
  if ("code" in columns) return failed(columns);
  yield columnsEvent(columns, statement.native);
  const isRow = (first: number, length: number): boolean =>
    first !== 0xff && !isEnd(first, length, endsWithOk);
  for (;;) {
    const rows = await packets.rows(isRow);
    if (rows === undefined) break;
    counted.rows += rows.spans.rows;
    counted.bytes += rows.bytes.length;
    const event = statement.native ? nativeEvent(rows) : textEvent(rows, columns);
    if (event === undefined)
      return failed(gatewayError("engine.broken", { detail: "a row that is none" }));
    yield event;
  }
  const end = await packets.one();
  if (end === undefined) return failed(brokenOf(packets));
  if (end.payload[0] === 0xff) {
    trace.open = false;
    return failed(errorOf(readError(end.payload)));
  }
  const status = endsWithOk ? readOk(end.payload) : readEof(end.payload);
  trace.open = status.moreResults;
  return await restOf(packets, trace);
}

async function readColumns(
  packets: Packets,
  count: number,
  endsWithOk: boolean,
): Promise<readonly ReadColumn[] | GatewayError> {
  const columns: ReadColumn[] = [];
  while (columns.length < count) {
    const packet = await packets.one();
    if (packet === undefined) return brokenOf(packets);
    const column = readColumn(packet);
    if (column === undefined)
      return gatewayError("engine.broken", { detail: "a column that is none" });
    columns.push(column);
  }
  if (!endsWithOk && (await packets.one()) === undefined) return brokenOf(packets);
  return columns;
}

function columnsEvent(columns: readonly ReadColumn[], native: boolean): ColumnsEvent {
  const event: ColumnsEvent = {
    kind: "columns",
    columns: columns.map(({ column }) => column),
  };
  if (!native) return event;
  return {
    ...event,
    native: { format: "mysqlRows", bytes: Buffer.concat(columns.map(({ bytes }) => bytes)) },
  };
}

function nativeEvent({ spans, bytes }: RowPackets): ResultEvent {
  return { kind: "batch", batch: { form: "native", format: "mysqlRows", rows: spans.rows, bytes } };
}

function textEvent(
  { window, spans }: RowPackets,
  columns: readonly TextColumn[],
): ResultEvent | undefined {
  const batch = textBatch(window, spans, columns);
  return batch === undefined ? undefined : { kind: "batch", batch };
}

/** Behind the rows of a procedure stands how it ended, and nothing more that could be shown. */
async function restOf(packets: Packets, trace: Trace): Promise<LastEvent> {
  if (!trace.open) return done;
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

function failed(error: GatewayError): LastEvent {
  return { kind: "failed", error };
}

function severalResults(): GatewayError {
  return gatewayError("query.unsupported", { message: "the statement has several results" });
}

function brokenOf({ broken }: Packets): GatewayError {
  return gatewayError("engine.broken", { detail: broken ?? "the connection ended" });
}
