/**
 * Finds where a token ends. Each function takes the offset at which it looks and returns an offset.
 *
 * No state and no allocation; every function is linear in what it skips. For a quoted text or block comment
 * that is not closed it returns -1.
 */
import type { LexRules } from "../dialect.ts";

/** Whether a code unit is a line break or blank that every dialect skips. */
export function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

/** Whether there is an ASCII digit at the offset. */
export function isDigitAt(sql: string, at: number): boolean {
  const code = sql.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

const letterOrDigit: readonly boolean[] = Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9_]/.test(String.fromCharCode(code)),
);

/** Past the characters of a word; the offset itself when there is none. */
export function wordEnd(sql: string, from: number, rules: LexRules): number {
  let at = from;
  while (at < sql.length) {
    const code = sql.charCodeAt(at);
    if (code < 128) {
      if (letterOrDigit[code] !== true && !(code === 0x24 && rules.dollarInWords)) break;
    } else if (!isWordBeyondAscii(code, rules)) {
      break;
    }
    at += 1;
  }
  return at;
}

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
export function numberEnd(sql: string, from: number, rules: LexRules): number {
  if (rules.prefixedNumbers && sql.charCodeAt(from) === 0x30) {
    const prefixed = prefixedEnd(sql, from);
    if (prefixed > from) return prefixed;
  }
  let at = digitsEnd(sql, from);
  // `1..5` is a range, not `1.` and `.5`.
  if (sql.charCodeAt(at) === 0x2e && sql.charCodeAt(at + 1) !== 0x2e) at = digitsEnd(sql, at + 1);
  return exponentEnd(sql, at);
}

/** `1_000` is one number; `1_` and `1_a` are not. */
function digitsEnd(sql: string, from: number): number {
  let at = from;
  while (isDigitAt(sql, at) || (at > from && sql.charCodeAt(at) === 0x5f && isDigitAt(sql, at + 1)))
    at += 1;
  return at;
}

function exponentEnd(sql: string, from: number): number {
  if ((sql.charCodeAt(from) | 0x20) !== 0x65) return from;
  const sign = sql.charCodeAt(from + 1);
  const digits = sign === 0x2b || sign === 0x2d ? from + 2 : from + 1;
  return isDigitAt(sql, digits) ? digitsEnd(sql, digits) : from;
}

function prefixedEnd(sql: string, from: number): number {
  const letter = sql.charCodeAt(from + 1) | 0x20;
  const base = letter === 0x78 ? 16 : letter === 0x6f ? 8 : letter === 0x62 ? 2 : 0;
  if (base === 0) return from;
  let at = from + 2;
  let digits = 0;
  while (at < sql.length) {
    const code = sql.charCodeAt(at);
    if (code !== 0x5f) {
      if (digitValue(code) >= base) break;
      digits += 1;
    }
    at += 1;
  }
  return digits > 0 ? at : from;
}

function digitValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : 16;
}

/** Before the line break that ends a line comment. */
export function lineEnd(sql: string, from: number, returnEnds: boolean): number {
  if (!returnEnds) {
    const feed = sql.indexOf("\n", from);
    return feed < 0 ? sql.length : feed;
  }
  // No search for the next line feed first: a text may hold a hundred thousand returns and no feed.
  let at = from;
  while (at < sql.length && !isLineBreak(sql.charCodeAt(at))) at += 1;
  return at;
}

function isLineBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d;
}

/** Past a block comment whose opening mark ends at `from`. */
export function commentEnd(sql: string, from: number, depthMax: number): number {
  if (depthMax === 1) {
    const end = sql.indexOf("*/", from);
    return end < 0 ? -1 : end + 2;
  }
  let depth = 1;
  for (let at = from; at < sql.length - 1; at += 1) {
    const code = sql.charCodeAt(at);
    if (code === 0x2a && sql.charCodeAt(at + 1) === 0x2f) {
      depth -= 1;
      at += 1;
      if (depth === 0) return at + 1;
    } else if (code === 0x2f && sql.charCodeAt(at + 1) === 0x2a && depth < depthMax) {
      depth += 1;
      at += 1;
    }
  }
  return -1;
}

/** Past the quote that closes a text whose opening quote ends at `from`. A doubled quote does not close it. */
export function quotedEnd(sql: string, from: number, quote: number, backslash: boolean): number {
  const sign = String.fromCharCode(quote);
  return backslash ? escapedEnd(sql, from, sign) : doubledEnd(sql, from, sign);
}

/** Characters of a string that are looked at one by one before the search for its next sign begins. */
const nearUnits = 256;
const searchedUnits = { first: 1024, most: 64 * 1024 } as const;

function escapedEnd(sql: string, from: number, quote: string): number {
  const code = quote.charCodeAt(0);
  let plain = 0;
  for (let at = from; at < sql.length; at += 1) {
    const unit = sql.charCodeAt(at);
    plain += 1;
    if (unit === 0x5c) {
      at += 1;
      plain = 0;
    } else if (unit === code) {
      if (sql.charCodeAt(at + 1) !== code) return at + 1;
      at = pairsEnd(sql, at, quote) - 1;
      plain = 0;
    } else if (plain === nearUnits) {
      at = plainEnd(sql, at, quote) - 1;
      plain = 0;
    }
  }
  return -1;
}

/**
 * The offset of the next quote or backslash, or of the end of the text. A string of sixty megabytes is one
 * token, and looking at each of its characters takes twenty times as long as a search. Each search stops after
 * some units, because the other sign may be near and this one far away, or nowhere.
 */
function plainEnd(sql: string, from: number, quote: string): number {
  let units: number = searchedUnits.first;
  let at = from;
  while (at < sql.length) {
    const part = sql.slice(at, at + units);
    const [one, other] = [part.indexOf(quote), part.indexOf("\\")];
    if (one >= 0 || other >= 0) return at + (one < 0 || (other >= 0 && other < one) ? other : one);
    at += units;
    units = Math.min(units * 2, searchedUnits.most);
  }
  return sql.length;
}

function doubledEnd(sql: string, from: number, quote: string): number {
  const code = quote.charCodeAt(0);
  let at = sql.indexOf(quote, from);
  while (at >= 0) {
    if (sql.charCodeAt(at + 1) !== code) return at + 1;
    // A text of quotes only: searching from each of them costs ten times as much.
    at = sql.indexOf(quote, pairsEnd(sql, at, quote));
  }
  return -1;
}

const nearPairs = 32;
const quotesPerRun = 4096;
const runs: ReadonlyMap<string, string> = new Map(
  ["'", '"', "`"].map((quote) => [quote, quote.repeat(quotesPerRun)]),
);

/** Past the doubled quotes at the offset. Long runs are compared piece by piece, in a tenth of the time. */
function pairsEnd(sql: string, from: number, quote: string): number {
  const code = quote.charCodeAt(0);
  const near = from + 2 * nearPairs;
  let at = from;
  while (sql.charCodeAt(at) === code && sql.charCodeAt(at + 1) === code) {
    at += 2;
    if (at !== near) continue;
    const run = runs.get(quote);
    while (sql.slice(at, at + quotesPerRun) === run) at += quotesPerRun;
  }
  return at;
}

/** Past a dollar quote that begins at `from`; -1 when it is not closed, undefined when none begins there. */
export function dollarQuoteEnd(sql: string, from: number, rules: LexRules): number | undefined {
  const tagEnd = dollarTagEnd(sql, from + 1, rules);
  if (tagEnd === undefined) return undefined;
  const tag = sql.slice(from, tagEnd);
  const close = sql.indexOf(tag, tagEnd);
  if (close >= 0) return close + tag.length;
  // A Trino without dollar quotes would read on after the two characters, and then fail on them.
  return rules.dollarQuotes === "untagged" ? undefined : -1;
}

/** Past the second dollar of `$tag$`. */
function dollarTagEnd(sql: string, from: number, rules: LexRules): number | undefined {
  if (rules.dollarQuotes === "none") return undefined;
  if (sql.charCodeAt(from) === 0x24) return from + 1;
  if (rules.dollarQuotes === "untagged") return undefined;
  if (rules.dollarQuotes === "tagged" && isDigitAt(sql, from)) return undefined;
  const asciiOnly = rules.dollarQuotes === "tagsWithDigits";
  let at = from;
  while (at < sql.length) {
    const code = sql.charCodeAt(at);
    if (code === 0x24) return at + 1;
    const inTag =
      code < 128 ? letterOrDigit[code] === true : !asciiOnly && isWordBeyondAscii(code, rules);
    if (!inTag) return undefined;
    at += 1;
  }
  return undefined;
}

/** Past an operator that begins at `from`. */
export function operatorEnd(sql: string, from: number, rules: LexRules): number {
  if (rules.openOperators) return openOperatorEnd(sql, from, rules);
  const first = sql.charAt(from);
  if (first === "-" && sql.charAt(from + 1) === ">")
    return from + (sql.charAt(from + 2) === ">" ? 3 : 2);
  let at = from + 1;
  if ("<>=!|&".includes(first))
    while (at < sql.length && "<>=!|&".includes(sql.charAt(at))) at += 1;
  return at;
}

/** PostgreSQL and DuckDB refuse an operator of so many characters. */
const operatorCharsMax = 64;

/**
 * PostgreSQL's rule: the longest run, cut at a comment, and without a trailing sign unless the run
 * holds a character that no SQL operator has. So `=-1` is `=` and `-1`.
 *
 * In a run of such signs each is a token, and looking for the run's end each time would take quadratic time:
 * hours for a megabyte. So nothing beyond the longest operator is looked at.
 */
function openOperatorEnd(sql: string, from: number, rules: LexRules): number {
  let at = from;
  let special = false;
  while (at < sql.length && (special || at - from < operatorCharsMax)) {
    const code = sql.charCodeAt(at);
    const isSpecial = specialSigns[code] === true || (code === 0x3f && !rules.questionPlaceholders);
    if (!isSpecial && plainSigns[code] !== true) break;
    if (at > from && beginsComment(code, sql.charCodeAt(at + 1))) break;
    special ||= isSpecial;
    at += 1;
  }
  return special ? at : beforeTrailingSigns(sql, from, at);
}

const specialSigns = tableOf("~!@#%^&|`");
const plainSigns = tableOf("+-*/<>=");

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
