/**
 * Writes a text of one dialect in the lexis of another: the same tokens, such that the engine reads the same
 * strings and names.
 *
 * Engines differ in what ends a string. `\'` is a quote inside the string for one engine; for another it ends
 * the string, and the rest of a user's input runs as SQL. So no text reaches an engine of another lexis
 * unchanged, and the new text is read once more as the engine reads it: when the two readings differ, it is
 * refused. Grammar and functions stay as they are.
 */
import { gatewayError, type GatewayError } from "../../error.ts";
import { err, ok, type Result } from "../../result.ts";
import { openSql, tokenText, type SqlCursor } from "../lex/cursor.ts";
import type { Dialect } from "../dialect.ts";
import { nextToken } from "../lex/lex.ts";
import { decodeIdentifier, decodeString } from "../lex/literal.ts";
import { Pieces } from "../reading/pieces.ts";
import { inOneGo, tokensPerStep, type Steps } from "../reading/steps.ts";

/** For each dialect, those that read every text of it in the same way. */
const readAlike: Readonly<Record<Dialect, readonly Dialect[]>> = {
  postgres: ["postgres", "duckdb"],
  duckdb: ["duckdb", "postgres"],
  trino: ["trino", "duckdb", "postgres"],
  mysql: ["mysql"],
  clickhouse: ["clickhouse"],
  // A client without a known dialect gets what its text says.
  generic: ["generic", "duckdb", "postgres", "mysql", "trino", "clickhouse"],
};

/** A text with none of these has no string, quoted name, comment or anything else that engines read differently. */
const mayDiffer = /['"`\\#$]|--|\/[*/]|[\u0080-\uffff]/;

/** The text for the engine: the same one where both read alike. Refuses with `query.syntax` or `query.unsupported`. */
export function relex(sql: string, from: Dialect, to: Dialect): Result<string, GatewayError> {
  return isAlike(sql, from, to) ? ok(sql) : inOneGo(relexSteps(sql, from, to));
}

/** Most texts are, which takes no steps. */
function isAlike(sql: string, from: Dialect, to: Dialect): boolean {
  return readAlike[from].includes(to) || !mayDiffer.test(sql);
}

/** The same in steps. */
export function* relexSteps(
  sql: string,
  from: Dialect,
  to: Dialect,
): Steps<Result<string, GatewayError>> {
  if (isAlike(sql, from, to)) return ok(sql);
  const read = yield* readTokens(sql, from);
  if (read === undefined) return err(gatewayError("query.syntax", { sqlState: "42601" }));
  const text = yield* written(read, to);
  const again = text === undefined ? undefined : yield* readTokens(text, to);
  const alike = again !== undefined && (yield* same(read, again));
  if (text !== undefined && alike) return ok(text);
  const message = "a string, name or comment of this text is read differently by the engine";
  return err(gatewayError("query.unsupported", { message, sqlState: "0A000" }));
}

/** A piece of a text: what a string or name stands for, a comment, or the text itself. */
type Token =
  | { readonly kind: "string" | "name"; readonly value: string }
  /**
   * Consecutive tokens that every engine writes alike, or none knows. One blank, which every engine knows,
   * stands for any other white space and for comments between them.
   */
  | { readonly kind: "plain"; readonly text: string }
  /** A comment to the optimizer. */
  | { readonly kind: "hint"; readonly text: string };

/** Undefined for a text that ends inside a token, or has a string whose value is not known. */
function* readTokens(sql: string, dialect: Dialect): Steps<readonly Token[] | undefined> {
  const cursor = openSql(sql, dialect);
  const tokens: Token[] = [];
  /** From here up to the current token the text is plain. */
  let plainFrom = 0;
  for (let count = 1; nextToken(cursor); count += 1) {
    if (count % tokensPerStep === 0) yield;
    const token = tokenOf(cursor, dialect);
    if (token === "plain") continue;
    if (token === undefined) return undefined;
    if (plainFrom < cursor.start) tokens.push(plainText(sql.slice(plainFrom, cursor.start)));
    tokens.push(token);
    plainFrom = cursor.end;
  }
  if (plainFrom < sql.length) tokens.push(plainText(sql.slice(plainFrom)));
  return cursor.inVersionComment ? undefined : tokens;
}

function plainText(text: string): Token {
  return { kind: "plain", text };
}

const blank = plainText(" ");

/** "plain" for a token that stays as it stands. */
function tokenOf(cursor: SqlCursor, dialect: Dialect): Token | "plain" | undefined {
  switch (cursor.kind) {
    case "whitespace":
      return isKnownSpace(cursor) ? "plain" : blank;
    case "comment": {
      const text = tokenText(cursor);
      return isHint(text) ? { kind: "hint", text } : blank;
    }
    case "string": {
      const text = tokenText(cursor);
      const value = decodeString(text, dialect);
      if (value !== undefined) return { kind: "string", value };
      return /^(?:[xX]'[0-9a-fA-F]*|[bB]'[01]*)'$/.test(text) ? "plain" : undefined;
    }
    case "quotedIdentifier": {
      const value = decodeIdentifier(tokenText(cursor), dialect);
      return value === undefined ? undefined : { kind: "name", value };
    }
    case "unknown":
      // Placeholders are `$1` in every text, also where the dialect has none.
      return tokenText(cursor) === "$" ? "plain" : undefined;
    case "unterminated":
    case "versionComment":
      return undefined;
    default:
      return "plain";
  }
}

function isKnownSpace({ sql, start, end }: SqlCursor): boolean {
  for (let at = start; at < end; at += 1) {
    const code = sql.charCodeAt(at);
    if (code !== 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return false;
  }
  return true;
}

/** `/*+ … *\/` without anything that another engine would end or nest. */
function isHint(text: string): boolean {
  return text.startsWith("/*+") && text.endsWith("*/") && !/\/\*|\*\//.test(text.slice(3, -2));
}

function writtenToken(token: Token, dialect: Dialect): string | undefined {
  switch (token.kind) {
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
  // A NUL would end the text for an engine that takes it as a C string, unless it has an escape for it.
  const escapesNul = dialect === "clickhouse" || dialect === "mysql";
  if (value.includes("\0") && !escapesNul) return undefined;
  // An engine of no known dialect may read an escape: Snowflake does, SQLite does not.
  if (value.includes("\\") && dialect === "generic") return undefined;
  const backslashes = dialect === "mysql" || dialect === "clickhouse";
  const escaped = backslashes ? value.replaceAll("\\", "\\\\") : value;
  const whole = dialect === "mysql" ? escaped.replaceAll("\0", "\\0") : escaped;
  return `'${whole.replaceAll("'", "''")}'`;
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

/** Undefined where the dialect can not write it. */
function* written(tokens: readonly Token[], dialect: Dialect): Steps<string | undefined> {
  const pieces = new Pieces();
  let last = "";
  for (const [index, token] of tokens.entries()) {
    if (index % tokensPerStep === 0) yield;
    const piece = writtenToken(token, dialect);
    if (piece === undefined) return undefined;
    // Directly behind these a quote would begin another kind of string, or continue the one before.
    if (startsQuoted.test(piece) && endsInWord.test(last)) pieces.push(" ");
    pieces.push(piece);
    last = piece.slice(-1);
  }
  return pieces.toString();
}

const startsQuoted = /^['"`]/;
const endsInWord = /[\w$&'"`\u0080-\uffff]/;

/** Whether two readings have the same strings and names in the same positions, and the same text between them. */
function* same(a: readonly Token[], b: readonly Token[]): Steps<boolean> {
  const [of, to] = [yield* shapeOf(a), yield* shapeOf(b)];
  if (of.length !== to.length) return false;
  for (const [index, [kind, text]] of of.entries()) {
    if (index % tokensPerStep === 0) yield;
    const other = to[index];
    if (kind !== other?.[0] || !sameText(kind, text, other[1])) return false;
  }
  return true;
}

type Shape = readonly [kind: Token["kind"], text: string];

/** Joins plain text that only a blank divides: engines cut runs of operators differently, but they mean the same. */
function* shapeOf(tokens: readonly Token[]): Steps<readonly Shape[]> {
  const shape: Shape[] = [];
  let plain: Pieces | undefined;
  for (const [index, token] of tokens.entries()) {
    if (index % tokensPerStep === 0) yield;
    if (token.kind === "plain") {
      plain ??= new Pieces();
      plain.push(token.text);
      continue;
    }
    addPlain(shape, plain);
    plain = undefined;
    shape.push([token.kind, "value" in token ? token.value : token.text]);
  }
  addPlain(shape, plain);
  return shape;
}

function addPlain(shape: Shape[], pieces: Pieces | undefined): void {
  if (pieces === undefined) return;
  const text = pieces.toString();
  if (!/^[ \t\r\n]*$/.test(text)) shape.push(["plain", text]);
}

/** White space between plain tokens means nothing. */
function sameText(kind: Token["kind"], a: string, b: string): boolean {
  return a === b || (kind === "plain" && withoutSpace(a) === withoutSpace(b));
}

function withoutSpace(text: string): string {
  return text.replaceAll(/[ \t\r\n]+/g, "");
}
