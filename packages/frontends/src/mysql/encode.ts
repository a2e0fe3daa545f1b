/**
 * Events of a result as packets. Every kind of event is covered here, except rows, which `value/rows.ts` writes.
 *
 * It writes into a buffer and knows no socket. What an event changes in the session (a transaction
 * began) is in `session/clientSession.ts`.
 */
import type {
  ColumnsEvent,
  Description,
  DoneEvent,
  ResultEvent,
} from "@gateway/core/query/event.ts";
import type { Column, DataType } from "@gateway/core/type/type.ts";
import type { NativeBatch, NextResult } from "@gateway/core/type/vector.ts";
import type { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import { withBlocks } from "@gateway/wire/mysql/definition.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import {
  putColumn,
  putColumnCount,
  putEof,
  putError,
  putOk,
  putPrepared,
  type ErrorReply,
  type OkReply,
  type Tracked,
} from "@gateway/wire/mysql/reply.ts";
import { errorReply } from "./errors.ts";
import { relayPackets } from "./value/relay.ts";
import { columnDefinition } from "./value/types.ts";

/** Stands for a parameter whose type the engine can not tell. */
const text: DataType = { kind: "text" };

/** What an answer needs to know of its connection and session at the moment it is written. */
export interface AnswerContext {
  /** Agreed in the handshake. */
  readonly capabilities: number;
  /** The client reads MariaDB's block in each column definition. */
  readonly extendedMetadata: boolean;
  /** Status flags, those about further results included. */
  readonly status: number;
  readonly warnings: number;
  /** Session changes to tell with the OK packet. */
  readonly tracked: readonly Tracked[];
  /** Undefined for what the frontend answers itself. */
  readonly queryId: string | undefined;
}

/** Writes a whole OK packet; `done` where a statement ended with it. */
export function putOkPacket(out: PacketWriter, context: AnswerContext, done?: DoneEvent): void {
  out.begin();
  putOk(out, okOf(context, done), context.capabilities);
  out.end();
}

/** The rows that a client is told of: those that were found, where it asked for them, and else those that are other now. */
export function affectedRowsOf(
  { updateCount = 0, report }: Pick<DoneEvent, "updateCount" | "report">,
  capabilities: number,
): number {
  const wantsFound = (capabilities & capability.foundRows) !== 0;
  return report === undefined || wantsFound ? updateCount : report.changedCount;
}

/** Status flags that only the server knows; the others are the session's own. */
const serverFlags = 8 | 16 | 32 | 256 | 1024 | 2048 | 4096 | 8192;

/** With what the server says of the statement. */
export function withServerStatus(
  context: AnswerContext,
  status: number | undefined,
): AnswerContext {
  const more = (status ?? 0) & serverFlags;
  return more === 0 ? context : { ...context, status: context.status | more };
}

/** The place between two results of one statement. */
export type NextBatch = NativeBatch & { readonly next: NextResult };

/** Ends the result before, and writes what stands before the rows of the next one. `context` says that more follow. */
export function putNextResult(
  out: PacketWriter,
  { next, bytes }: NextBatch,
  hadRows: boolean,
  context: AnswerContext,
): void {
  const { affectedRows, insertId, warnings, info, columns } = next;
  const ended = withServerStatus({ ...context, warnings }, next.status);
  if (hadRows) putRowsEnd(out, ended);
  else {
    const reply = { affectedRows, insertId, warnings, info, status: ended.status };
    out.begin();
    putOk(out, { ...reply, tracked: context.tracked }, context.capabilities);
    out.end();
  }
  if (columns === 0) return;
  putCount(out, columns);
  relayDefinitions(out, bytes, columns, context);
  putDefinitionsEnd(out, withServerStatus(context, next.columnsStatus));
}

/** Writes a whole error packet. */
export function putErrorPacket(
  out: PacketWriter,
  reply: ErrorReply,
  encode?: (text: string) => Uint8Array,
): void {
  out.begin();
  putError(out, reply, encode);
  out.end();
}

/**
 * Writes what stands before rows: their count of columns, the definitions, and the EOF that older clients
 * wait for. With a cursor no rows follow, so every client gets an end mark, whose status shows the cursor.
 */
export function putColumns(
  out: PacketWriter,
  columns: readonly Column[],
  context: AnswerContext,
  cursor = false,
): void {
  putCount(out, columns.length);
  putDefinitions(out, columns, context);
  if (cursor) putRowsEnd(out, context);
  else putDefinitionsEnd(out, context);
}

function putCount(out: PacketWriter, count: number): void {
  out.begin();
  putColumnCount(out, count);
  out.end();
}

/** The same with the engine's own definitions, where its rows are passed on as they are. */
export function putColumnsEvent(
  out: PacketWriter,
  { columns, native }: ColumnsEvent,
  context: AnswerContext,
  cursor = false,
): void {
  if (native?.format !== "mysqlRows") return putColumns(out, columns, context, cursor);
  putCount(out, columns.length);
  relayDefinitions(out, native.bytes, columns.length, context);
  if (cursor) putRowsEnd(out, context);
  else putDefinitionsEnd(out, context);
}

/** Writes what stands behind rows. */
export function putRowsEnd(out: PacketWriter, context: AnswerContext): void {
  out.begin();
  if ((context.capabilities & capability.deprecateEof) !== 0) {
    putOk(out, okOf(context), context.capabilities, 0xfe);
  } else {
    putEof(out, context.status, context.warnings);
  }
  out.end();
}

/**
 * Writes an event. MySQL's protocol has no packet for progress, the session keeps notices for SHOW
 * WARNINGS, and `value/rows.ts` writes rows, because it can stop in the middle of a batch.
 */
export function putEvent(
  out: PacketWriter,
  event: ResultEvent,
  hasRows: boolean,
  context: AnswerContext,
): void {
  switch (event.kind) {
    case "columns":
      putColumnsEvent(out, event, context);
      return;
    case "done":
      if (hasRows) putRowsEnd(out, withServerWarnings(context, event));
      else putOkPacket(out, context, event);
      return;
    case "failed":
      putErrorPacket(out, errorReply(event.error, context.queryId));
      return;
    case "queued":
    case "progress":
    case "session":
    case "notice":
    case "batch":
      return;
  }
}

/** A server may have counted more than it lists. */
function withServerWarnings(context: AnswerContext, { report }: DoneEvent): AnswerContext {
  const counted = report?.warnings ?? 0;
  return counted > context.warnings ? { ...context, warnings: counted } : context;
}

/** Writes the answer to COM_STMT_PREPARE: counts, then both lists of definitions, the engine's own where it speaks MySQL. */
export function putPreparedPackets(
  out: PacketWriter,
  prepared: Description & { readonly statementId: number },
  context: AnswerContext,
): void {
  const { statementId, parameters, columns, native } = prepared;
  const own = native?.format === "mysqlRows" ? native : undefined;
  out.begin();
  putPrepared(out, statementId, { columns: columns.length, parameters: parameters.length });
  out.end();
  // Some clients bind numbers as integers only where the definition says so.
  const places = parameters.map((type) => ({
    name: "?",
    type: type.kind === "null" ? text : type,
    nullable: true,
  }));
  putListed(out, places, own?.parameters, context);
  if (parameters.length > 0) putDefinitionsEnd(out, context);
  putListed(out, columns, own?.columns, context);
  if (columns.length > 0) putDefinitionsEnd(out, context);
}

function putListed(
  out: PacketWriter,
  columns: readonly Column[],
  packets: Uint8Array | undefined,
  context: AnswerContext,
): void {
  if (packets === undefined) return putDefinitions(out, columns, context);
  relayDefinitions(out, packets, columns.length, context);
}

/** The engine's own. One that knows nothing of MariaDB's blocks leaves them out for every client. */
function relayDefinitions(
  out: PacketWriter,
  packets: Uint8Array,
  count: number,
  { extendedMetadata }: AnswerContext,
): void {
  const bytes = extendedMetadata ? withBlocks(packets) : packets;
  relayPackets(out, bytes, { from: 0, rowsMax: count, bytesMax: Infinity });
}

/** Writes the answer to COM_FIELD_LIST: definitions with their defaults, always ended by an EOF or its OK. */
export function putFieldList(
  out: PacketWriter,
  columns: readonly Column[],
  table: string,
  context: AnswerContext,
): void {
  for (const column of columns) {
    out.begin();
    const form = { withDefault: true, withBlock: context.extendedMetadata };
    putColumn(out, { ...columnDefinition(column), table }, form);
    out.end();
  }
  putRowsEnd(out, context);
}

function putDefinitions(
  out: PacketWriter,
  columns: readonly Column[],
  { extendedMetadata: withBlock }: AnswerContext,
): void {
  for (const column of columns) {
    out.begin();
    putColumn(out, columnDefinition(column), { withBlock });
    out.end();
  }
}

function putDefinitionsEnd(out: PacketWriter, context: AnswerContext): void {
  if ((context.capabilities & capability.deprecateEof) !== 0) return;
  out.begin();
  putEof(out, context.status, 0);
  out.end();
}

function okOf(context: AnswerContext, done?: DoneEvent): OkReply {
  const { status, tracked, queryId, capabilities } = context;
  const report = done?.report;
  const line = report?.info ?? "";
  const isServers = report?.status !== undefined;
  // Behind a REPLACE, Connector/J takes the first digits of a line for the count of its keys: a server's empty one stays so.
  const id =
    queryId === undefined || isServers || report?.info === "" ? "" : `Query id: ${queryId}`;
  return {
    affectedRows: done === undefined ? 0 : affectedRowsOf(done, capabilities),
    insertId: report?.insertId ?? 0n,
    status,
    warnings: Math.max(context.warnings, report?.warnings ?? 0),
    // Clients read counts out of the server's own line, from its beginning.
    info: line === "" || id === "" ? line + id : `${line}  ${id}`,
    tracked,
  };
}
