/**
 * Reads the tokens of one short statement by looking ahead and taking what fits.
 *
 * For session statements only: it keeps an object per token, so it is bounded and never runs over a
 * client's large query.
 */
import {
  asciiLower,
  openSql,
  tokenText,
  upperWord,
  type LexDoubt,
  type SqlCursor,
  type TokenKind,
} from "../lex/cursor.ts";
import type { Dialect } from "../dialect.ts";
import { nextSignificant } from "../lex/lex.ts";
import { decodeIdentifier, decodeString, longIdentifiers, longStrings } from "../lex/literal.ts";
import type { Steps } from "../reading/steps.ts";
import type { NamePart, SettingValue } from "./statement.ts";
import { nextInStatement, walkStatement, type StatementWalk } from "../lex/statement.ts";

/** One token that means something. */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** The text in upper case for words, otherwise the text. To be compared with words that are known, as `upperWord`. */
  readonly upper: string;
  readonly start: number;
  readonly end: number;
}

/** Mutable while one statement is read. */
export interface TokenReader {
  readonly sql: string;
  readonly dialect: Dialect;
  readonly tokens: readonly Token[];
  /** False when the statement has more tokens than are kept. */
  readonly complete: boolean;
  /** Where the statement ends in the text. Meaningful when it was walked to its end. */
  readonly end: number;
  at: number;
}

/** Most tokens kept of one statement. */
const tokensMax = 1_000;

/** A reader over the only statement of a text; undefined when there is none, several, or it can not be lexed. */
export function readTokens(sql: string, dialect: Dialect): TokenReader | undefined {
  const cursor = openSql(sql, dialect);
  const walk = walkStatement(cursor);
  const tokens: Token[] = [];
  while (nextInStatement(walk)) keepToken(tokens, cursor);
  while (nextSignificant(cursor)) if (cursor.kind !== "semicolon") return undefined;
  return readerOver(tokens, walk, { dialect, doubt: cursor.doubt });
}

/** Keeps the current token for a reader, unless there are too many. */
export function keepToken(tokens: Token[], cursor: SqlCursor): void {
  if (tokens.length === tokensMax) return;
  const text = tokenText(cursor);
  const { kind, start, end } = cursor;
  const upper = kind === "word" ? upperWord(cursor) : text;
  tokens.push({ kind, text, upper, start, end });
}

/** Decodes the long ones among the strings and quoted names, for who reads the tokens next. */
export function* decodeAhead(tokens: readonly Token[], dialect: Dialect): Steps<void> {
  for (const { kind, text } of tokens) {
    if (kind === "string") yield* longStrings(dialect).ahead(text);
    if (kind === "quotedIdentifier") yield* longIdentifiers(dialect).ahead(text);
  }
}

/** A reader over the tokens that were kept of a statement, the only one of its text, when it was walked to its end. */
export function readerOver(
  tokens: readonly Token[],
  { cursor, end, tokenCount }: StatementWalk,
  { dialect, doubt }: { readonly dialect: Dialect; readonly doubt: LexDoubt | undefined },
): TokenReader | undefined {
  // MySQL clients write their settings in version comments; any other doubt is a refusal.
  if (doubt !== undefined && doubt !== "versionComment") return undefined;
  if (tokens.length === 0) return undefined;
  return { sql: cursor.sql, dialect, tokens, complete: tokenCount === tokens.length, end, at: 0 };
}

/** The token at an offset from here. */
export function peekToken(reader: TokenReader, ahead = 0): Token | undefined {
  return reader.tokens[reader.at + ahead];
}

/** Whether every token was taken. */
export function atEnd(reader: TokenReader): boolean {
  return reader.complete && reader.at === reader.tokens.length;
}

/** Whether the token ahead is one of these words. */
export function looksAtWord(reader: TokenReader, words: readonly string[], ahead = 0): boolean {
  const token = peekToken(reader, ahead);
  return token?.kind === "word" && words.includes(token.upper);
}

/** Takes these words in this order, or nothing. */
export function takeWords(reader: TokenReader, ...words: readonly string[]): boolean {
  if (!words.every((word, ahead) => looksAtWord(reader, [word], ahead))) return false;
  reader.at += words.length;
  return true;
}

/** Takes one of these words when it comes next, and returns it. */
export function takeOneOf(reader: TokenReader, words: readonly string[]): string | undefined {
  if (!looksAtWord(reader, words)) return undefined;
  const word = peekToken(reader)?.upper;
  reader.at += 1;
  return word;
}

/** Takes a token that is not a word and has one of these texts. */
export function takeSymbol(reader: TokenReader, ...texts: readonly string[]): boolean {
  const token = peekToken(reader);
  if (
    token === undefined ||
    token.kind === "word" ||
    token.kind === "string" ||
    !texts.includes(token.text)
  )
    return false;
  reader.at += 1;
  return true;
}

/** Takes a word or quoted name. */
export function takeNamePart(reader: TokenReader): NamePart | undefined {
  const part = namePartOf(peekToken(reader), reader.dialect);
  if (part !== undefined) reader.at += 1;
  return part;
}

function namePartOf(token: Token | undefined, dialect: Dialect): NamePart | undefined {
  if (token?.kind === "word") return { text: token.text, quoted: false };
  if (token?.kind !== "quotedIdentifier") return undefined;
  const text = decodeIdentifier(token.text, dialect);
  return text === undefined ? undefined : { text, quoted: true };
}

/** Takes a name with its dots. Undefined, with nothing taken, when no name comes next. */
export function takePath(reader: TokenReader): readonly NamePart[] | undefined {
  const start = reader.at;
  const parts: NamePart[] = [];
  do {
    const part = takeNamePart(reader);
    if (part === undefined) {
      reader.at = start;
      return undefined;
    }
    parts.push(part);
  } while (takeSymbol(reader, "."));
  return parts;
}

/** No setting has a longer name. One of 16 MiB takes a tenth of a second to fold. */
const settingNameMax = 64 * 1024;

/** A name of a setting: parts joined by dots, in lower case, because no engine tells them apart by case. */
export function takeSettingName(reader: TokenReader): string | undefined {
  const name = takePath(reader)
    ?.map((part) => part.text)
    .join(".");
  return name === undefined || name.length > settingNameMax ? undefined : asciiLower(name);
}

/** A name of a statement or savepoint: folded to lower case when unquoted. */
export function takeFoldedName(reader: TokenReader): string | undefined {
  const part = takeNamePart(reader);
  if (part === undefined) return undefined;
  return part.quoted ? part.text : asciiLower(part.text);
}

/** Takes one value up to a comma or closing bracket outside brackets, or to the end. */
export function takeValue(reader: TokenReader): SettingValue | undefined {
  const start = reader.at;
  let depth = 0;
  for (let token = peekToken(reader); token !== undefined; token = peekToken(reader)) {
    if (depth === 0 && (token.kind === "comma" || token.kind === "close")) break;
    if (token.kind === "open") depth += 1;
    if (token.kind === "close") depth -= 1;
    reader.at += 1;
  }
  return valueOf(reader, reader.tokens.slice(start, reader.at));
}

function valueOf(reader: TokenReader, tokens: readonly Token[]): SettingValue | undefined {
  const [first, second] = tokens;
  const last = tokens.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const raw = { kind: "raw", text: reader.sql.slice(first.start, last.end) } as const;
  if (tokens.length === 1) return plainValueOf(first, reader.dialect) ?? raw;
  const signed =
    tokens.length === 2 && (first.text === "-" || first.text === "+") && second?.kind === "number";
  if (!signed) return raw;
  return { kind: "number", text: first.text === "-" ? `-${second.text}` : second.text };
}

function plainValueOf(token: Token, dialect: Dialect): SettingValue | undefined {
  if (token.kind === "number") return { kind: "number", text: token.text };
  if (token.kind === "string") {
    const text = decodeString(token.text, dialect);
    return text === undefined ? undefined : { kind: "text", text };
  }
  if (token.upper === "DEFAULT") return { kind: "default" };
  const name = namePartOf(token, dialect);
  return name === undefined ? undefined : { kind: "word", text: name.text };
}

/** Takes values separated by commas, at least one. */
export function takeValues(reader: TokenReader): readonly SettingValue[] | undefined {
  const values: SettingValue[] = [];
  do {
    const value = takeValue(reader);
    if (value === undefined) return undefined;
    values.push(value);
  } while (takeSymbol(reader, ","));
  return values;
}
