/** Reads strings and quoted names in all their forms. Used by `lex.ts` only. */
import {
  become,
  becomeClosed,
  becomeUnknown,
  noteDoubt,
  noteGuess,
  type SqlCursor,
} from "./cursor.ts";
import { digitsOnlyEnd, isDigitAt, wordEnd } from "./scan.ts";
import { dollarQuoteEnd, quotedEnd } from "./scanClosed.ts";

/** A string whose quote comes after a prefix of the given length. */
export function readString(cursor: SqlCursor, prefixLength: number, backslash: boolean): void {
  const { sql, rules, start } = cursor;
  const end = quotedEnd(cursor, start + prefixLength + 1, 0x27, backslash);
  if (rules.guesses && holdsBackslash(sql, start, end)) noteGuess(cursor);
  // Someone used to MySQL meant 'it\'s here as one string; the rest of it would slip through a mask.
  if (!backslash && end > 0 && sql.charCodeAt(end - 2) === 0x5c && wordEnd(cursor, end) > end) {
    noteDoubt(cursor, "dialectDependent");
  }
  becomeClosed(cursor, "string", end);
}

function holdsBackslash(sql: string, start: number, end: number): boolean {
  return sql.slice(start, end < 0 ? sql.length : end).includes("\\");
}

/** A string without a prefix, which may continue an escape string of the line before. */
export function readPlainString(cursor: SqlCursor): void {
  readString(cursor, 0, cursor.rules.backslashInStrings || cursor.escapeContinues === 2);
}

/** `"…"`, which is a name or, in MySQL, a string. */
export function readDoubleQuoted(cursor: SqlCursor): void {
  const { rules, start } = cursor;
  const end = quotedEnd(cursor, start + 1, 0x22, rules.backslashInDoubleQuotes);
  becomeClosed(cursor, rules.doubleQuote === "string" ? "string" : "quotedIdentifier", end);
}

/** A name in backticks. */
export function readBackticks(cursor: SqlCursor): void {
  const { rules, start } = cursor;
  becomeClosed(
    cursor,
    "quotedIdentifier",
    quotedEnd(cursor, start + 1, 0x60, rules.backslashInBackticks),
  );
}

/** ClickHouse's second pair of quotes. Elsewhere the text came from a word processor, and a literal may hide in it. */
export function readCurlyQuoted(cursor: SqlCursor, code: number): void {
  const { sql, rules, start } = cursor;
  if (!rules.curlyQuotes || (code !== 0x2018 && code !== 0x201c)) return becomeUnknown(cursor);
  const end = sql.indexOf(code === 0x2018 ? "\u2019" : "\u201d", start + 1);
  becomeClosed(cursor, code === 0x2018 ? "string" : "quotedIdentifier", end < 0 ? -1 : end + 1);
}

/** A word, or the string or quoted name that the word is a prefix of. */
export function readWord(cursor: SqlCursor): void {
  const { sql, rules, start } = cursor;
  const letter = sql.charCodeAt(start) | 0x20;
  const second = sql.charCodeAt(start + 1);
  if (second === 0x27) {
    if (letter === 0x65 && rules.escapeStrings) return readEscapeString(cursor);
    if (rules.stringPrefixes.includes(String.fromCharCode(letter)))
      return readString(cursor, 1, rules.backslashInStrings);
  }
  if (second === 0x26 && letter === 0x75 && rules.unicodeStrings) {
    const quote = sql.charCodeAt(start + 2);
    if (quote === 0x27) return readString(cursor, 2, false);
    if (quote === 0x22)
      return becomeClosed(cursor, "quotedIdentifier", quotedEnd(cursor, start + 3, quote, false));
  }
  become(cursor, "word", wordEnd(cursor, start + 1));
}

function readEscapeString(cursor: SqlCursor): void {
  readString(cursor, 1, true);
  cursor.escapeContinues = 1;
}

/** What begins with a dollar: a quoted text, a placeholder, or in some dialects a word. */
export function readDollar(cursor: SqlCursor): void {
  const { sql, rules, start } = cursor;
  const end = dollarQuoteEnd(cursor, start);
  if (end !== undefined) {
    noteGuess(cursor);
    return becomeClosed(cursor, "string", end);
  }
  if (rules.dollarBeginsWords) return become(cursor, "word", wordEnd(cursor, start + 1));
  if (rules.dollarNumbers && isDigitAt(sql, start + 1)) {
    return become(cursor, "parameter", digitsOnlyEnd(cursor, start + 1));
  }
  const nameEnd = rules.dollarNames ? wordEnd(cursor, start + 1) : start;
  if (nameEnd > start + 1) return become(cursor, "parameter", nameEnd);
  becomeUnknown(cursor);
}

/**
 * Keeps the rules of an escape string alive over line comments and white space with a line break.
 *
 * Without it the second line of `E'a'` + newline + `'\'; drop table t; --'` would read as a short string
 * and a statement; a text made to hide a statement would do the reverse. Called after each token.
 */
export function followEscapeString(cursor: SqlCursor): void {
  switch (cursor.kind) {
    case "string":
      cursor.escapeContinues = isEscapeString(cursor) ? 1 : 0;
      return;
    case "whitespace":
      if (holdsLineBreak(cursor)) cursor.escapeContinues = 2;
      return;
    case "comment":
      if (cursor.sql.charCodeAt(cursor.start) !== 0x2d) cursor.escapeContinues = 0;
      return;
    default:
      cursor.escapeContinues = 0;
  }
}

function holdsLineBreak({ sql, start, end }: SqlCursor): boolean {
  const space = sql.slice(start, end);
  return space.includes("\n") || space.includes("\r");
}

/** An escape string: one with the prefix, or one without that continues it. */
function isEscapeString(cursor: SqlCursor): boolean {
  const first = cursor.sql.charCodeAt(cursor.start);
  if (first === 0x27) return cursor.escapeContinues === 2;
  return (first | 0x20) === 0x65;
}
