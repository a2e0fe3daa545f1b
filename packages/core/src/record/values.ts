/**
 * The values that a client wrote into its SQL, as they may come back in an error message or a trace.
 *
 * Where they can not be known for certain (the text can not be lexed, or holds too many), the whole
 * text stands for them: then each word of a message that the text also has counts as a value.
 */
import { openSql, tokenText, type SqlCursor } from "../sql/lex/cursor.ts";
import type { Dialect } from "../sql/dialect.ts";
import { beginsInlineData, searchInlineData } from "../sql/lex/inlineData.ts";
import { nextToken } from "../sql/lex/lex.ts";
import { decodeString } from "../sql/lex/literal.ts";

/** Characters of values that are looked for one by one; each costs a search through every message. */
const valueCharsMax = 8_192;
const valuesMax = 512;
/** Shorter values and words of them are only found as whole words, or a message would fall apart. */
const partLengthMin = 4;

export interface Values {
  /** `text`: the values are not known, and `haystack` is the whole SQL. */
  readonly kind: "literals" | "text";
  /** Folded values and their words that are to be found anywhere in a message. */
  readonly parts: readonly string[];
  /** Folded words of the values. */
  readonly words: ReadonlySet<string>;
  /** Folded text that a word of a message may be a piece of. */
  readonly haystack: string;
}

/** A text and how it was read. */
export interface Reading {
  readonly sql: string;
  readonly dialect: Dialect;
}

/** The values of everything that was read of one statement. */
export function valuesOf(readings: readonly Reading[]): Values {
  const found = new Set<string>();
  for (const reading of readings) {
    if (!collect(reading, found)) {
      const texts = new Set(readings.map(({ sql }) => sql));
      const haystack = [...texts].join("\n").toLowerCase();
      return { kind: "text", parts: [], words: new Set(), haystack };
    }
  }
  const values = [...found].map(folded);
  const words = new Set(values.flatMap((value) => value.match(/[\p{L}\p{N}_]+/gu) ?? []));
  return {
    kind: "literals",
    parts: [...new Set([...values, ...words])].filter((part) => part.length >= partLengthMin),
    words,
    haystack: values.join("\n"),
  };
}

/** Lower case without a change of length, so that places in both texts agree. */
export function folded(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from({ length: text.length }, (_, at) => {
    const unit = text.charAt(at);
    const small = unit.toLowerCase();
    return small.length === 1 ? small : unit;
  }).join("");
}

/** False when not every value can be known. */
function collect({ sql, dialect }: Reading, found: Set<string>): boolean {
  const cursor = openSql(sql, dialect);
  const inlineData = searchInlineData(cursor);
  let chars = 0;
  let numberEnd = -1;
  while (nextToken(cursor)) {
    if (cursor.doubt !== undefined) return false;
    const { kind, start, end } = cursor;
    if (kind === "whitespace" || kind === "comment") continue;
    const rows = beginsInlineData(inlineData, cursor) ? sql.slice(end) : "";
    const value = rows === "" ? valueOf(cursor, dialect, numberEnd) : rows;
    if (kind === "number") numberEnd = end;
    if (value === null) return false;
    if (value === undefined || value === "") continue;
    chars += kind === "string" ? end - start : value.length;
    if (chars > valueCharsMax || found.size >= valuesMax) return false;
    found.add(value);
    if (kind === "string") found.add(sql.slice(start + 1, end - 1));
    if (rows !== "") return true;
  }
  return cursor.doubt === undefined;
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
      // DuckDB reads 0x1F as 0 and a name; to the one who wrote it, it was a number.
      return cursor.start === numberEnd ? text : undefined;
    default:
      return undefined;
  }
}
