/**
 * Packets of rows that are already MySQL's → the client, under new sequence numbers. Nothing in them
 * is read but their heads.
 */
import { packetBytesMax, packetHeaderBytes } from "@gateway/wire/mysql/protocol.ts";
import type { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";

export interface RelayLimits {
  /** Offset of the first packet. */
  readonly from: number;
  /** A row that goes on in further packets counts once. */
  readonly rowsMax: number;
  /** Bytes in the output buffer after which it returns. */
  readonly bytesMax: number;
}

/** Copies whole rows; answers how many, and the offset behind them. */
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
  for (let head = start; head < out.at; head += packetHeaderBytes + lengthAt(out.bytes, head)) {
    out.bytes[head + 3] = out.sequence;
    out.sequence = (out.sequence + 1) & 0xff;
  }
  return { rows, at };
}

function lengthAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
}
