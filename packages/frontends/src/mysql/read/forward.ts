/**
 * A client's text with the lexis of standard SQL: the same tokens, written so that an engine that is
 * no MySQL reads the same strings and names.
 *
 * Drivers of MySQL write a quote inside a string as `\'`. An engine of standard lexis ends the string
 * there and reads the rest of a user's input as SQL, so no text goes on as it came: strings are
 * decoded and written with doubled quotes, backticks become double quotes, comments become a space, but for one
 * that has tags. A comment that is code to the MySQL of this version is code here too, without its marks.
 * Grammar and functions are not touched, but for `FROM DUAL`, which is MySQL's way to name no table.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import {
  asciiUpper,
  openSqlInSteps,
  tokenText,
  type SqlCursor,
} from "@gateway/core/sql/lex/cursor.ts";
import { nextToken } from "@gateway/core/sql/lex/lex.ts";
import { isSpace as isBlank } from "@gateway/core/sql/lex/scan.ts";
import {
  decodeIdentifier,
  decodeString,
  longIdentifiers,
  longStrings,
} from "@gateway/core/sql/lex/literal.ts";
import { readLongText } from "@gateway/core/sql/longText.ts";
import { tagsOfComment } from "@gateway/core/sql/lex/tagComment.ts";
import { longTextUnits, readingOf } from "@gateway/core/sql/reading/reading.ts";
import { Pieces } from "@gateway/core/sql/reading/pieces.ts";
import { slicesReading } from "@gateway/core/sql/lex/split.ts";
import { tokensPerStep, type Steps } from "@gateway/core/sql/reading/steps.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { ownErrors } from "../errors.ts";

/** How the text that goes on is read. */
export const forwardedDialect = "duckdb";

const dual = /\bdual\b/i;
/** Characters looked at in one step. */
const unitsPerStep = 16 * 1024;
/** Characters of an open text's end that the error shows. */
const shownOfEnd = 40;

/**
 * The text to send on, or a syntax error where it is open or has a character of no meaning.
 *
 * Tokens that stay as they are go on together, and nothing looks back at what is written but for its
 * last character: a text may hold a hundred thousand strings.
 */
export const forwardedSql = readingOf(readForwarded);

/** Reads ahead of a long text what is forwarded of each statement, and how that is read. */
export function* forwardedAhead(text: string): Steps<boolean> {
  for (const { start, end } of slicesReading("mysql")(text)) {
    if (end - start <= longTextUnits) continue;
    const sql = text.slice(start, end);
    yield* forwardedSql.ahead(sql);
    const forwarded = forwardedSql(sql);
    if (forwarded.ok)
      yield* readLongText(forwarded.value, forwardedDialect, Number.POSITIVE_INFINITY);
  }
  return true;
}

function* readForwarded(sql: string): Steps<Result<string, ErrorReply>> {
  return (yield* mayDiffer(sql)) ? yield* rewritten(sql) : ok(sql);
}

/** What is written so far. */
interface Written {
  readonly pieces: Pieces;
  /** From here up to the token at hand the text goes on as it is. */
  kept: number;
  afterEmpty: boolean;
}

function* rewritten(sql: string): Steps<Result<string, ErrorReply>> {
  const cursor = openSqlInSteps(sql, "mysql");
  const written: Written = { pieces: new Pieces(), kept: 0, afterEmpty: false };
  for (let tokens = 1; nextToken(cursor); tokens += 1) {
    const isPart = cursor.far?.isPaused === true;
    if (isPart || tokens % tokensPerStep === 0) yield;
    if (isPart) continue;
    const isLong = cursor.end - cursor.start > longTextUnits;
    const piece = isLong ? yield* longPieceOf(cursor) : pieceOf(cursor);
    if (piece === undefined) return err(ownErrors.syntax(sql.slice(cursor.start)));
    write(written, cursor, piece);
  }
  if (cursor.inVersionComment) return err(ownErrors.syntax(sql.slice(-shownOfEnd)));
  const { pieces, kept } = written;
  pieces.push(sql.slice(kept));
  // Comments at the end became blanks. They are cut off, so that the text is the statement alone, as it was read ahead.
  return ok(withoutLastBlanks(pieces.toString()));
}

/** Writes the token at hand, as it is where its piece is empty. */
function write(written: Written, cursor: SqlCursor, piece: string): void {
  const { pieces, kept } = written;
  const { sql, start, end } = cursor;
  const word = fromOrDual(cursor);
  if (word === "DUAL" && pieces.isMarked) {
    pieces.dropMarked();
    written.kept = end;
    return;
  }
  const stays = piece === "";
  // ODBC tools write a name's missing part as an empty one: `a`.``.`b`. It falls out with its dot.
  const fallsOut = isMissing(piece, written.afterEmpty, cursor);
  // Directly behind these a quote would begin another kind of string: `E'…'`, `U&'…'`.
  const before =
    kept < start ? sql.charCodeAt(start - 1) : pieces.last.charCodeAt(pieces.last.length - 1);
  const joins = !fallsOut && wouldJoin(piece, cursor, before);
  if (!stays || fallsOut || joins || word === "FROM") {
    if (kept < start) pieces.push(sql.slice(kept, start));
    written.kept = stays && !fallsOut ? start : end;
  }
  // A DUAL directly behind a FROM takes both out.
  if (!isSpace(cursor)) pieces.mark(word === "FROM");
  written.afterEmpty = fallsOut;
  if (joins) pieces.push(" ");
  if (!stays && !fallsOut) pieces.push(piece);
}

/** Blanks as a lexer knows them: a no-break space at the end is part of a name. */
function withoutLastBlanks(text: string): string {
  let end = text.length;
  while (end > 0 && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/**
 * False for a text that reads the same in both, after one look at each character: most statements of
 * programs are such. Strings may hold anything but escapes and a NUL.
 */
function* mayDiffer(sql: string): Steps<boolean> {
  let before = 0;
  let inString = false;
  for (let at = 0; at < sql.length; at += 1) {
    const code = sql.charCodeAt(at);
    // A string directly behind another is the same one, with a quote in it.
    const opens = code === 0x27 && !inString && before !== 0x27;
    if (code === 0x5c || code === 0 || (opens && mayJoin(before))) return true;
    if (code === 0x27) inString = !inString;
    else if (!inString && beginsOther(code, before)) return true;
    before = code;
    if (at % unitsPerStep === 0) yield;
  }
  return inString || dual.test(sql);
}

/** Whether a character outside of strings begins a name in quotes or a comment, or has no meaning. */
function beginsOther(code: number, before: number): boolean {
  switch (code) {
    case 0x22:
    case 0x60:
    case 0x23:
      return true;
    case 0x2d:
      return before === 0x2d;
    case 0x2a:
      return before === 0x2f;
    case 0x24:
      return !isWordPart(before) || before >= 0x80;
    default:
      // Control characters that are no white space, and quotes of word processors.
      return code < 0x09 || (code > 0x0d && code < 0x20) || (code >= 0x2018 && code <= 0x201f);
  }
}

const emptyName = '""';

/** The word in upper case where it is one of the two; both have four letters. */
function fromOrDual(cursor: SqlCursor): string {
  const { kind, start, end } = cursor;
  return kind === "word" && end - start === 4 ? asciiUpper(tokenText(cursor)) : "";
}

function isSpace({ kind }: SqlCursor): boolean {
  return kind === "whitespace" || kind === "comment" || kind === "versionComment";
}

function isQuote(code: number): boolean {
  return code === 0x27 || code === 0x22;
}

/** An empty name, or the dot behind one. */
function isMissing(piece: string, afterEmpty: boolean, { kind }: SqlCursor): boolean {
  return piece === emptyName || (afterEmpty && kind === "dot");
}

/** True when what is written next begins with a quote that would join what stands before it. */
function wouldJoin(piece: string, { sql, start }: SqlCursor, before: number): boolean {
  const first = piece === "" ? sql.charCodeAt(start) : piece.charCodeAt(0);
  return isQuote(first) && mayJoin(before);
}

/** True for a character that a quote behind it might join. */
function mayJoin(code: number): boolean {
  return isWordPart(code) || code === 0x26 || isQuote(code);
}

/** A letter, digit, `_`, `$`, or anything beyond ASCII. */
function isWordPart(code: number): boolean {
  const letter = code | 0x20;
  return (
    (letter >= 0x61 && letter <= 0x7a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x5f ||
    code === 0x24 ||
    code >= 0x80
  );
}

/** True for a token that both lexes read alike. */
function staysAsItIs(cursor: SqlCursor): boolean {
  switch (cursor.kind) {
    case "word":
      return !cursor.inVersionComment && cursor.sql.charCodeAt(cursor.start) !== 0x24;
    case "string": {
      const text = tokenText(cursor);
      return text.startsWith("'") && !text.includes("\\") && !text.includes("\0");
    }
    case "comment":
    case "versionComment":
    case "quotedIdentifier":
    case "unterminated":
    case "unknown":
      return false;
    default:
      return true;
  }
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

/** Empty for a token that stays as it is, undefined for one that has no meaning in standard SQL. */
function pieceOf(cursor: SqlCursor): string | undefined {
  if (staysAsItIs(cursor)) return "";
  const text = tokenText(cursor);
  if (cursor.inVersionComment && advice.has(asciiUpper(text))) return " ";
  switch (cursor.kind) {
    case "string":
      return stringOf(text);
    case "quotedIdentifier": {
      const name = decodeIdentifier(text, "mysql");
      return name === undefined ? undefined : quoted(name, '"');
    }
    case "comment": {
      const tags = tagsOfComment(text);
      return tags === undefined ? " " : ` /* gateway.tags=${tags} */ `;
    }
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

/** `x'…'` and `b'…'`. */
function isBytes(token: string): boolean {
  const prefix = token.charAt(0).toLowerCase();
  return prefix === "x" || prefix === "b";
}

function stringOf(token: string): string | undefined {
  if (isBytes(token)) {
    return /^.'[0-9a-f]*'$/i.test(token) ? token : undefined;
  }
  // A NUL goes on as it is: engines that could not carry it refuse it, and the others write their own escape.
  const value = decodeString(token, "mysql");
  return value === undefined ? undefined : quoted(value, "'");
}

function quoted(value: string, quote: string): string {
  return `${quote}${value.replaceAll(quote, quote + quote)}${quote}`;
}

/** The same piece of a long token, whose value is read and written in steps: a megabyte of escapes takes a tenth of a second. */
function* longPieceOf(cursor: SqlCursor): Steps<string | undefined> {
  const token = tokenText(cursor);
  const { kind } = cursor;
  const isName = kind === "quotedIdentifier";
  if (staysAsItIs(cursor) || !(isName || (kind === "string" && !isBytes(token))))
    return pieceOf(cursor);
  const values = isName ? longIdentifiers("mysql") : longStrings("mysql");
  yield* values.ahead(token);
  const value = values(token);
  if (value === undefined) return undefined;
  const quote = isName ? '"' : "'";
  const pieces = new Pieces();
  pieces.push(quote);
  for (let at = 0; at < value.length; at += unitsPerStep) {
    // A text that has no parts yet to be put together, as `replaceAll` makes: that would be left to whoever reads it.
    pieces.push(
      value
        .slice(at, at + unitsPerStep)
        .split(quote)
        .join(quote + quote),
    );
    yield;
  }
  pieces.push(quote);
  return pieces.toString();
}
