/** Where the statement behind a WITH begins. */
import { beginHeadWords, readHeadToken } from "@gateway/core/sql/classify/headWords.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { openSql } from "@gateway/core/sql/lex/cursor.ts";
import { nextInStatement, walkStatement } from "@gateway/core/sql/lex/statement.ts";
import { readingsBy } from "@gateway/core/sql/reading/reading.ts";
import { tokensPerStep, type Steps } from "@gateway/core/sql/reading/steps.ts";

/** Offset of the statement that a WITH stands before, with its brackets; undefined for a text that begins otherwise. */
export const mainStart = readingsBy(read);

/** The verb is the one by which the statement was classified. */
function* read(sql: string, dialect: Dialect): Steps<number | undefined> {
  const walk = walkStatement(openSql(sql, dialect));
  const head = beginHeadWords(dialect);
  let grouped: number | undefined;
  while (nextInStatement(walk)) {
    if (walk.tokenCount % tokensPerStep === 0) yield;
    readHeadToken(head, walk);
    if (head.found.first !== "WITH") return undefined;
    if (head.seeking === "grouped") grouped ??= walk.cursor.start;
    if (head.seeking === "nothing") {
      return head.found.main === "" ? undefined : (grouped ?? walk.cursor.start);
    }
  }
  return undefined;
}
