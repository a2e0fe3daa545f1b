/**
 * The `FORMAT` clause of a statement: taken out of the text, because it is about the answer and no other engine knows it.
 * A ClickHouse server is told the same format beside the text.
 */
import { isWord, openSql, tokenText, type SqlCursor } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { readingOf } from "@gateway/core/sql/reading/reading.ts";
import { tokensPerStep, type Steps } from "@gateway/core/sql/reading/steps.ts";

/** A text without its clause. */
export interface Formatted {
  readonly sql: string;
  readonly format: string | undefined;
}

/** What a text says of its format. A clause stands at the end, or before `SETTINGS`. An `INSERT` has none of an answer. */
export const formatReading = readingOf<Formatted>(read);

interface Clause {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

function* read(sql: string): Steps<Formatted> {
  const cursor = openSql(sql, "clickhouse");
  let depth = 0;
  let tokens = 0;
  let clause: Clause | undefined;
  /** The keyword, when it was the token before. */
  let keyword: number | undefined;
  while (nextSignificant(cursor)) {
    tokens += 1;
    if (tokens === 1 && isWord(cursor, "INSERT")) return { sql, format: undefined };
    if (cursor.kind === "open") depth += 1;
    if (cursor.kind === "close") depth -= 1;
    if (keyword !== undefined && cursor.kind === "word") {
      clause = { start: keyword, end: cursor.end, name: tokenText(cursor) };
      keyword = undefined;
    } else {
      if (clause !== undefined && !mayFollow(cursor)) clause = undefined;
      keyword = depth === 0 && isWord(cursor, "FORMAT") ? cursor.start : undefined;
      // Settings go on to the end of the text.
      if (clause !== undefined && isWord(cursor, "SETTINGS")) break;
    }
    if (tokens % tokensPerStep === 0) yield;
  }
  if (clause === undefined) return { sql, format: undefined };
  const before = sql.slice(0, clause.start).trimEnd();
  return { sql: before + sql.slice(clause.end), format: clause.name };
}

function mayFollow(cursor: SqlCursor): boolean {
  return cursor.kind === "semicolon" || isWord(cursor, "SETTINGS");
}
