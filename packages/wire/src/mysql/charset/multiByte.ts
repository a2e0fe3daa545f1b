/**
 * Character sets of several bytes a character, as MySQL reads and writes them: to text, and from it.
 *
 * A second byte may be a backslash or a letter, and no character of several bytes is read as one of ASCII: who writes
 * texts in such a set took its second bytes for no quotation mark or escape either.
 */
import type { CharacterSet } from "./characterSet.ts";
import { exchanged, pairsOf, quadruplesOf, type Pairs } from "./multiByteTable.ts";
import { sources, type MultiByteName, type Source } from "./multiByteTables.ts";

/** What reading needs. */
interface Reading {
  readonly source: Source;
  readonly pairs: Pairs;
  readonly quadruples: Uint16Array | undefined;
}

export function isMultiByte(name: string): name is MultiByteName {
  return Object.hasOwn(sources, name);
}

/** Tables of 128 KB for each direction, made when the direction is used first. */
export function multiByteSet(name: MultiByteName): CharacterSet {
  let reading: Reading | undefined;
  let codes: Pairs | undefined;
  const known = (): Reading => (reading ??= readingOf(sources[name]));
  return {
    decode: (bytes) => decoded(known(), bytes, false),
    shown: (bytes) => decoded(known(), bytes, true) ?? "",
    encode: (text) => encoded(known(), (codes ??= codesOf(known())), text),
    pieceEnd: (bytes, from, wanted) => pieceEnd(known(), bytes, from, wanted),
  };
}

function readingOf(source: Source): Reading {
  const pairs = pairsOf(source);
  return {
    source,
    pairs,
    quadruples: source.quadruples === true ? quadruplesOf(pairs) : undefined,
  };
}

const question = 0x3f;
/** The distance of halfwidth katakana from their bytes. */
const katakana = 0xff61 - 0xa1;
const euc3 = 0x8f;
const utf16 = new TextDecoder("utf-16le", { ignoreBOM: true });

/** `all`: with a question mark for what is no character, and characters of ASCII in several bytes too. */
function decoded(reading: Reading, bytes: Uint8Array, all: boolean): string | undefined {
  const units = new Uint16Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; length += 1) {
    const byte = bytes[at] ?? 0;
    const found = byte < 0x80 ? (1 << 24) | byte : characterAt(reading, bytes, at);
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

function pieceEnd(reading: Reading, bytes: Uint8Array, from: number, wanted: number): number {
  let at = from;
  while (at < wanted)
    at += (bytes[at] ?? 0) < 0x80 ? 1 : characterAt(reading, bytes, at) >>> 24 || 1;
  return Math.min(at, bytes.length);
}

/** A character with its count of bytes in the high byte; zero for none. Numbers alone: texts may be long. */
function characterAt({ source, pairs, quadruples }: Reading, bytes: Uint8Array, at: number) {
  const first = bytes[at] ?? 0;
  const second = bytes[at + 1] ?? 0;
  if (source.katakana === true && first >= 0xa1 && first <= 0xdf)
    return (1 << 24) | (first + katakana);
  if (source.triples !== undefined && first === euc3) {
    const third = bytes[at + 2] ?? 0;
    const unit = second > 0xa0 && third > 0xa0 ? pairs[(second << 8) | (third & 0x7f)] : 0;
    return unit ? (3 << 24) | unit : 0;
  }
  if (quadruples !== undefined && second >= 0x30 && second <= 0x39)
    return quadrupleAt(quadruples, bytes, at);
  const trailMin = source.syllables === true ? 0x41 : source.trailMin;
  const unit = second >= trailMin ? pairs[(first << 8) | second] : 0;
  return unit ? (2 << 24) | unit : 0;
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
function codesOf({ source, pairs }: Reading): Pairs {
  const codes = new Uint16Array(0x1_0000);
  const [from, to] = source.unwritten ?? [0x100, 0];
  const isTriple = (code: number) => source.triples !== undefined && (code & 0x80) === 0;
  const isUnwritten = (code: number) => (code >> 8 >= from && code >> 8 <= to) || isTriple(code);
  for (const unwritten of [false, true])
    for (const [code, unit] of pairs.entries())
      if (unit > 0x7f && codes[unit] === 0 && isUnwritten(code) === unwritten) codes[unit] = code;
  return codes;
}

function encoded(reading: Reading, codes: Pairs, text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * (reading.quadruples === undefined ? 3 : 4));
  let length = 0;
  const put = (byte: number) => {
    bytes[length] = byte;
    length += 1;
  };
  for (const character of text) {
    const unit = character.codePointAt(0) ?? 0;
    const code = unit > 0xffff ? 0 : (codes[unit] ?? 0);
    const isTriple = reading.source.triples !== undefined && (code & 0x80) === 0;
    if (unit < 0x80) put(unit);
    else if (code > 0) {
      if (isTriple) put(euc3);
      put(code >> 8);
      put(isTriple ? code | 0x80 : code);
    } else if (reading.source.katakana === true && unit >= 0xff61 && unit <= 0xff9f)
      put(unit - katakana);
    else if (reading.quadruples === undefined) put(question);
    else for (const byte of quadrupleOf(reading.quadruples, unit)) put(byte);
  }
  return bytes.subarray(0, length);
}

function quadrupleOf(quadruples: Uint16Array, character: number): readonly number[] {
  const place =
    character > 0xffff ? character - 0x1_0000 + planesFrom : placeIn(quadruples, character);
  if (place < 0) return [question];
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
