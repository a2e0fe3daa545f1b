/**
 * `LIKE 'pattern'` and `WHERE …` behind a SHOW, applied to rows of text.
 *
 * WHERE knows what clients send: comparisons of a column with a literal by `=`, `<>`, `LIKE` and
 * `IN`, joined by AND and OR without brackets.
 */
import { asciiLower } from "@gateway/core/sql/cursor.ts";
import type { TokenWalk } from "./tokens.ts";

export type Row = readonly (string | null)[];
export type Test = (row: Row) => boolean;

const all: Test = () => true;
const none: Test = () => false;

/**
 * Reads the filter that stands next. `columns` are the names in the result, `likeColumn` the one that
 * a bare LIKE means. Undefined when it is something else.
 */
export function takeFilter(
  walk: TokenWalk,
  columns: readonly string[],
  likeColumn = 0,
): Test | undefined {
  if (walk.done) return all;
  if (walk.takeWords("LIKE")) {
    const pattern = walk.takeString();
    return pattern === undefined ? undefined : likeTest(likeColumn, pattern);
  }
  return walk.takeWords("WHERE") ? takeOr(walk, columns) : undefined;
}

function takeOr(walk: TokenWalk, columns: readonly string[]): Test | undefined {
  let test: Test = none;
  do {
    const next = takeAnd(walk, columns);
    if (next === undefined) return undefined;
    const before = test;
    test = (row) => before(row) || next(row);
  } while (walk.takeWords("OR") || walk.takeSign("||"));
  return test;
}

function takeAnd(walk: TokenWalk, columns: readonly string[]): Test | undefined {
  let test: Test = all;
  do {
    const next = takeComparison(walk, columns);
    if (next === undefined) return undefined;
    const before = test;
    test = (row) => before(row) && next(row);
  } while (walk.takeWords("AND") || walk.takeSign("&&"));
  return test;
}

function takeComparison(walk: TokenWalk, columns: readonly string[]): Test | undefined {
  const name = asciiLower(walk.takeName() ?? "");
  const column = columns.findIndex((known) => asciiLower(known) === name);
  if (column < 0) return undefined;
  if (walk.takeWords("LIKE")) {
    const pattern = walk.takeString();
    return pattern === undefined ? undefined : likeTest(column, pattern);
  }
  if (walk.takeWords("IN")) return takeIn(walk, column);
  const unequal = walk.takeSign("<>", "!=");
  if (!unequal && !walk.takeSign("=")) return undefined;
  const value = walk.takeLiteral();
  if (value === undefined) return undefined;
  const equal = equalTest(column, String(value));
  return unequal ? (row) => !equal(row) : equal;
}

function takeIn(walk: TokenWalk, column: number): Test | undefined {
  if (!walk.takeSign("(")) return undefined;
  const tests: Test[] = [];
  do {
    const value = walk.takeLiteral();
    if (value === undefined) return undefined;
    tests.push(equalTest(column, String(value)));
  } while (walk.takeSign(","));
  return walk.takeSign(")") ? (row) => tests.some((test) => test(row)) : undefined;
}

/** Text compares without regard to case, as in MySQL's default collation. */
function equalTest(column: number, value: string): Test {
  const wanted = value.toLowerCase();
  return (row) => row[column]?.toLowerCase() === wanted;
}

function likeTest(column: number, pattern: string): Test {
  return (row) => {
    const value = row[column];
    return value !== null && value !== undefined && isLike(value.toLowerCase(), pattern.toLowerCase());
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
