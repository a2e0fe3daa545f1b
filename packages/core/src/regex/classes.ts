/**
 * Reads what matches exactly one character and is not a plain literal: escapes and bracket classes.
 *
 * Anything RE2 has that is not listed here (`\pL`, `\Q…\E`, octal) is refused rather than guessed.
 */
import {
  codePointMax,
  digits,
  foldCase,
  negate,
  posixClasses,
  spaces,
  unionOf,
  wordChars,
  type CharSet,
} from "./charSet.ts";
import { fail, isDigit, looksAt, peek, take, takeCodePoint, type PatternReader } from "./reader.ts";

const controlEscapes: ReadonlyMap<string, number> = new Map([
  ["t", 0x09],
  ["n", 0x0a],
  ["v", 0x0b],
  ["f", 0x0c],
  ["r", 0x0d],
]);

const classEscapes: ReadonlyMap<string, CharSet> = new Map([
  ["d", digits],
  ["D", negate(digits)],
  ["w", wordChars],
  ["W", negate(wordChars)],
  ["s", spaces],
  ["S", negate(spaces)],
]);

/** `\d \w \s` and their negations after the backslash; undefined (nothing taken) for anything else. */
export function takeClassEscape(reader: PatternReader): CharSet | undefined {
  if (peek(reader) !== "\\") return undefined;
  const set = classEscapes.get(peek(reader, 1));
  if (set !== undefined) reader.at += 2;
  return set;
}

/** An escape that stands for one code point. The reader is at the backslash. Undefined on refusal. */
export function takeCharEscape(reader: PatternReader): number | undefined {
  const start = reader.at;
  reader.at += 1;
  const letter = peek(reader);
  if (letter === "") return fail(reader, start, "a backslash at the end escapes nothing");

  const control = controlEscapes.get(letter);
  if (control !== undefined) {
    reader.at += 1;
    return control;
  }
  if (letter === "x" || letter === "u") return takeHexEscape(reader, start);
  if (isDigit(letter) || letter === "k") {
    return fail(
      reader,
      start,
      "back-references are not supported: they can not be matched in linear time",
    );
  }
  if (letter === "p" || letter === "P")
    return fail(reader, start, "Unicode properties are not supported");
  if (/[A-Za-z]/.test(letter)) return fail(reader, start, `the escape \\${letter} is not known`);
  return takeCodePoint(reader);
}

/** `\xHH`, `\uHHHH`, `\x{…}` and `\u{…}`; the reader is at the letter. */
function takeHexEscape(reader: PatternReader, start: number): number | undefined {
  const letter = peek(reader);
  reader.at += 1;
  if (take(reader, "{")) {
    const end = reader.pattern.indexOf("}", reader.at);
    const hex = end < 0 ? "" : reader.pattern.slice(reader.at, end);
    if (!/^[0-9A-Fa-f]{1,6}$/.test(hex))
      return fail(reader, start, `\\${letter}{…} needs one to six hex digits`);
    reader.at = end + 1;
    const codePoint = Number.parseInt(hex, 16);
    if (codePoint > codePointMax) return fail(reader, start, "the code point is beyond 10FFFF");
    return codePoint;
  }
  const length = letter === "x" ? 2 : 4;
  const unit = hexUnitAt(reader, length);
  if (unit === undefined) return fail(reader, start, `\\${letter} needs ${length} hex digits`);
  reader.at += length;
  return joinSurrogates(reader, unit);
}

function hexUnitAt(reader: PatternReader, length: number): number | undefined {
  const hex = reader.pattern.slice(reader.at, reader.at + length);
  if (hex.length < length || !/^[0-9A-Fa-f]+$/.test(hex)) return undefined;
  return Number.parseInt(hex, 16);
}

/** A high and a low half written as two escapes are one code point, because texts are matched by code points. */
function joinSurrogates(reader: PatternReader, unit: number): number {
  if (unit < 0xd800 || unit > 0xdbff || !looksAt(reader, "\\u")) return unit;
  reader.at += 2;
  const low = hexUnitAt(reader, 4);
  if (low === undefined || low < 0xdc00 || low > 0xdfff) {
    reader.at -= 2;
    return unit;
  }
  reader.at += 4;
  return (unit - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000;
}

/**
 * A bracket class; the reader is at `[`. A `]` that comes first is a literal, as in RE2 and POSIX.
 *
 * Case folding applies to the characters and ranges that were written, not to `\w` and the like.
 */
export function takeBracketClass(reader: PatternReader, ignoreCase: boolean): CharSet | undefined {
  const start = reader.at;
  reader.at += 1;
  const negated = take(reader, "^");
  const written: number[] = [];
  const named: number[] = [];
  let first = true;

  while (first || peek(reader) !== "]") {
    if (reader.at >= reader.pattern.length)
      return fail(reader, start, "the class is not closed by ]");
    first = false;
    const set = takeNamedClass(reader);
    if (reader.error !== undefined) return undefined;
    if (set !== undefined) {
      named.push(...set);
      continue;
    }
    if (!takeRange(reader, written)) return undefined;
  }
  reader.at += 1;

  const plain = unionOf(written);
  const all = unionOf([...(ignoreCase ? foldCase(plain) : plain), ...named]);
  return negated ? negate(all) : all;
}

/** A class inside brackets: `\d` or `[:alpha:]`. Undefined without an error when neither comes next. */
function takeNamedClass(reader: PatternReader): CharSet | undefined {
  const escaped = takeClassEscape(reader);
  if (escaped !== undefined) return escaped;
  if (!looksAt(reader, "[:")) return undefined;

  const start = reader.at;
  const end = reader.pattern.indexOf(":]", start + 2);
  const name = end < 0 ? "" : reader.pattern.slice(start + 2, end);
  if (!/^\^?[a-z]+$/.test(name)) return undefined;
  const set = posixClasses.get(name.replace("^", ""));
  if (set === undefined) return fail(reader, start, `the class [:${name}:] is not known`);
  reader.at = end + 2;
  return name.startsWith("^") ? negate(set) : set;
}

/** One character or `a-z`. False when it was refused. */
function takeRange(reader: PatternReader, into: number[]): boolean {
  const start = reader.at;
  const low = takeMember(reader);
  if (low === undefined) return false;
  const isRange = peek(reader) === "-" && peek(reader, 1) !== "]" && peek(reader, 1) !== "";
  if (!isRange) {
    into.push(low, low);
    return true;
  }
  reader.at += 1;
  if (looksAt(reader, "[:") || classEscapes.has(peek(reader) === "\\" ? peek(reader, 1) : "")) {
    fail(reader, start, "a class can not end a range");
    return false;
  }
  const high = takeMember(reader);
  if (high === undefined) return false;
  if (high < low) {
    fail(reader, start, "the range is in reverse order");
    return false;
  }
  into.push(low, high);
  return true;
}

function takeMember(reader: PatternReader): number | undefined {
  return peek(reader) === "\\" ? takeCharEscape(reader) : takeCodePoint(reader);
}
