/**
 * The cursor that walks over the tokens of one SQL text, and what a token can be.
 *
 * One mutable object instead of an object per token, because making those would cost more than the
 * lexing. Moving it is `lex.ts`; this file only holds its shape and the few ways a token ends.
 */
import { lexRules, type Dialect, type LexRules } from "../dialect.ts";
import { farEndsOf, type FarEnds } from "./farEnd.ts";

/** What a token is. `open` and `close` are round, square and curly brackets. */
export type TokenKind =
  | "whitespace"
  | "comment"
  /** The opening or closing mark of a MySQL comment whose content is code. */
  | "versionComment"
  /** A name or keyword without quotes. */
  | "word"
  | "quotedIdentifier"
  | "string"
  | "number"
  /** `?`, `$1`, `$name`. `:name` is not one, because `a[1:b]` has the same shape; see `placeholders.ts`. */
  | "parameter"
  /** MySQL's `@name` and `@@name`. */
  | "variable"
  | "operator"
  | "open"
  | "close"
  | "comma"
  | "dot"
  | "semicolon"
  /** A string, quoted name or comment that the text ends in. */
  | "unterminated"
  /** A character that the dialect gives no meaning to, such as NUL or a lone backslash. */
  | "unknown";

/** Why an engine may read a text in another way than this lexer did. */
export type LexDoubt =
  /** The text ends inside a string, a quoted name or a comment. */
  | "unterminated"
  /** It holds a character without meaning. */
  | "unknownCharacter"
  /** It holds a comment that is code for some servers of this dialect and a comment for others. */
  | "versionComment"
  /** Engines differ on something in this text, and either ours is not known or the text was written for another. */
  | "dialectDependent";

/** Where the walk is. Offsets are in UTF-16 units. */
export interface SqlCursor {
  readonly sql: string;
  readonly rules: LexRules;
  /** Where its long tokens end; undefined for a short text. */
  readonly far: FarEnds | undefined;
  /** The current token; white space of no length before the first one. */
  kind: TokenKind;
  start: number;
  end: number;
  /** The first doubt met so far. Final when `nextToken` has answered false. */
  doubt: LexDoubt | undefined;
  /** Inside a version comment whose content is code. */
  inVersionComment: boolean;
  /** PostgreSQL continues `E'a'` on the next line under its rules: 1 after it, 2 after a line break too. */
  escapeContinues: 0 | 1 | 2;
}

/** A cursor before the first token of a text. */
export function openSql(sql: string, dialect: Dialect): SqlCursor {
  return openSqlBy(sql, lexRules[dialect]);
}

/** The same for a walk that stops within a long token: after each `nextToken` it asks `isPaused`. */
export function openSqlInSteps(sql: string, dialect: Dialect): SqlCursor {
  const rules = lexRules[dialect];
  return openSqlBy(sql, rules, farEndsOf(sql, rules, true));
}

/** The same for a lexis that no dialect has by default. */
export function openSqlBy(sql: string, rules: LexRules, far = farEndsOf(sql, rules)): SqlCursor {
  return {
    sql,
    rules,
    far,
    kind: "whitespace",
    start: 0,
    end: 0,
    doubt: undefined,
    inVersionComment: false,
    escapeContinues: 0,
  };
}

/** The text of the current token. */
export function tokenText(cursor: SqlCursor): string {
  return cursor.sql.slice(cursor.start, cursor.end);
}

/** No keyword has so many characters. */
const wordUnitsMax = 256;

/**
 * The current token in upper case when it is a word, otherwise empty. Only ASCII letters change.
 *
 * It is to be compared with words that are known. A word that is longer than all of them is cut, and a sign that no
 * word has stands for the rest: turning one of 16 MiB takes a quarter of a second, which others would wait for.
 */
export function upperWord(cursor: SqlCursor): string {
  if (cursor.kind !== "word") return "";
  const { sql, start, end } = cursor;
  if (end - start <= wordUnitsMax) return asciiUpper(tokenText(cursor));
  return `${asciiUpper(sql.slice(start, start + wordUnitsMax))}\u2026`;
}

/** Whether the current token is this word, given in upper case. Makes no string, as long texts are walked with it. */
export function isWord({ kind, sql, start, end }: SqlCursor, word: string): boolean {
  if (kind !== "word" || end - start !== word.length) return false;
  for (let at = 0; at < word.length; at += 1) {
    const code = sql.charCodeAt(start + at);
    const upper = code >= 0x61 && code <= 0x7a ? code - 0x20 : code;
    if (upper !== word.charCodeAt(at)) return false;
  }
  return true;
}

/** Upper case of ASCII letters only: `ı` would become `I`, but no engine treats it as `i`. */
export function asciiUpper(text: string): string {
  return isAscii(text)
    ? text.toUpperCase()
    : text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/** Lower case of ASCII letters only. */
export function asciiLower(text: string): string {
  return isAscii(text)
    ? text.toLowerCase()
    : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 127) return false;
  return true;
}

/** Ends the current token. */
export function become(cursor: SqlCursor, kind: TokenKind, end: number): void {
  cursor.kind = kind;
  cursor.end = end;
}

/** Ends the current token at `end`, or at the end of the text as unterminated when `end` is negative. */
export function becomeClosed(cursor: SqlCursor, kind: TokenKind, end: number): void {
  if (end >= 0) return become(cursor, kind, end);
  become(cursor, "unterminated", cursor.sql.length);
  noteDoubt(cursor, "unterminated");
}

/** The current token is one character without meaning. */
export function becomeUnknown(cursor: SqlCursor): void {
  noteDoubt(cursor, "unknownCharacter");
  become(cursor, "unknown", cursor.start + 1);
}

/** Notes a doubt; the first one stays. */
export function noteDoubt(cursor: SqlCursor, reason: LexDoubt): void {
  cursor.doubt ??= reason;
}

/** Notes that known engines differ here, when the engine is not known. */
export function noteGuess(cursor: SqlCursor): void {
  if (cursor.rules.guesses) noteDoubt(cursor, "dialectDependent");
}
