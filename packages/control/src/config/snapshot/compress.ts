/**
 * Compresses one configuration after the other: parts unchanged since the one before are not compressed
 * again.
 *
 * A member is put together from pieces that know nothing of each other, so that one changed object costs
 * its own piece and not the whole. Where pieces end follows from the text around that place, and not from
 * its distance to the start: an object that grows leaves all later pieces as they were.
 */
import { promisify } from "node:util";
import { constants, crc32, deflateRaw, deflateRawSync } from "node:zlib";

/** A gzip member (RFC 1952) of `bytes`, which stay as they are from here on. */
export type Compress = (bytes: Uint8Array) => Promise<Uint8Array>;

const deflateAside = promisify(deflateRaw);
/** Ends on a whole byte and is not the last block, so that the next piece may follow (RFC 1951 §3.2.4). */
const pieceEnd = { finishFlush: constants.Z_SYNC_FLUSH } as const;
/** An empty last block with fixed codes. */
const lastBlock = Uint8Array.of(3, 0);
/** Deflate, no flags, no time, no word about the system (RFC 1952 §2.3). */
const memberHead = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff);
const memberTrailerBytes = 8;

/** `},"`: where one object ends and the next begins, in canonical JSON. */
const [closeBrace, comma, quote] = [0x7d, 0x2c, 0x22];
const borderBytes = 3;
/** One border of so many is the end of a piece: with small objects, pieces of about 6 KB. */
const bordersPerPiece = 64;
/** Bytes behind a border that decide; a piece of so many ends at the next border in any case. */
const decidingBytes = 32;
const pieceBytesMax = 32_768;
/** Up to so many bytes are compressed at once, in under a millisecond: another thread and back takes longer. */
const atOnceBytesMax = 32_768;

/** A part of a text, compressed. */
interface Piece {
  /** Bytes of the text. */
  readonly length: number;
  readonly deflated: Uint8Array;
}

/** What was compressed last. */
interface Compressed {
  readonly bytes: Buffer;
  readonly pieces: readonly Piece[];
}

/** One for each line of configurations: it keeps the pieces of the newest. */
export function compressor(): Compress {
  let before: Compressed = { bytes: Buffer.alloc(0), pieces: [] };
  return async (text) => {
    const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
    const { first, changed, last } = changedIn(before, bytes);
    const pieces = [...first, ...(await deflated(changed, before, first, last)), ...last];
    before = { bytes, pieces };
    return memberOf(before);
  };
}

function memberOf({ bytes, pieces }: Compressed): Uint8Array {
  const trailer = Buffer.alloc(memberTrailerBytes);
  trailer.writeUInt32LE(crc32(bytes), 0);
  trailer.writeUInt32LE(bytes.length % 2 ** 32, 4);
  const parts = [memberHead, ...pieces.map((piece) => piece.deflated), lastBlock, trailer];
  const { buffer, byteOffset, length } = Buffer.concat(parts);
  // Plain bytes: what was kept and read back looks the same.
  return new Uint8Array(buffer, byteOffset, length);
}

/** A text as pieces of the one before, and what is new between them. */
interface Changes {
  readonly first: readonly Piece[];
  readonly changed: readonly Buffer[];
  readonly last: readonly Piece[];
}

/** Cuts the text as if there were none before, and skips only pieces that would be cut in the same way again. */
function changedIn(before: Compressed, bytes: Buffer): Changes {
  const first = sameAtStart(before, bytes);
  let last = sameAtEnd(before, bytes, first);
  let at = lengthOf(first);
  let lastAt = bytes.length - lengthOf(last);
  const changed: Buffer[] = [];
  while (at < bytes.length) {
    // When a cut falls on an old cut within the unchanged end, all later pieces are the old ones.
    while (lastAt < at) {
      lastAt += last[0]?.length ?? 0;
      last = last.slice(1);
    }
    if (at === lastAt) break;
    const end = endOfPiece(bytes, at);
    changed.push(bytes.subarray(at, end));
    at = end;
  }
  return { first, changed, last: at === bytes.length ? [] : last };
}

/** Pieces that begin the new text too. What decides about the end of one lies behind it. */
function sameAtStart(before: Compressed, bytes: Buffer): readonly Piece[] {
  let at = 0;
  const changed = before.pieces.findIndex(({ length }) => {
    const end = at + length + decidingBytes;
    if (!before.bytes.subarray(at, end).equals(bytes.subarray(at, end))) return true;
    at += length;
    return false;
  });
  return changed < 0 ? before.pieces : before.pieces.slice(0, changed);
}

/** Pieces that end the new text too, without those of its start. */
function sameAtEnd(before: Compressed, bytes: Buffer, first: readonly Piece[]): readonly Piece[] {
  const later = before.pieces.slice(first.length);
  let left = bytes.length - lengthOf(first);
  let ending = 0;
  const changed = later.findLastIndex(({ length }) => {
    if (length > left) return true;
    const [old, now] = [before.bytes, bytes].map((all) =>
      all.subarray(all.length - ending - length, all.length - ending),
    );
    if (old === undefined || now === undefined || !old.equals(now)) return true;
    left -= length;
    ending += length;
    return false;
  });
  return later.slice(changed + 1);
}

function lengthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** Where the piece ends that begins at `start`. */
function endOfPiece(bytes: Uint8Array, start: number): number {
  for (let at = start; at < bytes.length; at += 1) {
    if (bytes[at] !== closeBrace || bytes[at + 1] !== comma || bytes[at + 2] !== quote) continue;
    const end = at + borderBytes;
    if (isEnd(bytes, end) || end - start >= pieceBytesMax) return end;
  }
  return bytes.length;
}

/** Decides by what follows, mostly the next object's name: the highest bits of its FNV-1a hash. */
function isEnd(bytes: Uint8Array, end: number): boolean {
  let hash = 0x811c9dc5;
  for (let at = end; at < end + decidingBytes; at += 1) {
    hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  }
  // Names that differ in a digit or two differ in the lowest bits only, until these are spread.
  return Math.imul(hash, spread) >>> 0 < 2 ** 32 / bordersPerPiece;
}

/** 2^32 over the golden ratio. */
const spread = 0x9e3779b1;

/** Compresses `changed`. Pieces that only moved are taken from before. */
async function deflated(
  changed: readonly Buffer[],
  before: Compressed,
  first: readonly Piece[],
  last: readonly Piece[],
): Promise<readonly Piece[]> {
  const known = changed.length > 1 ? textsBetween(before, first, last) : noTexts;
  const found = changed.map((bytes) =>
    known.size === 0 ? undefined : known.get(bytes.toString("latin1")),
  );
  const missing = changed.filter((_, index) => found[index] === undefined);
  const atOnce = missing.reduce((sum, { length }) => sum + length, 0) <= atOnceBytesMax;
  return Promise.all(
    changed.map(async (bytes, index): Promise<Piece> => {
      const same = found[index];
      if (same !== undefined) return same;
      const { length } = bytes;
      if (atOnce) return { length, deflated: deflateRawSync(bytes, pieceEnd) };
      return { length, deflated: await deflateAside(bytes, pieceEnd) };
    }),
  );
}

const noTexts: ReadonlyMap<string, Piece> = new Map();

/** The pieces between those two by their texts, a character for each byte. */
function textsBetween(
  { bytes, pieces }: Compressed,
  first: readonly Piece[],
  last: readonly Piece[],
): ReadonlyMap<string, Piece> {
  const texts = new Map<string, Piece>();
  let at = lengthOf(first);
  for (const piece of pieces.slice(first.length, pieces.length - last.length)) {
    texts.set(bytes.toString("latin1", at, at + piece.length), piece);
    at += piece.length;
  }
  return texts;
}
