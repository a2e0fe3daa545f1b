/**
 * The values that are written in a text, each as its engine understands it and as it stands there.
 *
 * It gives up beyond a few: whoever uses the values searches for each of them.
 */
import type { Dialect } from "../dialect.ts";
import { openSql, tokenText, type SqlCursor } from "../lex/cursor.ts";
import { beginsInlineData, searchInlineData } from "../lex/inlineData.ts";
import { nextToken } from "../lex/lex.ts";
import { decodeString } from "../lex/literal.ts";
import { readingsBy } from "../reading/reading.ts";
import { tokensPerStep, type Steps } from "../reading/steps.ts";

/** Most characters of values that are searched for one by one; each value costs a search through every message. */
const valueCharsMax = 8_192;
export const valuesMax = 512;

/** The values of a text; undefined when not every one can be known, or there are too many. */
export type Literals = ReadonlySet<string> | undefined;

/** The values of texts, by dialect. Long ones are read ahead where a record will ask for them. */
export const literalReading = readingsBy(readLiterals);

function* readLiterals(sql: string, dialect: Dialect): Steps<Literals> {
  const cursor = openSql(sql, dialect);
  const inlineData = searchInlineData(cursor);
  const found = new Set<string>();
  let chars = 0;
  let numberEnd = -1;
  for (let tokens = 1; nextToken(cursor); tokens += 1) {
    if (tokens % tokensPerStep === 0) yield;
    if (cursor.doubt !== undefined) return undefined;
    const { kind, start, end } = cursor;
    if (kind === "whitespace" || kind === "comment") continue;
    const rows = beginsInlineData(inlineData, cursor) ? sql.slice(end) : "";
    if (kind === "string") chars += end - start;
    // A string of a megabyte is not decoded to be thrown away.
    if (chars > valueCharsMax) return undefined;
    const value = rows === "" ? valueOf(cursor, dialect, numberEnd) : rows;
    if (kind === "number") numberEnd = end;
    if (value === null) return undefined;
    if (value === undefined || value === "") continue;
    if (kind !== "string") chars += value.length;
    if (chars > valueCharsMax || found.size >= valuesMax) return undefined;
    found.add(value);
    if (kind === "string") found.add(sql.slice(start + 1, end - 1));
    if (rows !== "") return found;
  }
  return cursor.doubt === undefined ? found : undefined;
}

/** The value that a token writes; undefined when it writes none, null when nobody here knows it. */
function valueOf(
  cursor: SqlCursor,
  dialect: Dialect,
  numberEnd: number,
): string | null | undefined {
  const text = tokenText(cursor);
  switch (cursor.kind) {
    case "string":
      return decodeString(text, dialect) ?? null;
    case "number":
      // MySQL reads 0x6162 as the text `ab`.
      return dialect === "mysql" && /^0[xb]/i.test(text) ? null : text;
    case "word":
      // DuckDB reads 0x1F as 0 and a name, but whoever wrote it meant a number.
      return cursor.start === numberEnd ? text : undefined;
    default:
      return undefined;
  }
}
