/**
 * Compresses one configuration after the other: what is as it was in the one before is not compressed
 * again.
 *
 * A member is put together from pieces that know nothing of each other, so that one changed object costs
 * its own piece and not the whole. Where pieces end follows from the text around that place, and not from
 * its distance to the start: an object that grows leaves all later pieces as they were.
 */
import { promisify } from "node:util";
import { constants, crc32, deflateRaw } from "node:zlib";

/** A gzip member (RFC 1952) of `bytes`. */
export type Compress = (bytes: Uint8Array) => Promise<Uint8Array>;

const deflatePiece = promisify(deflateRaw);
/** Ends on a whole byte and is not the last block, so that the next piece may follow (RFC 1951 §3.2.4). */
const pieceEnd = { finishFlush: constants.Z_SYNC_FLUSH } as const;
/** An empty last block with fixed codes. */
const lastBlock = Uint8Array.of(3, 0);
/** Deflate, no flags, no time, no word about the system (RFC 1952 §2.3). */
const memberHead = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff);
const memberTrailerBytes = 8;

/** Where one object ends and the next begins, in canonical JSON. */
const border = '},"';
/** One border of so many is the end of a piece: with small objects, pieces of about 6 KB. */
const bordersPerPiece = 64;
/** Characters behind a border that decide; a piece of so many ends at the next border in any case. */
const decidingChars = 32;
const pieceCharsMax = 32_768;

/** One for each line of configurations: it keeps the pieces of the newest. */
export function compressor(): Compress {
  let known: ReadonlyMap<string, Uint8Array> = new Map();
  return async (bytes) => {
    const texts = piecesOf(textOf(bytes));
    const before = known;
    const pieces = await Promise.all(
      texts.map(async (text) => {
        const same = before.get(text);
        return same ?? deflatePiece(Buffer.from(text, "latin1"), pieceEnd);
      }),
    );
    known = new Map(texts.map((text, index) => [text, pieces[index] ?? lastBlock]));
    const trailer = Buffer.alloc(memberTrailerBytes);
    trailer.writeUInt32LE(crc32(bytes), 0);
    trailer.writeUInt32LE(bytes.length % 2 ** 32, 4);
    const { buffer, byteOffset, length } = Buffer.concat([
      memberHead,
      ...pieces,
      lastBlock,
      trailer,
    ]);
    // Plain bytes: what was kept and read back looks the same.
    return new Uint8Array(buffer, byteOffset, length);
  };
}

/** A character for each byte: texts are the keys of what is known. */
function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("latin1");
}

/** The text in order, cut behind borders. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  for (let at = text.indexOf(border); at !== -1; at = text.indexOf(border, at + 1)) {
    const end = at + border.length;
    if (!isEnd(text, end) && end - from < pieceCharsMax) continue;
    pieces.push(text.slice(from, end));
    from = end;
  }
  return [...pieces, text.slice(from)];
}

/** By what follows, mostly the next object's name: an FNV-1a hash whose highest bits decide. */
function isEnd(text: string, end: number): boolean {
  let hash = 0x811c9dc5;
  for (let at = end; at < end + decidingChars; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  // Names that differ in a digit or two differ in the lowest bits only, until these are spread.
  return Math.imul(hash, spread) >>> 0 < 2 ** 32 / bordersPerPiece;
}

/** 2^32 over the golden ratio. */
const spread = 0x9e3779b1;
