/**
 * MySQL's two ways of reading a string: a backslash begins an escape, or under NO_BACKSLASH_ESCAPES stands for itself.
 *
 * A session may ask for the second. Its texts are written in the first one where they come in, so that everything
 * here reads one lexis, and in the second again where they go to a connection that stands under the mode. Each new
 * text is read once more in its own way; what has other strings or other tokens than the text before is refused.
 */
import { lexRules, type LexRules } from "../dialect.ts";
import { openSqlBy, tokenText, type SqlCursor } from "../lex/cursor.ts";
import { nextToken } from "../lex/lex.ts";
import { decodeString } from "../lex/literal.ts";
import { Pieces } from "../reading/pieces.ts";
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
  const cursor = openSqlBy(sql, from);
  const pieces = new Pieces();
  let copiedTo = 0;
  for (let count = 1; nextToken(cursor); count += 1) {
    if (count % tokensPerStep === 0) yield;
    if (!isText(cursor)) continue;
    const text = tokenText(cursor);
    if (!text.includes("\\")) continue;
    pieces.push(sql.slice(copiedTo, cursor.start));
    pieces.push(from === plain ? text.replaceAll("\\", "\\\\") : withoutEscapes(text));
    copiedTo = cursor.end;
  }
  pieces.push(sql.slice(copiedTo));
  const text = pieces.toString();
  return (yield* readAlike(sql, from, text, to)) ? text : undefined;
}

/** A string, or the start of one that is not closed. */
function isText({ kind, sql, start }: SqlCursor): boolean {
  return (
    kind === "string" || (kind === "unterminated" && /^[nN]?['"]/.test(sql.slice(start, start + 2)))
  );
}

/** A string token with what its escapes stand for. Its quotes stay, doubled where they stood behind a backslash. */
function withoutEscapes(token: string): string {
  const quote = token.startsWith('"') ? '"' : "'";
  return token.replaceAll(/\\([^])/g, (_escape, letter: string) => {
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
  const one = openSqlBy(a, aRules);
  const other = openSqlBy(b, bRules);
  for (let count = 1; ; count += 1) {
    if (count % tokensPerStep === 0) yield;
    const more = nextToken(one);
    if (more !== nextToken(other)) return false;
    if (!more) return true;
    if (one.kind !== other.kind) return false;
    const same = isText(one)
      ? one.kind === "unterminated" || valueOf(one) === valueOf(other)
      : tokenText(one) === tokenText(other);
    if (!same) return false;
  }
}

/** Bit and hexadecimal strings have no escapes, and are compared as they are. */
function valueOf(cursor: SqlCursor): string {
  const token = tokenText(cursor);
  return decodeString(token, cursor.rules === plain ? "postgres" : "mysql") ?? token;
}
