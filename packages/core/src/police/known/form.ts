/**
 * The form of a text: what is left of it without the values that only stand beside a comparison. Two texts of one form
 * are the same tokens in the same order, so what was decided and proven of one holds for the other.
 *
 * It is for plain texts alone. No lexer that an engine may have reads such a text in another way than ours: it is ASCII
 * without comments, escapes and quotes of other kinds, and nothing in its quotes could end them. What varies are the
 * digits of a number and the letters of a string where neither can be a name, a type or a part of the grammar.
 */
import { openSql, tokenText, type SqlCursor } from "../../sql/lex/cursor.ts";
import { nextToken } from "../../sql/lex/lex.ts";
import type { Dialect } from "../../sql/dialect.ts";
import type { Rewritten } from "../rewrite.ts";

export interface Form {
  /** The same for all texts of the form, and for no other. */
  readonly key: string;
  /** Where its values stand, in their order. */
  readonly values: readonly ValuePlace[];
}

export interface ValuePlace {
  readonly start: number;
  readonly end: number;
}

/** Anything that some lexer may take for a comment, an escape, a quote or a template. */
const notPlain = /[^\t\n\r\x20-\x7e]|[\\$#{}]|--|\/\*/;
/** Nothing in it ends it, or begins anything, whoever reads it. */
const plainString = /^'[\w .:,@%+/()-]*'$/;
const plainName = /^(?:"[\w .]+"|`[\w .]+`)$/;
/** Fits every type of whole numbers, and no one reads it as another kind of token. */
const plainNumber = /^[1-9]\d{0,8}$/;
const comparisons: ReadonlySet<string> = new Set(["=", "<>", "!=", "<", ">", "<=", ">="]);
const listWord = "IN";
/** What may stand right beside a value; a cast, a unit or a further string would make something else of it. */
const endsValue = /^(?:[\s),;]|$)/;

/** Undefined for a text that is not plain, and for one without such values. */
export function formOf(sql: string, dialect: Dialect): Form | undefined {
  if (notPlain.test(sql)) return undefined;
  const values: ValuePlace[] = [];
  let key = "";
  let at = 0;
  let place: Place = "elsewhere";
  const cursor = openSql(sql, dialect);
  while (nextToken(cursor)) {
    if (cursor.kind === "whitespace") continue;
    if (!isPlain(cursor)) return undefined;
    const { start, end } = cursor;
    const varies = (place === "compared" || place === "listed") && isValue(cursor);
    if (varies) {
      // A character that no plain text has, so that no two forms share a key.
      key += `${sql.slice(at, start)}${cursor.kind === "number" ? "\u0001" : "\u0002"}`;
      values.push({ start, end });
      at = end;
    }
    place = placeBehind(cursor, place);
  }
  if (values.length === 0 || cursor.doubt !== undefined) return undefined;
  return { key: key + sql.slice(at), values };
}

/** Where the next token stands. */
type Place = "elsewhere" | "compared" | "behindIn" | "listed" | "behindItem";

function placeBehind(cursor: SqlCursor, place: Place): Place {
  switch (cursor.kind) {
    case "operator":
      return comparisons.has(tokenText(cursor)) ? "compared" : "elsewhere";
    case "word":
      return tokenText(cursor).toUpperCase() === listWord ? "behindIn" : "elsewhere";
    case "open":
      return place === "behindIn" ? "listed" : "elsewhere";
    case "comma":
      return place === "behindItem" ? "listed" : "elsewhere";
    case "number":
    case "string":
      return place === "listed" ? "behindItem" : "elsewhere";
    default:
      return "elsewhere";
  }
}

function isPlain(cursor: SqlCursor): boolean {
  switch (cursor.kind) {
    case "string":
      return plainString.test(tokenText(cursor));
    case "quotedIdentifier":
      return plainName.test(tokenText(cursor));
    case "unterminated":
    case "unknown":
    case "comment":
    case "versionComment":
      return false;
    default:
      return true;
  }
}

function isValue(cursor: SqlCursor): boolean {
  const { sql, kind, end } = cursor;
  const isOne = kind === "string" || (kind === "number" && plainNumber.test(tokenText(cursor)));
  return isOne && endsValue.test(sql.slice(end, end + 1));
}

/** A text that was written for one text of a form, with gaps where the values stood. */
export type Template = readonly string[];

/** `written`: what was made of the text, in which `moved` says how far back its parts stand now. */
export function templateOf(
  written: string,
  { values }: Form,
  moved: Rewritten["moved"],
): Template | undefined {
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end } of values) {
    const part = moved.find(({ from, to }) => from <= start && end <= to);
    if (part === undefined) return undefined;
    pieces.push(written.slice(at, start + part.by));
    at = end + part.by;
  }
  return [...pieces, written.slice(at)];
}

/** The template with the values of another text of the same form. */
export function filled(template: Template, sql: string, { values }: Form): string {
  let text = "";
  for (const [index, piece] of template.entries()) {
    const place = values[index];
    text += piece + (place === undefined ? "" : sql.slice(place.start, place.end));
  }
  return text;
}
