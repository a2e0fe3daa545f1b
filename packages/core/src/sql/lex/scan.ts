/**
 * Finds where a token ends that goes on as long as its characters fit: words, numbers, operators, white space. Each
 * function takes the offset at which it looks and returns an offset, and is linear in what it skips.
 */
import type { LexRules } from "../dialect.ts";
import { runEnd, runOf, type Run, type Scanned } from "./farEnd.ts";

/** Whether a code unit is a line break or blank that every dialect skips. */
export function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

/** Whether there is an ASCII digit at the offset. */
export function isDigitAt(sql: string, at: number): boolean {
  const code = sql.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

/** What an ASCII word is made of, by code. */
export const letterOrDigit: readonly boolean[] = Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9_]/.test(String.fromCharCode(code)),
);

/** Past the characters of a word; the offset itself when there is none. */
export function wordEnd(text: Scanned, from: number): number {
  return runEnd(text, word, from);
}

const word = runOf((sql, from, limit, rules) => {
  let at = from;
  while (at < limit) {
    const code = sql.charCodeAt(at);
    if (code < 128) {
      if (letterOrDigit[code] !== true && !(code === 0x24 && rules.dollarInWords)) break;
    } else if (!isWordBeyondAscii(code, rules)) {
      break;
    }
    at += 1;
  }
  return at;
});

/** Past words and the dots between them. */
export function pathEnd(text: Scanned, from: number): number {
  return runEnd(text, path, from);
}

const path = runOf((sql, from, limit, rules) => {
  let at = from;
  for (;;) {
    at = word.upTo(sql, at, limit, rules);
    if (at >= limit || sql.charCodeAt(at) !== 0x2e) return at;
    at += 1;
  }
});

/** Past blanks and line breaks of ASCII. */
export function blankEnd(text: Scanned, from: number): number {
  return runEnd(text, blanks, from);
}

const blanks = runOf((sql, from, limit) => {
  let at = from;
  while (at < limit && isSpace(sql.charCodeAt(at))) at += 1;
  return at;
});

/** Past white space of any kind. */
export function spaceEnd(text: Scanned, from: number): number {
  return runEnd(text, spaces, from);
}

const spaces = runOf((sql, from, limit, rules) => {
  let at = from;
  while (at < limit) {
    const code = sql.charCodeAt(at);
    if (!isSpace(code) && !rules.unicodeSpaces.has(code)) break;
    at += 1;
  }
  return at;
});

/** Past digits and nothing else. */
export function digitsOnlyEnd(text: Scanned, from: number): number {
  return runEnd(text, digitsOnly, from);
}

const digitsOnly = runOf((sql, from, limit) => {
  let at = from;
  while (at < limit && isDigitAt(sql, at)) at += 1;
  return at;
});

/** Whether a code unit beyond ASCII is part of a name: all are, but spaces, quotes and ClickHouse's minus. */
export function isWordBeyondAscii(code: number, rules: LexRules): boolean {
  if (rules.unicodeSpaces.has(code) || isCurlyQuote(code)) return false;
  return !(rules.curlyQuotes && code === 0x2212);
}

/** U+2018, U+2019, U+201C and U+201D. */
export function isCurlyQuote(code: number): boolean {
  return code === 0x2018 || code === 0x2019 || code === 0x201c || code === 0x201d;
}

/** Past a number that begins at `from` with a digit, or with a dot before a digit. */
export function numberEnd(text: Scanned, from: number): number {
  const { sql, rules } = text;
  if (rules.prefixedNumbers && sql.charCodeAt(from) === 0x30) {
    const prefixed = prefixedEnd(text, from);
    if (prefixed > from) return prefixed;
  }
  let at = digitsEnd(text, from);
  // `1..5` is a range, not `1.` and `.5`.
  if (sql.charCodeAt(at) === 0x2e && sql.charCodeAt(at + 1) !== 0x2e) at = digitsEnd(text, at + 1);
  return exponentEnd(text, at);
}

/** `1_000` is one number; `1_` and `1_a` are not. */
function digitsEnd(text: Scanned, from: number): number {
  return isDigitAt(text.sql, from) ? runEnd(text, digits, from) : from;
}

/** From a digit on. */
const digits = runOf((sql, from, limit) => {
  let at = from;
  while (
    at < limit &&
    (isDigitAt(sql, at) || (sql.charCodeAt(at) === 0x5f && isDigitAt(sql, at + 1)))
  )
    at += 1;
  return at;
});

function exponentEnd(text: Scanned, from: number): number {
  const { sql } = text;
  if ((sql.charCodeAt(from) | 0x20) !== 0x65) return from;
  const sign = sql.charCodeAt(from + 1);
  const digit = sign === 0x2b || sign === 0x2d ? from + 2 : from + 1;
  return isDigitAt(sql, digit) ? digitsEnd(text, digit) : from;
}

/** The offset itself where no digit follows the prefix. */
function prefixedEnd(text: Scanned, from: number): number {
  const run = prefixedRuns.get(text.sql.charCodeAt(from + 1) | 0x20);
  if (run === undefined) return from;
  // Underscores alone are no digits.
  const digit = runEnd(text, underscores, from + 2);
  const end = runEnd(text, run, digit);
  return end > digit ? end : from;
}

const underscores = runOf((sql, from, limit) => {
  let at = from;
  while (at < limit && sql.charCodeAt(at) === 0x5f) at += 1;
  return at;
});

/** By the letter behind the zero. */
const prefixedRuns: ReadonlyMap<number, Run> = new Map(
  [
    ["x", 16],
    ["o", 8],
    ["b", 2],
  ].map(([letter, base]) => [String(letter).charCodeAt(0), runOfBase(Number(base))]),
);

function runOfBase(base: number): Run {
  return runOf((sql, from, limit) => {
    let at = from;
    while (at < limit) {
      const code = sql.charCodeAt(at);
      if (code !== 0x5f && digitValue(code) >= base) break;
      at += 1;
    }
    return at;
  });
}

function digitValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : 16;
}

/** Before the line break that ends a line comment. */
export function lineEnd(text: Scanned, from: number): number {
  const { sql, rules } = text;
  // No search for the next line feed first: a text may hold a hundred thousand returns and no feed.
  if (rules.returnEndsComment) return runEnd(text, line, from);
  const feed = sql.indexOf("\n", from);
  return feed < 0 ? sql.length : feed;
}

const line = runOf((sql, from, limit) => {
  let at = from;
  while (at < limit && !isLineBreak(sql.charCodeAt(at))) at += 1;
  return at;
});

function isLineBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d;
}

/** Past an operator that begins at `from`. */
export function operatorEnd(text: Scanned, from: number): number {
  const { sql, rules } = text;
  if (rules.openOperators) return openOperatorEnd(text, from);
  const first = sql.charAt(from);
  if (first === "-" && sql.charAt(from + 1) === ">")
    return from + (sql.charAt(from + 2) === ">" ? 3 : 2);
  return comparingSigns[sql.charCodeAt(from)] === true ? runEnd(text, comparison, from) : from + 1;
}

const comparison = runOf((sql, from, limit) => {
  let at = from;
  while (at < limit && comparingSigns[sql.charCodeAt(at)] === true) at += 1;
  return at;
});

/** PostgreSQL and DuckDB refuse an operator of so many characters. */
const operatorCharsMax = 64;

/**
 * PostgreSQL's rule: the longest run, cut at a comment, and without a trailing sign unless the run
 * holds a character that no SQL operator has. So `=-1` is `=` and `-1`.
 *
 * In a run of such signs each is a token, and looking for the run's end each time would take quadratic time:
 * hours for a megabyte. So nothing beyond the longest operator is looked at.
 */
function openOperatorEnd(text: Scanned, from: number): number {
  const { sql, rules } = text;
  const limit = Math.min(from + operatorCharsMax, sql.length);
  // The first is one of its signs, and no comment begins with it.
  const at = openSignsEnd(sql, from + 1, limit, rules);
  for (let sign = from; sign < at; sign += 1) {
    if (!isSpecial(sql.charCodeAt(sign), rules)) continue;
    return at === limit ? runEnd(text, openSigns, at) : at;
  }
  return beforeTrailingSigns(sql, from, at);
}

function openSignsEnd(sql: string, from: number, limit: number, rules: LexRules): number {
  let at = from;
  while (at < limit) {
    const code = sql.charCodeAt(at);
    if (!isSpecial(code, rules) && plainSigns[code] !== true) break;
    if (beginsComment(code, sql.charCodeAt(at + 1))) break;
    at += 1;
  }
  return at;
}

const openSigns = runOf(openSignsEnd);

function isSpecial(code: number, rules: LexRules): boolean {
  return specialSigns[code] === true || (code === 0x3f && !rules.questionPlaceholders);
}

const specialSigns = tableOf("~!@#%^&|`");
const plainSigns = tableOf("+-*/<>=");
const comparingSigns = tableOf("<>=!|&");

function tableOf(signs: string): readonly boolean[] {
  return Array.from({ length: 128 }, (_, code) => signs.includes(String.fromCharCode(code)));
}

/** `--` or the opening mark of a block comment. */
function beginsComment(code: number, next: number): boolean {
  return (code === 0x2d && next === 0x2d) || (code === 0x2f && next === 0x2a);
}

function beforeTrailingSigns(sql: string, from: number, end: number): number {
  let at = end;
  while (at > from + 1 && isSignAt(sql, at - 1)) at -= 1;
  return at;
}

function isSignAt(sql: string, at: number): boolean {
  const code = sql.charCodeAt(at);
  return code === 0x2b || code === 0x2d;
}
