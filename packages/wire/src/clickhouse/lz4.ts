/** LZ4's block format, both ways: what ClickHouse's compressed blocks hold. No frames. */

const minMatch = 4;
/** The last match begins at least so many bytes before the end, and the last bytes are literals. */
const matchLimit = 12;
const lastLiterals = 5;
const distanceMax = 0xffff;
const hashBits = 14;

/** Most bytes that so many may become. */
export function lz4Bound(length: number): number {
  return length + Math.ceil(length / 255) + 16;
}

/** Compresses into `out` from `start` on, which has room for `lz4Bound`; answers the end. */
export function lz4Compress(bytes: Uint8Array, out: Uint8Array, start: number): number {
  const table = new Int32Array(1 << hashBits).fill(-1);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = bytes.length - matchLimit;
  let at = 0;
  let literals = 0;
  let to = start;
  while (at <= end) {
    const word = view.getUint32(at, true);
    const slot = Math.imul(word, 2_654_435_761) >>> (32 - hashBits);
    const found = table[slot] ?? -1;
    table[slot] = at;
    if (found < 0 || at - found > distanceMax || view.getUint32(found, true) !== word) {
      // Bytes that do not repeat are passed in growing steps.
      at += 1 + ((at - literals) >> 6);
      continue;
    }
    let length = minMatch;
    const longest = bytes.length - lastLiterals - at;
    while (length < longest && bytes[found + length] === bytes[at + length]) length += 1;
    to = putSequence(out, to, bytes.subarray(literals, at), { length, distance: at - found });
    at += length;
    literals = at;
  }
  return putSequence(out, to, bytes.subarray(literals), undefined);
}

interface Match {
  readonly length: number;
  readonly distance: number;
}

function putSequence(
  out: Uint8Array,
  start: number,
  literals: Uint8Array,
  match: Match | undefined,
): number {
  const matched = match === undefined ? 0 : match.length - minMatch;
  out[start] = (Math.min(literals.length, 15) << 4) | Math.min(matched, 15);
  let at = putLength(out, start + 1, literals.length);
  out.set(literals, at);
  at += literals.length;
  if (match === undefined) return at;
  out[at] = match.distance & 0xff;
  out[at + 1] = match.distance >> 8;
  return putLength(out, at + 2, matched);
}

/** What of a length does not fit its half of the token. */
function putLength(out: Uint8Array, start: number, length: number): number {
  if (length < 15) return start;
  let at = start;
  let left = length - 15;
  for (; left >= 255; left -= 255) out[at++] = 255;
  out[at++] = left;
  return at;
}

/** The `length` bytes that a block holds; undefined where it holds others. `length` is the caller's limit. */
export function lz4Decompress(block: Uint8Array, length: number): Uint8Array | undefined {
  const out = new Uint8Array(length);
  let at = 0;
  let to = 0;
  while (at < block.length) {
    const token = block[at++] ?? 0;
    const literals = lengthAt(block, at, token >> 4);
    at = literals.end;
    if (at + literals.length > block.length || to + literals.length > length) return undefined;
    out.set(block.subarray(at, at + literals.length), to);
    at += literals.length;
    to += literals.length;
    if (at === block.length) break;
    if (at + 2 > block.length) return undefined;
    const distance = (block[at] ?? 0) | ((block[at + 1] ?? 0) << 8);
    const matched = lengthAt(block, at + 2, token & 15);
    at = matched.end;
    const count = matched.length + minMatch;
    if (distance === 0 || distance > to || to + count > length) return undefined;
    // A match may reach into what it writes itself.
    for (let index = 0; index < count; index += 1)
      out[to + index] = out[to - distance + index] ?? 0;
    to += count;
  }
  return to === length ? out : undefined;
}

function lengthAt(
  block: Uint8Array,
  start: number,
  half: number,
): { readonly length: number; readonly end: number } {
  let length = half;
  let at = start;
  if (half < 15) return { length, end: at };
  for (;;) {
    const byte = block[at++] ?? 0;
    length += byte;
    if (byte !== 255) return { length, end: at };
  }
}
