/**
 * The block of MariaDB's in a column definition (MARIADB_CLIENT_EXTENDED_METADATA): what a type is called, or that a
 * text is JSON. It stands between the names and the fixed fields, and only clients that agreed to it can read past it.
 */
import { ByteReader } from "./byteReader.ts";
import { PacketWriter } from "./packetWriter.ts";
import { packetHeaderBytes } from "./protocol.ts";

/** Bytes at the end of a definition whose places are fixed. One in front of them says how many they are. */
export const definitionFixedBytes = 12;

/** Where the block stands in a payload, its own length included. Both are the same where there is none. */
export interface BlockPlace {
  readonly from: number;
  readonly to: number;
}

/** Undefined for what is no column definition. */
export function blockPlaceOf(payload: Uint8Array): BlockPlace | undefined {
  const reader = new ByteReader(payload);
  // Catalog, schema, both names of the table, both of the column.
  for (let part = 0; part < 6; part += 1) reader.lenencBytes();
  const from = reader.at;
  const to = payload.length - definitionFixedBytes - 1;
  if (reader.failed || from > to || payload[to] !== definitionFixedBytes) return undefined;
  if (from < to) {
    reader.lenencBytes();
    if (reader.failed || reader.at !== to) return undefined;
  }
  return { from, to };
}

/** A definition packet without its block. */
export function withoutBlock(payload: Uint8Array, { from, to }: BlockPlace): Uint8Array {
  const out = new PacketWriter();
  out.begin();
  out.raw(payload.subarray(0, from));
  out.raw(payload.subarray(to));
  out.end();
  return out.release();
}

/** Definition packets for clients that agreed to the block: an empty one stands in each that has none. */
export function withBlocks(packets: Uint8Array): Uint8Array {
  const out = new PacketWriter();
  for (let at = 0; at < packets.length;) {
    const end = at + packetHeaderBytes + lengthAt(packets, at);
    const payload = packets.subarray(at + packetHeaderBytes, end);
    const place = blockPlaceOf(payload);
    if (place === undefined || place.from < place.to) out.raw(packets.subarray(at, end));
    else {
      out.sequence = packets[at + 3] ?? 0;
      out.begin();
      out.raw(payload.subarray(0, place.from));
      out.u8(0);
      out.raw(payload.subarray(place.from));
      out.end();
    }
    at = end;
  }
  return out.release();
}

function lengthAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
}
