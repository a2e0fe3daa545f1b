/**
 * `LIKE 'pattern'` and `WHERE …` behind a SHOW, applied to rows of text.
 *
 * WHERE knows what clients send: comparisons of a column with a literal by `=`, `<>`, `LIKE` and
 * `IN`, joined by AND and OR without brackets.
 */
import { asciiLower } from "@gateway/core/sql/lex/cursor.ts";
import {
  atEnd,
  takeSymbol,
  takeWords,
  type TokenReader,
} from "@gateway/core/sql/session/tokenReader.ts";
import { takeLiteral, takeName, takeString } from "./take.ts";

export type Row = readonly (string | null)[];
export type Test = (row: Row) => boolean;

const all: Test = () => true;
const none: Test = () => false;

/**
 * Reads the filter that stands next. `columns` are the names in the result, `likeColumn` the one that
 * a bare LIKE means. Undefined when it is something else.
 */
export function takeFilter(
  reader: TokenReader,
  columns: readonly string[],
  likeColumn = 0,
): Test | undefined {
  if (atEnd(reader)) return all;
  if (takeWords(reader, "LIKE")) {
    const pattern = takeString(reader);
    return pattern === undefined ? undefined : likeTest(likeColumn, pattern);
  }
  return takeWords(reader, "WHERE") ? takeOr(reader, columns) : undefined;
}

function takeOr(reader: TokenReader, columns: readonly string[]): Test | undefined {
  let test: Test = none;
  do {
    const next = takeAnd(reader, columns);
    if (next === undefined) return undefined;
    const before = test;
    test = (row) => before(row) || next(row);
  } while (takeWords(reader, "OR") || takeSymbol(reader, "||"));
  return test;
}

function takeAnd(reader: TokenReader, columns: readonly string[]): Test | undefined {
  let test: Test = all;
  do {
    const next = takeComparison(reader, columns);
    if (next === undefined) return undefined;
    const before = test;
    test = (row) => before(row) && next(row);
  } while (takeWords(reader, "AND") || takeSymbol(reader, "&&"));
  return test;
}

function takeComparison(reader: TokenReader, columns: readonly string[]): Test | undefined {
  const name = asciiLower(takeName(reader) ?? "");
  const column = columns.findIndex((known) => asciiLower(known) === name);
  if (column < 0) return undefined;
  if (takeWords(reader, "LIKE")) {
    const pattern = takeString(reader);
    return pattern === undefined ? undefined : likeTest(column, pattern);
  }
  if (takeWords(reader, "IN")) return takeIn(reader, column);
  const unequal = takeSymbol(reader, "<>", "!=");
  if (!unequal && !takeSymbol(reader, "=")) return undefined;
  const value = takeLiteral(reader);
  if (value === undefined) return undefined;
  const equal = equalTest(column, String(value));
  return unequal ? (row) => !equal(row) : equal;
}

function takeIn(reader: TokenReader, column: number): Test | undefined {
  if (!takeSymbol(reader, "(")) return undefined;
  const tests: Test[] = [];
  do {
    const value = takeLiteral(reader);
    if (value === undefined) return undefined;
    tests.push(equalTest(column, String(value)));
  } while (takeSymbol(reader, ","));
  return takeSymbol(reader, ")") ? (row) => tests.some((test) => test(row)) : undefined;
}

/** Text compares without regard to case, as in MySQL's default collation. */
function equalTest(column: number, value: string): Test {
  const wanted = value.toLowerCase();
  return (row) => row[column]?.toLowerCase() === wanted;
}

function likeTest(column: number, pattern: string): Test {
  return (row) => {
    const value = row[column];
    return (
      value !== null && value !== undefined && isLike(value.toLowerCase(), pattern.toLowerCase())
    );
  };
}

/**
 * Whether a text matches a LIKE pattern: `%`, `_`, and a backslash before either. Time is at most the
 * product of both lengths, whatever the pattern is.
 */
export function isLike(text: string, pattern: string): boolean {
  let at = 0;
  let from = 0;
  /** Where to go on after the last `%`, and how much of the text it has taken. */
  let backPattern = -1;
  let backText = 0;
  while (at < text.length) {
    const sign = pattern[from];
    if (sign === "%") {
      from += 1;
      backPattern = from;
      backText = at;
      continue;
    }
    const escaped = sign === "\\" && from + 1 < pattern.length;
    const wanted = escaped ? pattern[from + 1] : sign;
    if (wanted === text[at] || (sign === "_" && wanted === "_")) {
      from += escaped ? 2 : 1;
      at += 1;
      continue;
    }
    if (backPattern < 0) return false;
    from = backPattern;
    backText += 1;
    at = backText;
  }
  while (pattern[from] === "%") from += 1;
  return from === pattern.length;
}
