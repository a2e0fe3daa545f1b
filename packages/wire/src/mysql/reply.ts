/**
 * Payloads of a server's answers: OK, error, end of rows, column definitions, prepared statements.
 *
 * Each `put…` writes one payload between `begin` and `end` of the writer. Rows are in row.ts.
 */
import { PacketWriter } from "./packetWriter.ts";
import { capability, serverStatus } from "./protocol.ts";

/** Length of the fixed part of a column definition, as the protocol wants it written. */
const columnFixedBytes = 0x0c;

export interface OkReply {
  readonly affectedRows: number;
  /** The id that the statement gave a row; 0 for none. */
  readonly insertId: bigint;
  readonly status: number;
  readonly warnings: number;
  /** Text for people. */
  readonly info: string;
  /** Session changes, sent when the client can read them. */
  readonly tracked: readonly Tracked[];
}

/** A change of the session that the client is told. */
export type Tracked =
  | { readonly kind: "variable"; readonly name: string; readonly value: string }
  | { readonly kind: "schema"; readonly name: string }
  /** Something of the session changed, without saying what. */
  | { readonly kind: "state" }
  /** Statements that begin a transaction as this one began; empty outside of one. */
  | { readonly kind: "characteristics"; readonly sql: string }
  /** Eight characters; a `_` first: no transaction. */
  | { readonly kind: "transaction"; readonly marks: string };

export interface ErrorReply {
  readonly errno: number;
  /** Exactly five characters. */
  readonly sqlState: string;
  readonly message: string;
}

export interface ColumnDefinition {
  readonly schema: string;
  readonly table: string;
  readonly name: string;
  readonly collation: number;
  /** Longest text of a value, in bytes. */
  readonly length: number;
  /** One of `columnType`. */
  readonly type: number;
  readonly flags: number;
  readonly decimals: number;
}

/** What belongs to a definition where it is sent. */
export interface DefinitionForm {
  /** As COM_FIELD_LIST has it. */
  readonly withDefault?: boolean;
  /** The client agreed to MariaDB's block, which is empty here. */
  readonly withBlock?: boolean;
}

/** Writes an OK payload; `header` 0xfe is the form that ends rows for clients without EOF packets. */
export function putOk(
  out: PacketWriter,
  reply: OkReply,
  capabilities: number,
  header: 0x00 | 0xfe = 0x00,
): void {
  const tracks = (capabilities & capability.sessionTrack) !== 0;
  const changed = tracks && reply.tracked.length > 0;
  out.u8(header);
  out.lenenc(reply.affectedRows);
  out.lenencBig(reply.insertId);
  out.u16(reply.status | (changed ? serverStatus.sessionStateChanged : 0));
  out.u16(reply.warnings);
  // Always with its length, whatever the manual says: servers write it so, and clients read it so.
  if (reply.info !== "" || changed) out.lenencText(reply.info);
  if (changed) putTracked(out, reply.tracked);
}

/** Writes an error payload. `encode` where its client reads another set than utf8mb4. */
export function putError(
  out: PacketWriter,
  reply: ErrorReply,
  encode?: (text: string) => Uint8Array,
): void {
  out.u8(0xff);
  out.u16(reply.errno);
  const text = `#${reply.sqlState}${reply.message}`;
  if (encode === undefined) out.text(text);
  else out.raw(encode(text));
}

/** Writes an EOF payload, for clients that did not agree to do without. */
export function putEof(out: PacketWriter, status: number, warnings: number): void {
  out.u8(0xfe);
  out.u16(warnings);
  out.u16(status);
}

/** Writes the count of columns that starts a result. */
export function putColumnCount(out: PacketWriter, count: number): void {
  out.lenenc(count);
}

/** Writes one column definition. */
export function putColumn(
  out: PacketWriter,
  column: ColumnDefinition,
  { withDefault = false, withBlock = false }: DefinitionForm = {},
): void {
  out.lenencText("def");
  out.lenencText(column.schema);
  out.lenencText(column.table);
  out.lenencText(column.table);
  out.lenencText(column.name);
  // Its own name is that of a column in a table: what has none is an expression, which JDBC calls read-only.
  out.lenencText(column.table === "" ? "" : column.name);
  if (withBlock) out.u8(0);
  out.u8(columnFixedBytes);
  out.u16(column.collation);
  out.u32(column.length);
  out.u8(column.type);
  out.u16(column.flags);
  out.u8(column.decimals);
  out.u16(0);
  if (withDefault) out.u8(0xfb);
}

/** Writes the head of the answer to COM_STMT_PREPARE; definitions follow. */
export function putPrepared(
  out: PacketWriter,
  statementId: number,
  counts: { readonly columns: number; readonly parameters: number },
): void {
  out.u8(0x00);
  out.u32(statementId);
  out.u16(counts.columns);
  out.u16(counts.parameters);
  out.u8(0);
  out.u16(0);
}

/** Source: `enum_session_state_type` of MySQL's mysql_com.h. */
const trackCode = {
  variable: 0x00,
  schema: 0x01,
  state: 0x02,
  characteristics: 0x04,
  transaction: 0x05,
} as const;

/** The whole list with its length in front, each change with its kind and length in front. */
function putTracked(out: PacketWriter, tracked: readonly Tracked[]): void {
  const list = new PacketWriter();
  for (const change of tracked) {
    const fields = new PacketWriter();
    for (const text of textsOf(change)) fields.lenencText(text);
    list.u8(trackCode[change.kind]);
    list.lenenc(fields.at);
    list.raw(fields.written());
  }
  out.lenenc(list.at);
  out.raw(list.written());
}

function textsOf(change: Tracked): readonly string[] {
  switch (change.kind) {
    case "variable":
      return [change.name, change.value];
    case "schema":
      return [change.name];
    case "state":
      return ["1"];
    case "characteristics":
      return [change.sql];
    case "transaction":
      return [change.marks];
  }
}
