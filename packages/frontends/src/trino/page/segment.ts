/**
 * Rows in the form of Trino's spooling protocol: one inline segment per answer, encoded as its client
 * asked for. Nothing is spooled; a segment travels in the answer itself.
 *
 * Source: Trino's own client (`EncodedQueryData`, `InlineSegment`, `DataAttribute`).
 */
import { promisify } from "node:util";
import * as zlib from "node:zlib";
import { listItems } from "@gateway/wire/trino/headers.ts";
import type { DraftRows } from "./draft.ts";

/** `json+lz4` is missing: no library for it is well kept, and clients that name it name another one too. */
export type Encoding = "json" | "json+zstd";

/** What stands around the rows of an answer, and the rows. */
export interface Framed {
  readonly before: string;
  readonly rows: Uint8Array;
  readonly after: string;
  /** Compressed already; doing it once more costs and gains nothing. */
  readonly dense: boolean;
}

type Compress = (
  bytes: Uint8Array,
  options: { readonly pledgedSrcSize: number },
  done: (error: Error | null, packed: Buffer) => void,
) => void;

/** Node 20 has none. */
const { zstdCompress } = zlib as { readonly zstdCompress?: Compress };
const compress = zstdCompress === undefined ? undefined : promisify(zstdCompress);

/** Smaller segments stay as they are; Trino draws the line there as well. */
const compressedBytesMin = 8 * 1024;

/** The first encoding that the client names and we have; undefined for rows as plain JSON. */
export function encodingOf(header: string | undefined): Encoding | undefined {
  if (header === undefined) return undefined;
  for (const name of listItems(header)) {
    if (name === "json" || (name === "json+zstd" && compress !== undefined)) return name;
  }
  return undefined;
}

/** Rows as the answer's `data` without an encoding. */
export function framed(rows: Uint8Array): Framed {
  return { before: '"data":[', rows, after: "],", dense: false };
}

/** Rows as the answer's `data` in an encoding. `rowOffset`: rows of the result before these. */
export async function encoded(
  { bytes, count }: DraftRows,
  rowOffset: number,
  encoding: Encoding,
): Promise<Framed> {
  const plain = bracketed(bytes);
  const packed = encoding === "json" ? plain : await zstdOf(plain);
  const size = packed === plain ? "" : `,"uncompressedSize":${plain.length}`;
  const facts = `"rowOffset":${rowOffset},"rowsCount":${count},"segmentSize":${packed.length}${size}`;
  return {
    before: `"data":{"encoding":"${encoding}","segments":[{"type":"inline","data":"`,
    rows: Buffer.from(packed.toString("base64"), "latin1"),
    after: `","metadata":{${facts}}}]},`,
    dense: packed !== plain,
  };
}

/** The bytes as they are when they are few, or when Node does not say in the frame how many there are: Python's client needs that (RFC 8878 §3.1.1.1.4). */
async function zstdOf(plain: Buffer): Promise<Buffer> {
  if (plain.length < compressedBytesMin || compress === undefined) return plain;
  const packed = await compress(plain, { pledgedSrcSize: plain.length });
  const tellsSize = ((packed[4] ?? 0) & 0xe0) !== 0;
  return tellsSize && packed.length < plain.length ? packed : plain;
}

function bracketed(rows: Uint8Array): Buffer {
  const plain = Buffer.allocUnsafe(rows.length + 2);
  plain[0] = 0x5b;
  plain.set(rows, 1);
  plain[rows.length + 1] = 0x5d;
  return plain;
}
