/**
 * MySQL's two ways of reading a string: a backslash begins an escape, or under NO_BACKSLASH_ESCAPES stands for itself.
 *
 * A session may ask for the second. Its texts are written in the first one where they come in, so that everything
 * here reads one lexis, and in the second again where they go to a connection that stands under the mode. Each new
 * text is read once more in its own way; what has other strings or other tokens than the text before is refused.
 */
import { lexRules, type LexRules } from "../dialect.ts";
import { openSqlBy, tokenText, type SqlCursor } from "../lex/cursor.ts";
import { farEndsOf } from "../lex/farEnd.ts";
import { nextToken } from "../lex/lex.ts";
import { decodeString, longStrings } from "../lex/literal.ts";
import { Pieces } from "../reading/pieces.ts";
import { longTextUnits } from "../reading/reading.ts";
import { tokensPerStep, type Steps } from "../reading/steps.ts";

const escaping: LexRules = lexRules.mysql;
const plain: LexRules = {
  ...escaping,
  backslashInStrings: false,
  backslashInDoubleQuotes: false,
};

/** A text that was written under NO_BACKSLASH_ESCAPES, as it reads without. Undefined where it can not be written so. */
export function* toEscaping(sql: string): Steps<string | undefined> {
  return sql.includes("\\") ? yield* rewritten(sql, plain, escaping) : sql;
}

/** The same the other way. A text that `toEscaping` wrote becomes what it was. */
export function* toPlain(sql: string): Steps<string | undefined> {
  return sql.includes("\\") ? yield* rewritten(sql, escaping, plain) : sql;
}

function* rewritten(sql: string, from: LexRules, to: LexRules): Steps<string | undefined> {
  const cursor = openStepping(sql, from);
  const pieces = new Pieces();
  let copiedTo = 0;
  for (let count = 1; nextToken(cursor); count += 1) {
    const isPart = isPaused(cursor);
    if (isPart || count % tokensPerStep === 0) yield;
    if (isPart || !isText(cursor)) continue;
    const { start, end } = cursor;
    if (!tokenText(cursor).includes("\\")) continue;
    pieces.push(sql.slice(copiedTo, start));
    const quote = sql.startsWith('"', start) ? '"' : "'";
    for (let at = start; at < end;) {
      const part =
        from === plain ? sql.slice(at, Math.min(at + unitsPerStep, end)) : partIn(cursor, at);
      pieces.push(from === plain ? withEscapes(part) : withoutEscapes(part, quote));
      at += part.length;
      if (at < end) yield;
    }
    copiedTo = end;
  }
  pieces.push(sql.slice(copiedTo));
  const text = pieces.toString();
  return (yield* readAlike(sql, from, text, to)) ? text : undefined;
}

/** Characters of a string that are written, or read, in one step. */
const unitsPerStep = 4 * 1024;

/** The next part of a string with escapes, which ends in none of them. */
function partIn({ sql, end }: SqlCursor, at: number): string {
  let to = Math.min(at + unitsPerStep, end);
  let backslashes = 0;
  while (to - backslashes > at && sql.charCodeAt(to - backslashes - 1) === 0x5c) backslashes += 1;
  // The letter of the last one is behind it.
  if (backslashes % 2 === 1 && to < end) to += 1;
  return sql.slice(at, to);
}

/** A walk that stops within long tokens. */
function openStepping(sql: string, rules: LexRules): SqlCursor {
  return openSqlBy(sql, rules, farEndsOf(sql, rules, true));
}

function isPaused({ far }: SqlCursor): boolean {
  return far?.isPaused === true;
}

/** A string, or the start of one that is not closed. */
function isText({ kind, sql, start }: SqlCursor): boolean {
  return (
    kind === "string" || (kind === "unterminated" && /^[nN]?['"]/.test(sql.slice(start, start + 2)))
  );
}

/** `replaceAll` with a text would leave it to whoever reads the whole to put it together, all of it at once. */
function withEscapes(part: string): string {
  return part.split("\\").join("\\\\");
}

/** A part of a string token with what its escapes stand for. Quotes stay, doubled where they stood behind a backslash. */
function withoutEscapes(part: string, quote: string): string {
  return part.replaceAll(/\\([^])/g, (_escape, letter: string) => {
    if (letter === quote) return quote + quote;
    // `\%` and `\_` are for LIKE, and keep their backslash.
    if (letter === "%" || letter === "_") return `\\${letter}`;
    return letters.get(letter) ?? letter;
  });
}

const letters: ReadonlyMap<string, string> = new Map([
  ["0", "\0"],
  ["b", "\b"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["Z", "\u001a"],
]);

/** Whether both texts have the same tokens, and strings of the same values. */
function* readAlike(a: string, aRules: LexRules, b: string, bRules: LexRules): Steps<boolean> {
  const one = openStepping(a, aRules);
  const other = openStepping(b, bRules);
  let units = 0;
  for (let count = 1; ; count += 1) {
    if (count % tokensPerStep === 0 || units >= unitsPerStep) {
      units = 0;
      yield;
    }
    let more = nextToken(one);
    for (; isPaused(one); more = nextToken(one)) yield;
    let otherMore = nextToken(other);
    for (; isPaused(other); otherMore = nextToken(other)) yield;
    if (more !== otherMore) return false;
    if (!more) return true;
    if (one.kind !== other.kind) return false;
    units += one.end - one.start;
    if (one.kind === "unterminated" && isText(one)) continue;
    const same = isText(one)
      ? (yield* valueOf(one)) === (yield* valueOf(other))
      : tokenText(one) === tokenText(other);
    if (!same) return false;
  }
}

/** Bit and hexadecimal strings have no escapes, and are compared as they are. */
function* valueOf(cursor: SqlCursor): Steps<string> {
  const token = tokenText(cursor);
  const dialect = cursor.rules === plain ? "postgres" : "mysql";
  if (token.length > longTextUnits) yield* longStrings(dialect).ahead(token);
  return decodeString(token, dialect) ?? token;
}
