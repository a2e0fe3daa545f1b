/** Where the statement behind a WITH begins. */
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { openSql, upperWord } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { readingsBy } from "@gateway/core/sql/reading/reading.ts";
import { tokensPerStep, type Steps } from "@gateway/core/sql/reading/steps.ts";

/** Offset of the statement that a WITH stands before; undefined for a text that begins otherwise. */
export const mainStart = readingsBy(read);

function* read(sql: string, dialect: Dialect): Steps<number | undefined> {
  const cursor = openSql(sql, dialect);
  let depth = 0;
  for (let tokens = 1; nextSignificant(cursor); tokens += 1) {
    if (tokens % tokensPerStep === 0) yield;
    if (tokens === 1 && upperWord(cursor) !== "WITH") return undefined;
    if (cursor.kind === "open") depth += 1;
    if (cursor.kind === "close") depth -= 1;
    if (depth === 0 && verbs.has(upperWord(cursor))) return cursor.start;
  }
  return undefined;
}

const verbs: ReadonlySet<string> = new Set([
  "SELECT",
  "VALUES",
  "TABLE",
  "INSERT",
  "UPDATE",
  "DELETE",
  "MERGE",
]);
