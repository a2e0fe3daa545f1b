/** The packets around the rows of an answer: how it begins and ends. */
import { ByteReader } from "@gateway/wire/mysql/byteReader.ts";
import { serverStatus } from "@gateway/wire/mysql/protocol.ts";
import type { ServerError } from "../errors.ts";

/** The first packet of an answer. */
export type Head =
  | { readonly kind: "ok"; readonly ok: OkReply }
  | { readonly kind: "error"; readonly error: ServerError }
  | { readonly kind: "columns"; readonly count: number }
  /** The server wants a file of whoever asked it. */
  | { readonly kind: "localInfile"; readonly name: Uint8Array }
  | { readonly kind: "broken" };

export interface OkReply {
  readonly affectedRows: number;
  readonly insertId: bigint;
  readonly info: string;
  readonly warnings: number;
  readonly moreResults: boolean;
  readonly inTransaction: boolean;
  /** All of its status flags. */
  readonly status: number;
}

/** What stands behind rows. */
export type EndReply = Omit<OkReply, "affectedRows" | "insertId" | "info">;

const columnsMax = 65_535;

/** `decode`: how its errors are read, where it answers in another set than utf8mb4. */
export function readHead(payload: Uint8Array, decode = utf8): Head {
  const first = payload[0];
  if (first === 0xff) return { kind: "error", error: readError(payload, decode) };
  if (first === 0xfb) return { kind: "localInfile", name: payload.subarray(1) };
  if (first === 0x00) return { kind: "ok", ok: readOk(payload) };
  const reader = new ByteReader(payload);
  const count = reader.lenenc();
  const sound = !reader.failed && reader.remaining === 0 && count > 0 && count <= columnsMax;
  return sound ? { kind: "columns", count } : { kind: "broken" };
}

/** An OK packet, also one that stands for EOF. */
export function readOk(payload: Uint8Array): OkReply {
  const reader = new ByteReader(payload, 1);
  const affectedRows = reader.lenenc();
  const insertId = reader.lenencBig();
  const status = statusOf(reader.u16());
  const warnings = reader.u16();
  return { affectedRows, insertId, warnings, ...status, info: infoOf(reader) };
}

/** An EOF packet. */
export function readEof(payload: Uint8Array): EndReply {
  const reader = new ByteReader(payload, 1);
  const warnings = reader.u16();
  return { warnings, ...statusOf(reader.u16()) };
}

/** With its length where a server tracks sessions, and mostly also where it does not. */
function infoOf(reader: ByteReader): string {
  if (reader.remaining === 0) return "";
  return new TextDecoder().decode(reader.lenencBytes());
}

const utf8 = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

export function readError(payload: Uint8Array, decode = utf8): ServerError {
  const reader = new ByteReader(payload, 1);
  const number = reader.u16();
  const marked = payload[reader.at] === 0x23;
  const sqlState = marked ? new TextDecoder().decode(payload.subarray(4, 9)) : "HY000";
  return { number, sqlState, message: decode(payload.subarray(marked ? 9 : 3)) };
}

/**
 * True for the packet behind the last row. A row may begin with the same byte, but its first cell then
 * has more than 16 MB: EOF has less than nine bytes, the OK packet in its place less than a whole packet.
 */
export function isEnd(first: number, length: number, endsWithOk: boolean): boolean {
  return first === 0xfe && (endsWithOk ? length < 0xff_ffff : length < 9);
}

function statusOf(status: number): Omit<EndReply, "warnings"> {
  return {
    status,
    moreResults: (status & serverStatus.moreResults) !== 0,
    inTransaction: (status & serverStatus.inTransaction) !== 0,
  };
}
