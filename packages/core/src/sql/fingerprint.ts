/**
 * Brings queries that differ only in values, spacing or case to one text, and hashes it.
 *
 * Every literal and parameter becomes `?`, comments go, words fall to lower case (also names: two
 * tables that differ only by case share a digest), spacing becomes canonical, `IN` lists and equal rows
 * of `VALUES` collapse to one. So the number of digests stays near the number of queries someone wrote.
 */
import { asciiLower, openSql, tokenText, type SqlCursor, type TokenKind } from "./cursor.ts";
import type { Dialect } from "./dialect.ts";
import { hashText } from "./hash.ts";
import { beginsInlineData, searchInlineData } from "./inlineData.ts";
import { nextSignificant } from "./lex.ts";

/** A query without its values. */
export interface SqlDigest {
  /** The canonical text; undefined when the query can not be read for certain, as values may show in it. */
  readonly text: string | undefined;
  /** 32 hex digits, also when there is no text. Stable over releases, not cryptographic. */
  readonly fingerprint: string;
}

/** The digest of a text. Cost: linear. Memory: at most twice the text. */
export function digestSql(sql: string, dialect: Dialect): SqlDigest {
  const cursor = openSql(sql, dialect);
  const inlineData = searchInlineData(cursor);
  const digest: Digest = { pieces: [], lastKind: "whitespace", lastWord: "", numberEnd: -1, depth: 0, frames: [] };
  while (nextSignificant(cursor)) {
    addToken(digest, cursor);
    if (beginsInlineData(inlineData, cursor)) {
      digest.pieces.push(" ?");
      break;
    }
  }
  while (digest.pieces.at(-1) === ";") digest.pieces.pop();
  const text = digest.pieces.join("");
  // An unreadable text has a fingerprint of its own kind: it never equals that of a readable one.
  if (cursor.doubt !== undefined) return { text: undefined, fingerprint: hashText(`${cursor.doubt}\n${text}`) };
  return { text, fingerprint: hashText(text) };
}

/** The hash of the exact text: 32 hex digits, stable over releases, not cryptographic. */
export function sqlHash(sql: string): string {
  return hashText(sql);
}

/** The digest while it is made. */
interface Digest {
  /** The pieces of the text, each with the space before it. */
  readonly pieces: string[];
  lastKind: TokenKind;
  /** The last token when it was a word, in lower case. */
  lastWord: string;
  numberEnd: number;
  depth: number;
  /** The open brackets, of the outermost `framesMax`. */
  readonly frames: Frame[];
}

/** One open bracket. */
interface Frame {
  /** Number of pieces up to and with the bracket. */
  readonly begin: number;
  /** A list whose length does not matter: of `IN`, or in square brackets. */
  readonly collapses: boolean;
  /** A row of `VALUES`. */
  readonly isRow: boolean;
  /** Only literals, commas and lists of those so far. */
  literalsOnly: boolean;
  /** `VALUES` was said inside this bracket, so rows follow. */
  inValues: boolean;
  /** The row before, to compare with. */
  lastRow: string;
  lastRowEnd: number;
}

/** Brackets deeper than this are counted but not collapsed: a million of them must cost no memory. */
const framesMax = 64;

/** Words that a value or a bracket follows, so that `in (` keeps its space and `count(` has none. */
const beforeValue: ReadonlySet<string> = new Set(
  "select where and or not in between then else when limit offset values return by on having like ilike is set case distinct all any some as from using exists over with union except intersect join default interval filter into table partition if".split(
    " ",
  ),
);

const literalWords: ReadonlySet<string> = new Set(["true", "false", "null"]);

function addToken(digest: Digest, cursor: SqlCursor): void {
  const { kind } = cursor;
  const adjacent = kind === "word" && cursor.start === digest.numberEnd;
  if (adjacent) return;
  const word = kind === "word" ? asciiLower(tokenText(cursor)) : "";
  addPiece(digest, cursor, word);
  digest.lastKind = kind;
  digest.lastWord = word;
}

function addPiece(digest: Digest, cursor: SqlCursor, word: string): void {
  switch (cursor.kind) {
    case "number":
      digest.numberEnd = cursor.end;
      dropSign(digest);
      push(digest, cursor.kind, "?");
      return;
    case "string":
      // 'a' 'b' is one string to MySQL, and to PostgreSQL when a line break is between.
      if (digest.lastKind !== "string") push(digest, cursor.kind, "?");
      return;
    case "parameter":
      push(digest, cursor.kind, "?");
      return;
    case "word":
      if (word === "values") noteValues(digest);
      if (!literalWords.has(word)) notLiteral(digest);
      push(digest, cursor.kind, word);
      return;
    case "open":
      openFrame(digest, tokenText(cursor));
      return;
    case "close":
      closeFrame(digest, tokenText(cursor));
      return;
    case "comma":
      push(digest, cursor.kind, ",");
      return;
    case "semicolon":
      digest.pieces.push(";");
      return;
    case "operator":
      // A sign may still turn out to belong to a literal.
      if (!isSign(tokenText(cursor))) notLiteral(digest);
      push(digest, cursor.kind, tokenText(cursor));
      return;
    default:
      notLiteral(digest);
      push(digest, cursor.kind, tokenText(cursor));
  }
}

function push(digest: Digest, kind: TokenKind, text: string): void {
  digest.pieces.push(spaceBefore(digest, kind, text) ? ` ${text}` : text);
}

function spaceBefore(digest: Digest, kind: TokenKind, text: string): boolean {
  const { lastKind } = digest;
  if (digest.pieces.length === 0 || lastKind === "open" || lastKind === "dot") return false;
  if (kind === "comma" || kind === "close" || kind === "dot" || text === "::") return false;
  if (lastKind === "operator" && digest.pieces.at(-1) === "::") return false;
  if (kind !== "open") return true;
  if (lastKind === "word") return beforeValue.has(digest.lastWord);
  return lastKind !== "quotedIdentifier" && lastKind !== "close";
}

function isSign(text: string): boolean {
  return text === "-" || text === "+";
}

/** `= -1` and `= 1` are the same query. A sign after a value is a subtraction and stays. */
function dropSign(digest: Digest): void {
  const sign = digest.pieces.at(-1)?.trimStart() ?? "";
  if (digest.lastKind !== "operator" || !isSign(sign)) return;
  const before = digest.pieces.at(-2)?.trimStart() ?? "";
  const afterValue = before !== "" && !beforeValue.has(before) && !/^[([{,=<>!|&*/%^~:+-]/.test(before);
  if (afterValue) {
    notLiteral(digest);
    return;
  }
  digest.pieces.pop();
}

function notLiteral(digest: Digest): void {
  const frame = digest.depth <= framesMax ? digest.frames.at(-1) : undefined;
  if (frame !== undefined) frame.literalsOnly = false;
}

/** The frame that rows of `VALUES` are collected in; the outermost one is made when it is needed. */
function noteValues(digest: Digest): void {
  const frame = digest.frames.at(-1) ?? frameOf(0, false, false);
  if (digest.frames.length === 0) digest.frames.push(frame);
  frame.inValues = true;
  frame.lastRow = "";
}

function frameOf(begin: number, collapses: boolean, isRow: boolean): Frame {
  return { begin, collapses, isRow, literalsOnly: true, inValues: false, lastRow: "", lastRowEnd: -1 };
}
