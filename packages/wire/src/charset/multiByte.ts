/**
 * Character sets of several bytes a character: to text, and from it.
 *
 * A second byte may be a backslash or a letter, and no character of several bytes is read as one of ASCII: who writes
 * texts in such a set took its second bytes for no quotation mark or escape either.
 */
import { exchanged, type Pairs, type Table } from "./table.ts";

/** A set's directions. */
export interface MultiByteSet {
  /** Undefined where bytes are no character of the set. */
  readonly decode: (bytes: Uint8Array) => string | undefined;
  /** For eyes alone: with a question mark where bytes are no character. */
  readonly shown: (bytes: Uint8Array) => string;
  /** Undefined for a text with a character that the set does not have. */
  readonly encode: (text: string) => Uint8Array | undefined;
  /** With a question mark for it. */
  readonly nearest: (text: string) => Uint8Array;
  /** The first end of a character at `wanted` or behind it, where one begins at `from`. */
  readonly pieceEnd: (bytes: Uint8Array, from: number, wanted: number) => number;
}

/** Tables of 128 KB for each direction, made when the direction is used first. */
export function multiByteSet(make: () => Table): MultiByteSet {
  let table: Table | undefined;
  let codes: Pairs | undefined;
  const known = (): Table => (table ??= make());
  const written = (text: string, missing: number) =>
    encoded(known(), (codes ??= codesOf(known())), text, missing);
  return {
    decode: (bytes) => decoded(known(), bytes, false),
    shown: (bytes) => decoded(known(), bytes, true) ?? "",
    encode: (text) => written(text, refused),
    nearest: (text) => written(text, question) ?? none,
    pieceEnd: (bytes, from, wanted) => pieceEnd(known(), bytes, from, wanted),
  };
}

/** Instead of the byte that stands for a missing character. */
const refused = -1;
const none = new Uint8Array();
const question = 0x3f;
const backslash = 0x5c;
/** The distance of halfwidth katakana from their bytes. */
const katakana = 0xff61 - 0xa1;
const utf16 = new TextDecoder("utf-16le", { ignoreBOM: true });

/** `all`: with a question mark for what is no character, and characters of ASCII in several bytes too. */
function decoded(table: Table, bytes: Uint8Array, all: boolean): string | undefined {
  const units = new Uint16Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; length += 1) {
    const byte = bytes[at] ?? 0;
    const found = byte < 0x80 ? (1 << 24) | byte : characterAt(table, bytes, at);
    let character = found & 0xff_ffff;
    const isAscii = byte >= 0x80 && character < 0x80;
    if (isAscii && !(all && character > 0)) {
      if (!all) return undefined;
      character = question;
    }
    at += found >>> 24 || 1;
    if (character > 0xffff) {
      units[length] = 0xd7c0 + (character >> 10);
      length += 1;
      character = 0xdc00 | (character & 0x3ff);
    }
    units[length] = character;
  }
  return utf16.decode(units.subarray(0, length));
}

function pieceEnd(table: Table, bytes: Uint8Array, from: number, wanted: number): number {
  let at = from;
  while (at < wanted) at += (bytes[at] ?? 0) < 0x80 ? 1 : characterAt(table, bytes, at) >>> 24 || 1;
  return Math.min(at, bytes.length);
}

/** A character with its count of bytes in the high byte; zero as a character for none. Numbers alone: texts may be long. */
function characterAt(table: Table, bytes: Uint8Array, at: number): number {
  const { pairs, trailMin, prefixes, katakana: hasKatakana, quadruples } = table;
  const first = bytes[at] ?? 0;
  const second = bytes[at + 1] ?? 0;
  if (hasKatakana && first >= 0xa1 && first <= 0xdf) return (1 << 24) | (first + katakana);
  if (first === prefixes[0]?.bytes[0]) return prefixedAt(table, bytes, at);
  if (quadruples !== undefined && second >= 0x30 && second <= 0x39)
    return quadrupleAt(quadruples, bytes, at);
  const unit = second >= trailMin ? pairs[(first << 8) | second] : 0;
  return unit ? (2 << 24) | unit : 0;
}

function prefixedAt({ pairs, prefixes }: Table, bytes: Uint8Array, at: number): number {
  const length = (prefixes[0]?.bytes.length ?? 0) + 2;
  for (let more = 1; more < length; more += 1) if ((bytes[at + more] ?? 0) <= 0xa0) return 0;
  const prefix = prefixes.find((one) => one.bytes.every((byte, more) => bytes[at + more] === byte));
  const first = bytes[at + length - 2] ?? 0;
  const second = bytes[at + length - 1] ?? 0;
  const code = (first << 8) | (second & 0x7f) | (prefix?.high ?? 0);
  // One that the set does not have is as long as the others.
  return (length << 24) | (prefix === undefined ? 0 : (pairs[code] ?? 0));
}

/** How many of four bytes there are of each first, second and third. */
const [firsts, seconds, thirds] = [12_600, 1260, 10] as const;
/** Where the other planes begin. */
const planesFrom = (0x90 - 0x81) * firsts;

function quadrupleAt(quadruples: Uint16Array, bytes: Uint8Array, at: number): number {
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes.subarray(at, at + 4);
  if (first < 0x81 || first > 0xfe || third < 0x81 || third > 0xfe) return 0;
  if (fourth < 0x30 || fourth > 0x39) return 0;
  const place =
    (first - 0x81) * firsts + (second - 0x30) * seconds + (third - 0x81) * thirds + fourth - 0x30;
  const beyond = place - planesFrom + 0x1_0000;
  const character = place < planesFrom ? (quadruples[place] ?? 0) : beyond;
  return character === 0 || character > 0x10_ffff ? 0 : (4 << 24) | character;
}

/** The bytes of each character as in `Pairs`; of several the first, as a server writes them. */
function codesOf({ pairs, prefixes, unwritten, backslash: written = 0 }: Table): Pairs {
  const codes = new Uint16Array(0x1_0000);
  const [from, to] = unwritten ?? [0x100, 0];
  const isPrefixed = (code: number) => prefixes.length > 0 && (code & 0x80) === 0;
  const isLast = (code: number) => (code >> 8 >= from && code >> 8 <= to) || isPrefixed(code);
  for (const last of [false, true])
    for (const [code, unit] of pairs.entries())
      if (unit > 0x7f && codes[unit] === 0 && isLast(code) === last) codes[unit] = code;
  codes[backslash] = written;
  return codes;
}

function encoded(table: Table, codes: Pairs, text: string, missing: number) {
  const prefix = table.prefixes[0]?.bytes ?? [];
  const longest = table.quadruples === undefined ? prefix.length + 2 : 4;
  const bytes = new Uint8Array(text.length * longest);
  let length = 0;
  const put = (byte: number) => {
    bytes[length] = byte;
    length += 1;
  };
  for (const character of text) {
    const unit = character.codePointAt(0) ?? 0;
    const code = unit > 0xffff ? 0 : (codes[unit] ?? 0);
    if (unit < 0x80 && code === 0) put(unit);
    else if (code > 0) {
      const isPrefixed = prefix.length > 0 && (code & 0x80) === 0;
      if (isPrefixed) prefix.forEach(put);
      put(code >> 8);
      put(isPrefixed ? code | 0x80 : code);
    } else {
      const others = otherBytes(table, unit);
      if (others === undefined && missing < 0) return undefined;
      (others ?? [missing]).forEach(put);
    }
  }
  return bytes.subarray(0, length);
}

/** Of a character that is not among the pairs. */
function otherBytes(
  { katakana: hasKatakana, quadruples }: Table,
  unit: number,
): readonly number[] | undefined {
  if (hasKatakana && unit >= 0xff61 && unit <= 0xff9f) return [unit - katakana];
  return quadruples === undefined ? undefined : quadrupleOf(quadruples, unit);
}

function quadrupleOf(quadruples: Uint16Array, character: number): readonly number[] | undefined {
  const place =
    character > 0xffff ? character - 0x1_0000 + planesFrom : placeIn(quadruples, character);
  if (place < 0) return undefined;
  return [
    0x81 + Math.floor(place / firsts),
    0x30 + (Math.floor(place / seconds) % 10),
    0x81 + (Math.floor(place / thirds) % 126),
    0x30 + (place % 10),
  ];
}

/** The place of a character of the first plane; -1 for none. They stand in the order of Unicode, but for one. */
function placeIn(quadruples: Uint16Array, character: number): number {
  const wanted = inOrder(character);
  let low = 0;
  let high = quadruples.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (inOrder(quadruples[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return quadruples[low] === character ? low : -1;
}

/** Where the one that took another's place stands. */
function inOrder(character: number): number {
  return character === exchanged.now ? exchanged.before : character;
}
