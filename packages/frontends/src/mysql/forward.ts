/**
 * A client's text with the lexis of standard SQL: the same tokens, written so that an engine that is
 * no MySQL reads the same strings and names.
 *
 * Drivers of MySQL write a quote inside a string as `\'`. An engine of standard lexis ends the string
 * there and reads the rest of a user's input as SQL, so no text goes on as it came: strings are
 * decoded and written with doubled quotes, backticks become double quotes, comments become a space. A
 * comment that is code to the MySQL of this version is code here too, without its marks.
 * Grammar and functions are not touched, but for `FROM DUAL`, which is MySQL's way to name no table.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import { asciiUpper, openSql, tokenText, type SqlCursor } from "@gateway/core/sql/cursor.ts";
import { nextToken } from "@gateway/core/sql/lex.ts";
import { decodeIdentifier, decodeString } from "@gateway/core/sql/literal.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { ownErrors } from "./errors.ts";

/** How the text that goes on is read. */
export const forwardedDialect = "duckdb";

/** A text without any of these reads the same in both. */
const mayDiffer = /[\\"`#]|--|\/\*|(?:^|[^\w$])\$|[\w&\u0080-\uffff]'|\bdual\b/i;
/** Characters of an open text's end that the error shows. */
const shownOfEnd = 40;

/** The text to send on, or a syntax error where it is open or has a character of no meaning. */
export function forwardedSql(sql: string): Result<string, ErrorReply> {
  if (!mayDiffer.test(sql)) return ok(sql);
  const cursor = openSql(sql, "mysql");
  let text = "";
  let afterEmpty = false;
  /** Where the text stands at a FROM that nothing has followed yet. */
  let from: number | undefined;
  while (nextToken(cursor)) {
    const word = cursor.kind === "word" ? asciiUpper(tokenText(cursor)) : "";
    if (word === "DUAL" && from !== undefined) {
      text = text.slice(0, from);
      continue;
    }
    if (!isSpace(cursor)) from = word === "FROM" ? text.length : undefined;
    const piece = pieceOf(cursor);
    if (piece === undefined) return err(ownErrors.syntax(sql.slice(cursor.start)));
    // ODBC tools write a name's missing part as an empty one: `a`.``.`b`. It falls out with its dot.
    if (afterEmpty && cursor.kind === "dot") continue;
    afterEmpty = piece === emptyName;
    if (afterEmpty) continue;
    // Directly behind these a quote would begin another kind of string: `E'…'`, `U&'…'`.
    const joins = /^['"]/.test(piece) && /[\w$&\u0080-\uffff'"]$/.test(text);
    text += joins ? ` ${piece}` : piece;
  }
  return cursor.inVersionComment ? err(ownErrors.syntax(sql.slice(-shownOfEnd))) : ok(text);
}

const emptyName = '""';

function isSpace({ kind }: SqlCursor): boolean {
  return kind === "whitespace" || kind === "comment" || kind === "versionComment";
}

/** Words by which tools advise a MySQL server in such comments; they change no answer, and no other engine knows them. */
const advice: ReadonlySet<string> = new Set([
  "SQL_NO_CACHE",
  "SQL_CACHE",
  "SQL_BUFFER_RESULT",
  "SQL_BIG_RESULT",
  "SQL_SMALL_RESULT",
  "HIGH_PRIORITY",
  "LOW_PRIORITY",
  "DELAYED",
  "STRAIGHT_JOIN",
]);

/** Undefined for a token that has no meaning in standard SQL. */
function pieceOf(cursor: SqlCursor): string | undefined {
  const text = tokenText(cursor);
  if (cursor.inVersionComment && advice.has(asciiUpper(text))) return " ";
  switch (cursor.kind) {
    case "string":
      return stringOf(text);
    case "quotedIdentifier": {
      const name = decodeIdentifier(text, "mysql");
      return name === undefined ? undefined : `"${name.replaceAll('"', '""')}"`;
    }
    case "comment":
    case "versionComment":
      return " ";
    case "word":
      // Elsewhere a dollar begins a string or a parameter.
      return text.startsWith("$") ? undefined : text;
    case "unterminated":
    case "unknown":
      return undefined;
    default:
      return text;
  }
}

function stringOf(token: string): string | undefined {
  const prefix = token.charAt(0).toLowerCase();
  if (prefix === "x" || prefix === "b") {
    return /^.'[0-9a-f]*'$/i.test(token) ? token : undefined;
  }
  const value = decodeString(token, "mysql");
  // A NUL would end the text for an engine that takes it as a C string.
  if (value === undefined || value.includes("\0")) return undefined;
  return `'${value.replaceAll("'", "''")}'`;
}
