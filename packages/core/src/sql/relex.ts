/**
 * A text of one dialect with the lexis of another: the same tokens, written so that the engine reads the
 * same strings and names.
 *
 * What ends a string differs between engines: the `\'` that one reads as a quote inside it ends it for
 * another, which then runs the rest of a user's input as SQL. So no text goes to an engine of another
 * lexis as it came, and what was written is read once more as the engine reads it: when the two readings
 * differ, the text is refused. Grammar and functions are not touched.
 */
import { gatewayError, type GatewayError } from "../error.ts";
import { err, ok, type Result } from "../result.ts";
import { openSql, tokenText, type SqlCursor } from "./cursor.ts";
import type { Dialect } from "./dialect.ts";
import { nextToken } from "./lex.ts";
import { decodeIdentifier, decodeString } from "./literal.ts";

/** Dialects among which every text of the first is read alike by the others. */
const readAlike: Readonly<Record<Dialect, readonly Dialect[]>> = {
  postgres: ["postgres", "duckdb"],
  duckdb: ["duckdb", "postgres"],
  trino: ["trino", "duckdb", "postgres"],
  mysql: ["mysql"],
  clickhouse: ["clickhouse"],
  // A client of nobody's dialect gets what its text says.
  generic: ["generic", "duckdb", "postgres", "mysql", "trino", "clickhouse"],
};

/** A text with none of these has no string, quoted name, comment or other thing that is read in two ways. */
const mayDiffer = /['"`\\#$]|--|\/[*/]|[\u0080-\uffff]/;

/** The text for the engine: the same one where both read alike. Refuses with `query.syntax` or `query.unsupported`. */
export function relex(sql: string, from: Dialect, to: Dialect): Result<string, GatewayError> {
  if (readAlike[from].includes(to) || !mayDiffer.test(sql)) return ok(sql);
  const read = readTokens(sql, from);
  if (read === undefined) return err(gatewayError("query.syntax", { sqlState: "42601" }));
  const written = read.map((token) => writtenToken(token, to));
  const text = joined(written);
  const again = text === undefined ? undefined : readTokens(text, to);
  if (text !== undefined && again !== undefined && same(read, again)) return ok(text);
  const message = "a string, name or comment of this text is read differently by the engine";
  return err(gatewayError("query.unsupported", { message, sqlState: "0A000" }));
}

/** A piece of a text: what a string or name stands for, a comment, or the text itself. */
type Token =
  | { readonly kind: "string" | "name"; readonly value: string }
  /** What is written the same way everywhere, or nowhere: a number in hexadecimal quotes, a word. */
  | { readonly kind: "plain"; readonly text: string }
  /** White space that every engine knows, or one blank in the place of a comment. */
  | { readonly kind: "space"; readonly text: string }
  /** A comment to the optimizer. */
  | { readonly kind: "hint"; readonly text: string };

/** Undefined for a text that ends inside a token, or has a string whose value is not known. */
function readTokens(sql: string, dialect: Dialect): readonly Token[] | undefined {
  const cursor = openSql(sql, dialect);
  const tokens: Token[] = [];
  while (nextToken(cursor)) {
    const token = tokenOf(cursor, dialect);
    if (token === undefined) return undefined;
    tokens.push(token);
  }
  return cursor.inVersionComment ? undefined : tokens;
}

function tokenOf(cursor: SqlCursor, dialect: Dialect): Token | undefined {
  const text = tokenText(cursor);
  switch (cursor.kind) {
    case "whitespace":
      return { kind: "space", text: /^[ \t\r\n]+$/.test(text) ? text : " " };
    case "comment":
      return isHint(text) ? { kind: "hint", text } : { kind: "space", text: " " };
    case "string": {
      const value = decodeString(text, dialect);
      if (value !== undefined) return { kind: "string", value };
      return /^[xX]'[0-9a-fA-F]*'$/.test(text) ? { kind: "plain", text } : undefined;
    }
    case "quotedIdentifier": {
      const value = decodeIdentifier(text, dialect);
      return value === undefined ? undefined : { kind: "name", value };
    }
    case "unknown":
      // Places for parameters are `$1` in every text, also where the dialect has none.
      return text === "$" ? { kind: "plain", text } : undefined;
    case "unterminated":
    case "versionComment":
      return undefined;
    default:
      return { kind: "plain", text };
  }
}

/** `/*+ … *\/` without anything that another engine would end or nest. */
function isHint(text: string): boolean {
  return text.startsWith("/*+") && text.endsWith("*/") && !/\/\*|\*\//.test(text.slice(3, -2));
}

function writtenToken(token: Token, dialect: Dialect): string | undefined {
  switch (token.kind) {
    case "space":
    case "plain":
    case "hint":
      return token.text;
    case "string":
      return stringFor(token.value, dialect);
    case "name":
      return nameFor(token.value, dialect);
  }
}

/** Undefined for a value that the dialect has no plain literal of. */
function stringFor(value: string, dialect: Dialect): string | undefined {
  // A NUL would end the text for an engine that takes it as a C string.
  if (value.includes("\0") && dialect !== "clickhouse") return undefined;
  // An engine of no known dialect may read an escape: Snowflake does, SQLite does not.
  if (value.includes("\\") && dialect === "generic") return undefined;
  const backslashes = dialect === "mysql" || dialect === "clickhouse";
  const escaped = backslashes ? value.replaceAll("\\", "\\\\") : value;
  return `'${escaped.replaceAll("'", "''")}'`;
}

function nameFor(value: string, dialect: Dialect): string | undefined {
  if (value.includes("\0") || (value.includes("\\") && dialect === "generic")) return undefined;
  switch (dialect) {
    case "mysql":
      return `\`${value.replaceAll("`", "``")}\``;
    case "clickhouse":
      return `\`${value.replaceAll("\\", "\\\\").replaceAll("`", "``")}\``;
    default:
      return `"${value.replaceAll('"', '""')}"`;
  }
}

function joined(pieces: readonly (string | undefined)[]): string | undefined {
  let text = "";
  let last = "";
  for (const piece of pieces) {
    if (piece === undefined) return undefined;
    // Directly behind these a quote would begin another kind of string, or go on with the one before.
    const joins = startsQuoted.test(piece) && endsInWord.test(last);
    text += joins ? ` ${piece}` : piece;
    // The end of the text itself is not looked at: it would be put together anew for each token.
    last = piece.slice(-1);
  }
  return text;
}

const startsQuoted = /^['"`]/;
const endsInWord = /[\w$&'"`\u0080-\uffff]/;

/** Whether two readings have the same strings and names in the same places, and the same text between them. */
function same(a: readonly Token[], b: readonly Token[]): boolean {
  const [of, to] = [shapeOf(a), shapeOf(b)];
  return (
    of.length === to.length &&
    of.every(([kind, text], index) => kind === to[index]?.[0] && text === to[index][1])
  );
}

function shapeOf(tokens: readonly Token[]): readonly (readonly [string, string])[] {
  const shape: [string, string][] = [];
  for (const token of tokens) {
    if (token.kind === "space") continue;
    const text = "value" in token ? token.value : token.text;
    const last = shape.at(-1);
    // Where one operator ends and the next begins is read in many ways, and means the same.
    if (token.kind === "plain" && last?.[0] === "plain") last[1] += text;
    else shape.push([token.kind, text]);
  }
  return shape;
}
