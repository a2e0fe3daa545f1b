/**
 * Takes the values out of a query's text, so that it can be logged and kept.
 *
 * Only values: names, keywords and white space stay as the client wrote them. A text that engines might
 * read in another way is not masked at all, because what looks like a name could then be a value; the
 * caller keeps its fingerprint alone.
 */
import { err, ok, type Result } from "../../result.ts";
import { openSql, type LexDoubt, type SqlCursor } from "../lex/cursor.ts";
import type { Dialect } from "../dialect.ts";
import { beginsInlineData, searchInlineData } from "../lex/inlineData.ts";
import { nextToken } from "../lex/lex.ts";
import { Pieces } from "../reading/pieces.ts";
import { readingsBy } from "../reading/reading.ts";
import { tokensPerStep, type Steps } from "../reading/steps.ts";

/**
 * The text with each string and number as `?` and without comments, or why it can not be masked.
 *
 * Cost: linear. The result is never longer than the text.
 */
export function maskLiterals(sql: string, dialect: Dialect): Result<string, LexDoubt> {
  return maskReading(dialect)(sql);
}

/** Masked texts, by dialect. Long ones are read ahead where a record will ask for them. */
export const maskReading = readingsBy(readMasked);

function* readMasked(sql: string, dialect: Dialect): Steps<Result<string, LexDoubt>> {
  const cursor = openSql(sql, dialect);
  const inlineData = searchInlineData(cursor);
  const masked: Masked = { pieces: new Pieces(), from: 0, numberEnd: -1 };
  for (let tokens = 1; nextToken(cursor); tokens += 1) {
    if (tokens % tokensPerStep === 0) yield;
    if (cursor.doubt !== undefined) return err(cursor.doubt);
    maskToken(masked, cursor);
    if (cursor.kind === "whitespace" || cursor.kind === "comment") continue;
    if (beginsInlineData(inlineData, cursor)) {
      const head = textOf(masked, sql.slice(masked.from, cursor.end));
      return ok(cursor.end < sql.trimEnd().length ? `${head.trimStart()} ?` : head.trim());
    }
  }
  if (cursor.doubt !== undefined) return err(cursor.doubt);
  return ok(textOf(masked, sql.slice(masked.from)).trim());
}

interface Masked {
  /** The masked text so far. */
  readonly pieces: Pieces;
  /** Start of the part of the text that is copied as it is. */
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
      replace(masked, cursor, masked.pieces.isEmpty && masked.from === cursor.start ? "" : " ");
      return;
    case "word":
      // DuckDB reads 0x1F as 0 and a name, but whoever wrote it meant a number.
      if (cursor.start === masked.numberEnd) replace(masked, cursor, "");
      return;
    default:
  }
}

function replace(masked: Masked, cursor: SqlCursor, text: string): void {
  const kept = cursor.sql.slice(masked.from, cursor.start);
  if (kept !== "") masked.pieces.push(kept);
  if (text !== "") masked.pieces.push(text);
  masked.from = cursor.end;
}

function textOf({ pieces }: Masked, rest: string): string {
  return pieces.toString() + rest;
}
