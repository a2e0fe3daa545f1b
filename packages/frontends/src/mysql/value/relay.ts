/**
 * Packets of rows that are already MySQL's → the client, under new sequence numbers. Nothing in them
 * is read but their heads.
 */
import { ok } from "@gateway/core/result.ts";
import { giveBack, isLent } from "@gateway/core/tool/socket/lent.ts";
import type { NativeBatch } from "@gateway/core/type/vector.ts";
import { packetBytesMax, packetHeaderBytes } from "@gateway/wire/mysql/protocol.ts";
import type { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import { ownWriteMin } from "../../turn.ts";
import type { RowEncoder } from "./rows.ts";

export interface RelayLimits {
  /** Offset of the first packet. */
  readonly from: number;
  /** A row that goes on in further packets counts once. */
  readonly rowsMax: number;
  /** Bytes in the output buffer after which it returns. */
  readonly bytesMax: number;
}

/** The rows of a batch of packets. They are asked for one after the other, from the first on, and copied: behind the last the batch is given back. */
export function relayEncoder(
  { rows, bytes }: Pick<NativeBatch, "rows" | "bytes">,
  flushBytes: number,
): RowEncoder {
  let at = 0;
  return {
    write: (from, end, out) => {
      if (from >= end) return ok(from);
      if (from === 0 && end === rows && bytes.length <= flushBytes) {
        relayWhole(out, rows, bytes);
        giveBack(bytes);
        return ok(end);
      }
      const limits = { from: at, rowsMax: end - from, bytesMax: flushBytes };
      const relayed = relayPackets(out, bytes, limits);
      at = relayed.at;
      if (at === bytes.length) giveBack(bytes);
      return ok(from + relayed.rows);
    },
  };
}

/** Copies all of them, which are `rows`. Mostly the client's numbers are the engine's, and then no header is read. */
export function relayWhole(out: PacketWriter, rows: number, bytes: Uint8Array): void {
  const start = out.at;
  out.raw(bytes);
  // Only a row longer than this takes several packets.
  if (bytes[3] === out.sequence && bytes.length < packetBytesMax) {
    out.sequence = (out.sequence + rows) & 0xff;
  } else renumber(out, start);
}

/**
 * The bytes of all rows as they are to be sent behind what was written, which counts them, numbered where they lie.
 * Undefined where they have to be copied, because they are few or not ours to change.
 */
export function relayInPlace(
  out: Pick<PacketWriter, "sequence">,
  rows: number,
  bytes: Uint8Array,
): Uint8Array | undefined {
  const { sequence } = out;
  // Only a row longer than this takes several packets.
  if (bytes.length < ownWriteMin || bytes.length >= packetBytesMax) return undefined;
  const isNumbered = bytes[3] === sequence;
  if (!isNumbered && !isLent(bytes)) return undefined;
  if (!isNumbered) number(bytes, { from: 0, to: bytes.length }, sequence);
  out.sequence = (sequence + rows) & 0xff;
  return bytes;
}

/** Copies whole rows and returns how many, and the offset behind them. */
export function relayPackets(
  out: PacketWriter,
  bytes: Uint8Array,
  { from, rowsMax, bytesMax }: RelayLimits,
): { readonly rows: number; readonly at: number } {
  let at = from;
  let rows = 0;
  const room = Math.max(0, bytesMax - out.at);
  let length = 0;
  while (rows < rowsMax && at < bytes.length && (at - from < room || rows === 0)) {
    do {
      length = lengthAt(bytes, at);
      at += packetHeaderBytes + length;
    } while (length === packetBytesMax && at < bytes.length);
    rows += 1;
  }
  if (at > bytes.length) throw new RangeError("rows that are no whole packets");
  const start = out.at;
  out.raw(bytes.subarray(from, at));
  renumber(out, start);
  return { rows, at };
}

/** Numbers the packets from `start` on as those of the writer. */
function renumber(out: PacketWriter, start: number): void {
  out.sequence = number(out.bytes, { from: start, to: out.at }, out.sequence);
}

/** Numbers packets from `first` on; returns the number behind them. */
function number(
  bytes: Uint8Array,
  { from, to }: { readonly from: number; readonly to: number },
  first: number,
): number {
  let sequence = first;
  for (let head = from; head < to; head += packetHeaderBytes + lengthAt(bytes, head)) {
    bytes[head + 3] = sequence;
    sequence = (sequence + 1) & 0xff;
  }
  return sequence;
}

function lengthAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
}
