/**
 * Text rows of a server of MySQL's family → binary rows of the same values, for prepared statements: numbers and
 * times take their binary form, and everything else keeps its bytes. A value that no other protocol has, such as
 * a zero date, a time of 800 hours or a member of an ENUM, stays what it is.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { NativeBatch } from "@gateway/core/type/vector.ts";
import { ByteReader } from "@gateway/wire/mysql/byteReader.ts";
import type { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import { columnType, packetBytesMax, packetHeaderBytes } from "@gateway/wire/mysql/protocol.ts";
import { binaryNullBytes, markNull, nullCell } from "@gateway/wire/mysql/row.ts";
import { rowTooLong, type RowEncoder, type RowFormat } from "./rows.ts";

/** Where the type stands in a definition, from its end: two bytes of collation and four of length before it. */
const typeFromEnd = 6;

/** The types of columns, out of the packets of their definitions. */
export function nativeTypes(definitions: Uint8Array): readonly number[] {
  const types: number[] = [];
  for (let at = 0; at < definitions.length;) {
    const end = at + packetHeaderBytes + lengthAt(definitions, at);
    types.push(definitions[end - typeFromEnd] ?? columnType.null);
    at = end;
  }
  return types;
}

/** The rows of a batch of text rows as binary ones, asked for one after the other, from the first on. */
export function nativeBinaryEncoder(
  { bytes }: Pick<NativeBatch, "bytes">,
  types: readonly number[],
  { rowBytesMax, flushBytes }: Pick<RowFormat, "rowBytesMax" | "flushBytes">,
): RowEncoder {
  let at = 0;
  return {
    write: (from, end, out) => {
      let row = from;
      while (row < end && out.at < flushBytes) {
        const packet = payloadAt(bytes, at);
        if (packet.payload.length > rowBytesMax) return err(rowTooLong);
        out.begin();
        const put = putRow(packet.payload, types, out);
        if (!put.ok) {
          out.discard();
          return put;
        }
        out.end();
        at = packet.end;
        row += 1;
      }
      return ok(row);
    },
  };
}

/** A row's payload, without the headers between its parts, and where its last packet ends. */
function payloadAt(
  bytes: Uint8Array,
  begin: number,
): { readonly payload: Uint8Array; readonly end: number } {
  const parts: Uint8Array[] = [];
  let at = begin;
  for (let length = packetBytesMax; length === packetBytesMax && at < bytes.length;) {
    length = lengthAt(bytes, at);
    parts.push(bytes.subarray(at + packetHeaderBytes, at + packetHeaderBytes + length));
    at += packetHeaderBytes + length;
  }
  const [only] = parts;
  return {
    payload: parts.length === 1 && only !== undefined ? only : new Uint8Array(Buffer.concat(parts)),
    end: at,
  };
}

function lengthAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
}

function putRow(
  payload: Uint8Array,
  types: readonly number[],
  out: PacketWriter,
): Result<void, GatewayError> {
  const reader = new ByteReader(payload);
  const start = out.at;
  out.zeros(1 + binaryNullBytes(types.length));
  for (const [index, type] of types.entries()) {
    if (payload[reader.at] === nullCell) {
      reader.u8();
      markNull(out.bytes, start + 1, index);
      continue;
    }
    const cell = reader.lenencBytes();
    if (reader.failed || !putCell(type, cell, out)) return err(noRow);
  }
  return ok(undefined);
}

const noRow = gatewayError("engine.broken", { detail: "a row that is none" });

/** False for a text that is no value of the type. */
function putCell(type: number, cell: Uint8Array, out: PacketWriter): boolean {
  switch (type) {
    case columnType.tiny:
      return putInteger(cell, 1, out);
    case columnType.short:
    case columnType.year:
      return putInteger(cell, 2, out);
    case columnType.long:
    case columnType.int24:
      return putInteger(cell, 4, out);
    case columnType.longlong:
      return putInteger(cell, 8, out);
    case columnType.float:
    case columnType.double:
      return putFloat(cell, type === columnType.float ? 4 : 8, out);
    case columnType.date:
    case columnType.newDate:
    case columnType.datetime:
    case columnType.timestamp:
      return putMoment(textOf(cell), out);
    case columnType.time:
      return putTime(textOf(cell), out);
    default:
      out.lenenc(cell.length);
      out.raw(cell);
      return true;
  }
}

function textOf(cell: Uint8Array): string {
  return Buffer.from(cell.buffer, cell.byteOffset, cell.length).toString("latin1");
}

function putInteger(cell: Uint8Array, width: 1 | 2 | 4 | 8, out: PacketWriter): boolean {
  const text = textOf(cell);
  if (!/^-?\d{1,20}$/.test(text)) return false;
  out.reserve(width);
  const view = new DataView(out.bytes.buffer, out.bytes.byteOffset + out.at, width);
  if (width === 8) view.setBigUint64(0, BigInt.asUintN(64, BigInt(text)), true);
  else if (width === 4) view.setInt32(0, Number(text), true);
  else if (width === 2) view.setInt16(0, Number(text), true);
  else view.setInt8(0, Number(text));
  out.at += width;
  return true;
}

function putFloat(cell: Uint8Array, width: 4 | 8, out: PacketWriter): boolean {
  const value = Number(textOf(cell));
  if (cell.length === 0 || Number.isNaN(value)) return false;
  out.reserve(width);
  const view = new DataView(out.bytes.buffer, out.bytes.byteOffset + out.at, width);
  if (width === 4) view.setFloat32(0, value, true);
  else view.setFloat64(0, value, true);
  out.at += width;
  return true;
}

const momentForm = /^(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?$/;

/** A date or a time of a day, in as many parts as are not zero at its end. */
function putMoment(text: string, out: PacketWriter): boolean {
  const found = momentForm.exec(text);
  if (found === null) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const micros = microsOf(found[7]);
  const hasClock = hour + minute + second + micros > 0;
  const size = micros > 0 ? 11 : hasClock ? 7 : year + month + day > 0 ? 4 : 0;
  out.u8(size);
  if (size === 0) return true;
  out.u16(year);
  out.u8(month);
  out.u8(day);
  if (size > 4) putClock([hour, minute, second], micros, out);
  return true;
}

const timeForm = /^(-?)(\d{2,3}):(\d\d):(\d\d)(?:\.(\d{1,6}))?$/;

function putTime(text: string, out: PacketWriter): boolean {
  const found = timeForm.exec(text);
  if (found === null) return false;
  const [hours, minute, second] = [Number(found[2]), Number(found[3]), Number(found[4])];
  const micros = microsOf(found[5]);
  if (hours + minute + second + micros === 0) {
    out.u8(0);
    return true;
  }
  out.u8(micros > 0 ? 12 : 8);
  out.u8(found[1] === "-" ? 1 : 0);
  out.u32(Math.floor(hours / 24));
  putClock([hours % 24, minute, second], micros, out);
  return true;
}

function putClock(parts: readonly number[], micros: number, out: PacketWriter): void {
  for (const part of parts) out.u8(part);
  if (micros > 0) out.u32(micros);
}

/** Microseconds of the digits behind a point. */
function microsOf(digits: string | undefined): number {
  return Number((digits ?? "").padEnd(6, "0"));
}
