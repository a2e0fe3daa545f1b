/**
 * Writes numbers as ASCII digits into a buffer, without a string or an object. Each `put…` returns
 * the offset behind what it wrote; the caller has made room.
 */

export const minus = 0x2d;
export const point = 0x2e;
export const quote = 0x22;
export const zero = 0x30;

const billion = 1e9;
/** The halves of one word are divided one after the other, so that no step leaves the exact range. */
const half = 0x10000;

/** Digits of `value`, 0 <= value < 1e9. */
function digitCount(value: number): number {
  if (value < 10_000) {
    if (value < 100) return value < 10 ? 1 : 2;
    return value < 1000 ? 3 : 4;
  }
  if (value < 1_000_000) return value < 100_000 ? 5 : 6;
  if (value < 100_000_000) return value < 10_000_000 ? 7 : 8;
  return 9;
}

/** Exactly two digits, 0 <= value <= 99. */
export function putTwo(out: Uint8Array, at: number, value: number): number {
  const tens = (value / 10) | 0;
  out[at] = zero + tens;
  out[at + 1] = zero + value - tens * 10;
  return at + 2;
}

/** Exactly `count` digits with leading zeros; `value` has at most as many and is below 1e9. */
export function putPadded(out: Uint8Array, at: number, value: number, count: number): number {
  let end = at + count;
  let rest = value | 0;
  for (; end - at >= 2; end -= 2) {
    const next = (rest / 100) | 0;
    putTwo(out, end - 2, rest - next * 100);
    rest = next;
  }
  if (end > at) out[at] = zero + rest;
  return at + count;
}

/** Exactly `count` digits of a value below 2^53, `count` at most 18. */
export function putLongPadded(out: Uint8Array, at: number, value: number, count: number): number {
  if (count <= 9) return putPadded(out, at, value, count);
  const high = Math.floor(value / billion);
  return putPadded(out, putPadded(out, at, high, count - 9), value - high * billion, 9);
}

/** A whole number, 0 <= value <= 2^53, without leading zeros. */
export function putNumber(out: Uint8Array, at: number, value: number): number {
  if (value < billion) return putPadded(out, at, value, digitCount(value));
  const high = Math.floor(value / billion);
  const next = putPadded(out, at, high, digitCount(high));
  return putPadded(out, next, value - high * billion, 9);
}

/** Half words of the number being divided, most significant first, and its digits in groups of nine. */
const limbs = new Float64Array(8);
const groups = new Float64Array(5);

/** An unsigned number of 128 bits as four words, least significant first; at most 39 digits. */
export function putWide(out: Uint8Array, at: number, words: Uint32Array): number {
  for (let index = 0; index < 4; index += 1) splitWord(6 - index * 2, words[index] ?? 0);
  return putLimbs(out, at);
}

/** An unsigned number of 64 bits, given by its two words; at most 20 digits. */
export function putLong(out: Uint8Array, at: number, high: number, low: number): number {
  if (high < 0x200000) return putNumber(out, at, high * 2 ** 32 + low);
  limbs.fill(0, 0, 4);
  splitWord(4, high);
  splitWord(6, low);
  return putLimbs(out, at);
}

function splitWord(index: number, word: number): void {
  limbs[index] = word >>> 16;
  limbs[index + 1] = word & 0xffff;
}

function putLimbs(out: Uint8Array, at: number): number {
  let count = 0;
  let first = 0;
  while (first < 8) {
    if (limbs[first] === 0) {
      first += 1;
      continue;
    }
    groups[count] = divideLimbs(first);
    count += 1;
  }
  if (count === 0) return putNumber(out, at, 0);
  let end = putNumber(out, at, groups[count - 1] ?? 0);
  for (let index = count - 2; index >= 0; index -= 1) {
    end = putPadded(out, end, groups[index] ?? 0, 9);
  }
  return end;
}

/** Divides the number in `limbs` by a billion in place and returns the remainder. */
function divideLimbs(first: number): number {
  let rest = 0;
  for (let index = first; index < 8; index += 1) {
    const value = rest * half + (limbs[index] ?? 0);
    const quotient = Math.floor(value / billion);
    limbs[index] = quotient;
    rest = value - quotient * billion;
  }
  return rest;
}

/** Text of ASCII characters. */
export function putAscii(out: Uint8Array, at: number, text: string): number {
  for (let index = 0; index < text.length; index += 1) out[at + index] = text.charCodeAt(index);
  return at + text.length;
}
