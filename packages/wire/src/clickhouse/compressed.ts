/**
 * ClickHouse's compressed blocks (`compress=1`, `decompress=1`): a checksum of 16 bytes, the method, the size of the
 * block behind the checksum, the size of what it holds, and the bytes. Every size is looked at before memory is taken.
 */
import { cityHash128 } from "./cityHash.ts";
import { lz4Bound, lz4Compress, lz4Decompress } from "./lz4.ts";

const checksumBytes = 16;
const headBytes = 9;
const methods = { none: 0x02, lz4: 0x82 } as const;

/** Bytes that one block holds at most when it is written here. */
export const blockBytesMax = 1 << 20;

/** The bytes as blocks. */
export function compressedBlocks(bytes: Uint8Array): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += blockBytesMax) {
    blocks.push(blockOf(bytes.subarray(at, at + blockBytesMax)));
  }
  return joined(blocks);
}

function blockOf(bytes: Uint8Array): Uint8Array {
  const start = checksumBytes + headBytes;
  const out = new Uint8Array(start + lz4Bound(bytes.length));
  const end = lz4Compress(bytes, out, start);
  const view = new DataView(out.buffer);
  out[checksumBytes] = methods.lz4;
  view.setUint32(checksumBytes + 1, end - checksumBytes, true);
  view.setUint32(checksumBytes + 5, bytes.length, true);
  const [low, high] = cityHash128(out.subarray(checksumBytes, end));
  view.setBigUint64(0, low, true);
  view.setBigUint64(8, high, true);
  return out.subarray(0, end);
}

/** Why blocks can not be read. */
export type BlocksRefusal = "broken" | "checksum" | "tooLarge" | "method";

/** What all blocks hold together, at most `bytesMax`. */
export function readCompressed(bytes: Uint8Array, bytesMax: number): Uint8Array | BlocksRefusal {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const parts: Uint8Array[] = [];
  let held = 0;
  for (let at = 0; at < bytes.length;) {
    const from = at + checksumBytes;
    if (from + headBytes > bytes.length) return "broken";
    const size = view.getUint32(from + 1, true);
    const length = view.getUint32(from + 5, true);
    if (size < headBytes || from + size > bytes.length) return "broken";
    held += length;
    if (held > bytesMax) return "tooLarge";
    const [low, high] = cityHash128(bytes.subarray(from, from + size));
    const same = view.getBigUint64(at, true) === low && view.getBigUint64(at + 8, true) === high;
    if (!same) return "checksum";
    const part = unpacked(bytes.subarray(from, from + size), length);
    if (typeof part === "string") return part;
    parts.push(part);
    at = from + size;
  }
  return joined(parts);
}

function unpacked(block: Uint8Array, length: number): Uint8Array | BlocksRefusal {
  const packed = block.subarray(headBytes);
  switch (block[0]) {
    case methods.lz4:
      return lz4Decompress(packed, length) ?? "broken";
    case methods.none:
      return packed.length === length ? packed : "broken";
    default:
      return "method";
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
