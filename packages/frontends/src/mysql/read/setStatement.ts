/**
 * MariaDB's `SET STATEMENT a = 1, b = 'x' FOR statement`: variables of one statement alone, apart from that statement.
 *
 * Values are plain ones. What is more (a query, a function, a backslash) is not read here, so it is nobody's statement.
 */
import { openSql, tokenText, upperWord, type SqlCursor } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { slicesReading } from "@gateway/core/sql/lex/split.ts";
import { readLongText } from "@gateway/core/sql/longText.ts";
import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";
import type { Steps } from "@gateway/core/sql/reading/steps.ts";

export interface SetStatement {
  /** Each as in a SET of the session. */
  readonly assignments: string;
  /** The statement that they are meant for. */
  readonly source: string;
}

/** More than anybody sets for one statement. */
const assignmentsMax = 50;
const plainName = /^(?:[a-z_]\w*|`[a-z_]\w*`)$/i;
const plainString = /^(?:'[^'\\]*'|"[^"\\]*")$/;
const plainNumber = /^(?:\d+(?:\.\d+)?|\.\d+)$/;

/** Undefined where the text is no such statement, or says more than is read here. */
export function setStatementOf(source: string): SetStatement | undefined {
  const cursor = openSql(source, "mysql");
  if (!takes(cursor, "SET") || !takes(cursor, "STATEMENT")) return undefined;
  const assignments: string[] = [];
  while (assignments.length < assignmentsMax) {
    if (!nextSignificant(cursor)) return undefined;
    const name = tokenText(cursor);
    if (!plainName.test(name) || !nextSignificant(cursor) || !/^:?=$/.test(tokenText(cursor)))
      return undefined;
    const value = plainValue(cursor);
    if (value === undefined || !nextSignificant(cursor)) return undefined;
    assignments.push(`${name} = ${value}`);
    if (upperWord(cursor) === "FOR") {
      return { assignments: assignments.join(", "), source: source.slice(cursor.end).trim() };
    }
    if (tokenText(cursor) !== ",") return undefined;
  }
  return undefined;
}

/** Reads in steps what stands behind the variables in each long statement of a text: it is a statement of its own. */
export function* setStatementsAhead(text: string): Steps<void> {
  for (const { start, end } of slicesReading("mysql")(text)) {
    if (end - start <= longTextUnits) continue;
    const apart = setStatementOf(text.slice(start, end));
    if (apart !== undefined && apart.source.length > longTextUnits)
      yield* readLongText(apart.source, "mysql", Number.POSITIVE_INFINITY);
  }
}

function takes(cursor: SqlCursor, word: string): boolean {
  return nextSignificant(cursor) && upperWord(cursor) === word;
}

/** Short ones only: the assignments are read once more. A number, a string, or a word such as ON or DEFAULT. What follows it is the caller's: a bracket is none of its own. */
function plainValue(cursor: SqlCursor): string | undefined {
  if (!nextSignificant(cursor) || cursor.end - cursor.start > longTextUnits) return undefined;
  const first = tokenText(cursor);
  if (first === "-") {
    if (!nextSignificant(cursor) || cursor.end - cursor.start > longTextUnits) return undefined;
    const number = tokenText(cursor);
    return plainNumber.test(number) ? `-${number}` : undefined;
  }
  const isWord = cursor.kind === "word" && upperWord(cursor) !== "FOR" && plainName.test(first);
  return isWord || plainNumber.test(first) || plainString.test(first) ? first : undefined;
}
