/** What the words of a statement say of the tables that it reads, on every engine that is asked how much that would be. */
import type { StatementKind } from "@gateway/core/sql/classify/statementKind.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { openSql, upperWord, type TokenKind } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";

/** Kinds that read no table. A FETCH reads what its cursor was judged for. */
export const readsNoTable: ReadonlySet<StatementKind> = new Set<StatementKind>([
  "show",
  "set",
  "reset",
  "use",
  "prepare",
  "deallocate",
  "describe",
  "discard",
  "fetch",
  "close",
  "kill",
]);

/** Whether one of the words, in upper case, stands there, within at most so many brackets. */
export function holds(
  sql: string,
  dialect: Dialect,
  words: readonly string[],
  depthMax = Number.POSITIVE_INFINITY,
): boolean {
  const cursor = openSql(sql, dialect);
  let depth = 0;
  while (nextSignificant(cursor)) {
    if (cursor.kind === "open") depth += 1;
    if (cursor.kind === "close") depth -= 1;
    if (cursor.kind === "word" && depth <= depthMax && words.includes(upperWord(cursor)))
      return true;
  }
  return false;
}

/** A token outside brackets; brackets with all that is in them are one. */
export interface OuterToken {
  readonly kind: TokenKind;
  /** A word in upper case, `(` or a dot; a name in quotes is empty. */
  readonly text: string;
  /** Of what is first in the brackets. */
  readonly inside: string;
  readonly start: number;
  readonly end: number;
  /** Where the brackets are closed. */
  readonly closed: number;
}

/** The tokens of a short text that stand in no brackets. */
export function outerTokens(sql: string, dialect: Dialect): readonly OuterToken[] {
  const tokens: OuterToken[] = [];
  const cursor = openSql(sql, dialect);
  let depth = 0;
  let opened = false;
  while (nextSignificant(cursor)) {
    const { kind, start, end } = cursor;
    const text = kind === "open" ? "(" : kind === "dot" ? "." : upperWord(cursor);
    if (kind === "close") depth -= 1;
    const last = tokens.pop();
    if (last !== undefined) {
      const inside = opened ? text : last.inside;
      const closed = kind === "close" && depth === 0 ? start : last.closed;
      tokens.push({ ...last, inside, closed });
    }
    opened = kind === "open" && depth === 0;
    if (depth === 0 && kind !== "close")
      tokens.push({ kind, text, inside: "", start, end, closed: end });
    if (kind === "open") depth += 1;
  }
  return tokens;
}
