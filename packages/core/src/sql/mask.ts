/**
 * Takes the values out of a query's text, so that it can be logged and kept.
 *
 * Only values: names, keywords and white space stay as the client wrote them. A text that engines might
 * read in another way is not masked at all, because what looks like a name could then be a value; the
 * caller keeps its fingerprint alone.
 */
import { err, ok, type Result } from "../result.ts";
import { openSql, type LexDoubt, type SqlCursor } from "./cursor.ts";
import type { Dialect } from "./dialect.ts";
import { beginsInlineData, searchInlineData } from "./inlineData.ts";
import { nextToken } from "./lex.ts";

/**
 * The text with each string and number as `?` and without comments, or why it can not be masked.
 *
 * Cost: linear. The result is never longer than the text.
 */
export function maskLiterals(sql: string, dialect: Dialect): Result<string, LexDoubt> {
  const cursor = openSql(sql, dialect);
  const inlineData = searchInlineData(cursor);
  const masked: Masked = { text: "", from: 0, numberEnd: -1 };
  while (nextToken(cursor)) {
    if (cursor.doubt !== undefined) return err(cursor.doubt);
    maskToken(masked, cursor);
    if (cursor.kind === "whitespace" || cursor.kind === "comment") continue;
    if (beginsInlineData(inlineData, cursor)) {
      const head = masked.text + sql.slice(masked.from, cursor.end);
      return ok(cursor.end < sql.trimEnd().length ? `${head.trimStart()} ?` : head.trim());
    }
  }
  if (cursor.doubt !== undefined) return err(cursor.doubt);
  return ok((masked.text + sql.slice(masked.from)).trim());
}

interface Masked {
  text: string;
  /** Where the part of the text begins that is taken over as it is. */
  from: number;
  /** Where the last number ended. */
  numberEnd: number;
}

function maskToken(masked: Masked, cursor: SqlCursor): void {
  switch (cursor.kind) {
    case "number":
      masked.numberEnd = cursor.end;
      replace(masked, cursor, "?");
      return;
    case "string":
      replace(masked, cursor, "?");
      return;
    case "comment":
      replace(masked, cursor, masked.text === "" && masked.from === cursor.start ? "" : " ");
      return;
    case "word":
      // DuckDB reads 0x1F as 0 and a name; to the one who wrote it, it was a number.
      if (cursor.start === masked.numberEnd) replace(masked, cursor, "");
      return;
    default:
  }
}

function replace(masked: Masked, cursor: SqlCursor, text: string): void {
  masked.text += cursor.sql.slice(masked.from, cursor.start) + text;
  masked.from = cursor.end;
}
