/**
 * Texts in quotes as Snowflake reads them, for engines that read a backslash in them as itself.
 *
 * Python's driver writes bound values into the statement, as texts in Snowflake's own spelling: a quote is `\'`. An engine
 * that knows no such escape would end the text there and take the rest of the value for SQL. So each text with a backslash
 * is written anew, in the spelling that the engine reads alike.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { lexRules, type Dialect } from "@gateway/core/sql/dialect.ts";

/** What a text is in the end: all of it plain, or only its quotes doubled, which every engine reads. */
type Spelling = "plain" | "doubled";

/** The statement with its texts in the engine's spelling. Refuses one whose last text does not end. */
export function respelled(sql: string, dialect: Dialect): Result<string, GatewayError> {
  const isKnown = dialect !== "generic";
  if (!sql.includes("\\") || (isKnown && lexRules[dialect].backslashInStrings)) return ok(sql);
  const spelling = isKnown ? "plain" : "doubled";
  const pieces: string[] = [];
  let copied = 0;
  for (let at = 0; at < sql.length;) {
    const end = endOf(sql, at);
    if (end === undefined) return err(endless);
    const text = sql.slice(at, end);
    if (text.startsWith("'") && text.includes("\\") && !hasOwnEscapes(sql, at)) {
      pieces.push(sql.slice(copied, at), written(text, spelling));
      copied = end;
    }
    at = end;
  }
  pieces.push(sql.slice(copied));
  return ok(pieces.join(""));
}

/** Where the text, name, comment or run of other characters that begins here ends; undefined for a text without an end. */
function endOf(sql: string, at: number): number | undefined {
  if (sql.startsWith("'", at)) return endOfText(sql, at + 1);
  const pair = sql.slice(at, at + 2);
  if (pair === "--") return after(sql, "\n", at + 2);
  if (pair === "/*") return after(sql, "*/", at + 2);
  if (pair === "$$") return after(sql, "$$", at + 2);
  if (pair.startsWith('"')) return after(sql, '"', at + 1);
  beginning.lastIndex = at + 1;
  return beginning.exec(sql)?.index ?? sql.length;
}

/** The first character of anything that is not read word by word. */
const beginning = /['"]|--|\/\*|\$\$/g;

function after(sql: string, mark: string, from: number): number {
  const found = sql.indexOf(mark, from);
  return found < 0 ? sql.length : found + mark.length;
}

function endOfText(sql: string, from: number): number | undefined {
  special.lastIndex = from;
  for (let found = special.exec(sql); found !== null; found = special.exec(sql)) {
    if (found[0] === "'") return special.lastIndex;
  }
  return undefined;
}

/** A quote that is escaped, any other escape, or the quote at the end. */
const special = /''|\\[\s\S]|'/g;

/** `E'…'` has escapes of its own in the engine as well. */
function hasOwnEscapes(sql: string, at: number): boolean {
  return /(?:^|[^\w$])e$/i.test(sql.slice(Math.max(0, at - 2), at));
}

function written(text: string, spelling: Spelling): string {
  const inner = text.slice(1, -1);
  if (spelling === "doubled")
    return `'${inner.replaceAll(special, (one) => (one === "\\'" ? "''" : one))}'`;
  const value = inner.replaceAll(escape, (one) => (one === "''" ? "'" : escaped(one.slice(1))));
  return `'${value.replaceAll("'", "''")}'`;
}

const escape = /''|\\(?:[0-7]{3}|x[\da-fA-F]{2}|u[\da-fA-F]{4}|[\s\S])/g;
const named: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  "0": "\0",
};

/** What stands behind the backslash; of an escape that means nothing, the character itself. */
function escaped(text: string): string {
  if (text.length === 1) return named[text] ?? text;
  const isOctal = text.length === 3 && /^[0-7]/.test(text);
  return String.fromCharCode(Number.parseInt(isOctal ? text : text.slice(1), isOctal ? 8 : 16));
}

const endless = gatewayError("query.syntax", {
  message:
    "A text in quotes does not end. A backslash in one has to be written twice, as at Snowflake.",
});
