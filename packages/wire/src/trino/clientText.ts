/**
 * Decodes the text of JSON strings in place: a result is never longer than its source. Nothing outside of the
 * cell is written.
 */

const backslash = 0x5c;
const letterU = 0x75;
/** The character that a letter behind a backslash means; 0 for letters that mean none. */
const letters = new Uint8Array(128);
for (const [letter, byte] of [
  ['"', 0x22],
  ["\\", 0x5c],
  ["/", 0x2f],
  ["b", 0x08],
  ["f", 0x0c],
  ["n", 0x0a],
  ["r", 0x0d],
  ["t", 0x09],
] as const) {
  letters[letter.charCodeAt(0)] = byte;
}
/** Replaces half of a surrogate pair, which UTF-8 can not hold. */
const replacement = 0xfffd;

/** Replaces the escapes of a JSON string by UTF-8. Returns the new length, or -1 when an escape is invalid. */
export function unescapeInPlace(bytes: Uint8Array, start: number, length: number): number {
  const end = start + length;
  let from = start;
  let to = start;
  while (from < end) {
    const byte = bytes[from] ?? 0;
    if (byte !== backslash) {
      bytes[to] = byte;
      from += 1;
      to += 1;
      continue;
    }
    if (bytes[from + 1] !== letterU) {
      const meant = letters[bytes[from + 1] ?? 0] ?? 0;
      if (meant === 0 || from + 2 > end) return -1;
      bytes[to] = meant;
      from += 2;
      to += 1;
      continue;
    }
    const point = codePointAt(bytes, from, end);
    if (point < 0) return -1;
    from += point > 0xffff ? 12 : 6;
    to = putUtf8(bytes, to, isSurrogate(point) ? replacement : point);
  }
  return to - start;
}

/** The code point of one or two `\uXXXX`; -1 when they are none. */
function codePointAt(bytes: Uint8Array, at: number, end: number): number {
  const high = unitAt(bytes, at, end);
  if ((high & 0xfc00) !== 0xd800 || high < 0) return high;
  const low = unitAt(bytes, at + 6, end);
  if (low < 0 || (low & 0xfc00) !== 0xdc00) return high;
  return 0x1_0000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
}

function unitAt(bytes: Uint8Array, at: number, end: number): number {
  if (at + 6 > end || bytes[at] !== backslash || bytes[at + 1] !== letterU) return -1;
  let unit = 0;
  for (let index = at + 2; index < at + 6; index += 1) {
    const digit = hexDigit(bytes[index] ?? 0);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1;
}

function isSurrogate(point: number): boolean {
  return point >= 0xd800 && point <= 0xdfff;
}

function putUtf8(bytes: Uint8Array, at: number, point: number): number {
  if (point < 0x80) {
    bytes[at] = point;
    return at + 1;
  }
  if (point < 0x800) {
    bytes[at] = 0xc0 | (point >> 6);
    return putTail(bytes, at + 1, point, 1);
  }
  if (point < 0x1_0000) {
    bytes[at] = 0xe0 | (point >> 12);
    return putTail(bytes, at + 1, point, 2);
  }
  bytes[at] = 0xf0 | (point >> 18);
  return putTail(bytes, at + 1, point, 3);
}

function putTail(bytes: Uint8Array, at: number, point: number, count: number): number {
  for (let left = count - 1; left >= 0; left -= 1) {
    bytes[at + count - 1 - left] = 0x80 | ((point >> (6 * left)) & 0x3f);
  }
  return at + count;
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/** 255 for bytes that are no digit. */
const base64Values = new Uint8Array(256).fill(255);
for (let value = 0; value < base64Digits.length; value += 1) {
  base64Values[base64Digits.charCodeAt(value)] = value;
}
const padding = 0x3d;

/** Decodes base64 with its padding. Returns the new length, or -1 when the text is not base64. */
export function base64InPlace(bytes: Uint8Array, start: number, length: number): number {
  if (length % 4 !== 0) return -1;
  let end = start + length;
  for (let pads = 0; pads < 2 && end > start && bytes[end - 1] === padding; pads += 1) end -= 1;
  let to = start;
  let held = 0;
  let bits = 0;
  for (let from = start; from < end; from += 1) {
    const value = base64Values[bytes[from] ?? 0] ?? 255;
    if (value === 255) return -1;
    held = ((held << 6) | value) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[to] = (held >> bits) & 0xff;
    to += 1;
  }
  return to - start;
}
