/**
 * Builds the canonical text of a query piece by piece: spacing, lists and rows. Used by `fingerprint.ts`.
 *
 * Knows tokens only, no grammar: an `IN` list is a bracket after the word `in`.
 */
import { asciiLower, tokenText, type SqlCursor, type TokenKind } from "../lex/cursor.ts";
import type { Steps } from "../reading/steps.ts";

/** The text while it is made. */
export interface DigestPieces {
  /** The pieces, each with the space before it. */
  readonly pieces: string[];
  /** The brackets that are open; the first frame stands for the text outside all brackets. */
  readonly frames: Frame[];
  /** Open brackets beyond `framesMax`. */
  framesBeyond: number;
  lastKind: TokenKind;
  /** The last token when it was a word, in lower case. */
  lastWord: string;
  /** Where the last number ended in the text. */
  numberEnd: number;
}

/** One open bracket. */
interface Frame {
  /** Number of pieces up to and with the bracket. */
  readonly begin: number;
  /** A list whose length does not matter: of `IN`, or in square brackets. */
  readonly isList: boolean;
  /** A row of `VALUES`. */
  readonly isRow: boolean;
  /** Only literals, commas and brackets of those so far. */
  literalsOnly: boolean;
  /** `VALUES` was said and only rows came since. */
  inValues: boolean;
  /** The row before, and the number of pieces up to its end. */
  lastRow: string;
  lastRowEnd: number;
}

/** Brackets deeper than this are counted but not collapsed, because a million of them must cost no memory. */
const framesMax = 64;

/** A text of more pieces helps nobody, and costs more than some ten milliseconds. */
const piecesMax = 100_000;

/** Words that a value or a bracketed list follows. `in (` keeps its space, `count(` has none. */
const beforeValue: ReadonlySet<string> = new Set(
  "select where and or not in between then else when limit offset values return by on having like ilike is set case distinct all any some as from using exists over with union except intersect join default interval filter into table partition if".split(
    " ",
  ),
);

const literalWords: ReadonlySet<string> = new Set(["true", "false", "null"]);

/** A text without pieces. */
export function emptyPieces(): DigestPieces {
  const outside = frameOf(0, false, false);
  return {
    pieces: [],
    frames: [outside],
    framesBeyond: 0,
    lastKind: "whitespace",
    lastWord: "",
    numberEnd: -1,
  };
}

/** Characters of a word that are turned into lower case in one go. */
const wordUnits = 16 * 1024;

/** Whether the current token is a word that has to be turned in steps before it is added. */
export function isLongWord({ kind, start, end }: SqlCursor): boolean {
  return kind === "word" && end - start > wordUnits;
}

/** That word in lower case. */
export function* lowerWord({ sql, start, end }: SqlCursor): Steps<string> {
  const parts: string[] = [];
  for (let at = start; at < end; at += wordUnits) {
    parts.push(asciiLower(sql.slice(at, Math.min(at + wordUnits, end))));
    yield;
  }
  return parts.join("");
}

/** Adds the current token, which is neither white space nor a comment. `lower`: the word, where it is known. */
export function addToken(digest: DigestPieces, cursor: SqlCursor, lower?: string): void {
  const { kind } = cursor;
  // DuckDB reads 0x1F as 0 and a name, but whoever wrote it meant a number.
  if (kind === "word" && cursor.start === digest.numberEnd) return;
  const word = kind === "word" ? (lower ?? asciiLower(tokenText(cursor))) : "";
  addByKind(digest, cursor, word);
  digest.lastKind = kind;
  digest.lastWord = word;
}

/** Ends the text with rows that are not SQL. */
export function addInlineData(digest: DigestPieces): void {
  digest.pieces.push(" ?");
}

/** Whether the text has too many pieces. Those of a list do not count before its end, as it may collapse. */
export function isTooLong({ pieces, frames }: DigestPieces): boolean {
  return pieces.length > piecesMax && !frames.some(({ isList }) => isList);
}

/** The text made so far, without semicolons at its end. */
export function textOf(digest: DigestPieces): string {
  let end = digest.pieces.length;
  while (end > 0 && digest.pieces[end - 1] === ";") end -= 1;
  return digest.pieces.slice(0, end).join("");
}

function addByKind(digest: DigestPieces, cursor: SqlCursor, word: string): void {
  const { kind } = cursor;
  switch (kind) {
    case "number":
      digest.numberEnd = cursor.end;
      return addNumber(digest);
    case "string":
      // 'a' 'b' is one string to MySQL, and to PostgreSQL when a line break is between.
      if (digest.lastKind !== "string") addValue(digest, kind);
      return;
    case "parameter":
    case "unterminated":
      return addValue(digest, kind);
    case "word":
      return addWord(digest, word);
    case "open":
      return open(digest, tokenText(cursor));
    case "close":
      return close(digest, tokenText(cursor));
    case "comma":
      return push(digest, kind, ",");
    case "semicolon":
      digest.pieces.push(";");
      return;
    default:
      return addOther(digest, kind, tokenText(cursor));
  }
}

function addWord(digest: DigestPieces, word: string): void {
  const frame = topFrame(digest);
  frame.inValues = word === "values";
  frame.lastRow = "";
  if (!literalWords.has(word)) frame.literalsOnly = false;
  push(digest, "word", word);
}

function addOther(digest: DigestPieces, kind: TokenKind, text: string): void {
  // A sign may still turn out to belong to a literal.
  if (kind !== "operator" || !isSign(text)) topFrame(digest).literalsOnly = false;
  push(digest, kind, text);
}

function push(digest: DigestPieces, kind: TokenKind, text: string): void {
  digest.pieces.push(spaceBefore(digest, kind, text) ? ` ${text}` : text);
}

function spaceBefore(digest: DigestPieces, kind: TokenKind, text: string): boolean {
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

/** A string or a parameter: a sign before it stays, and between two values it makes no list of literals. */
function addValue(digest: DigestPieces, kind: TokenKind): void {
  if (signBefore(digest) === "subtraction") topFrame(digest).literalsOnly = false;
  push(digest, kind, "?");
}

/** `= -1` and `= 1` are the same query. A sign after a value is a subtraction and stays. */
function addNumber(digest: DigestPieces): void {
  const { pieces } = digest;
  switch (signBefore(digest)) {
    case "none":
      return push(digest, "number", "?");
    case "subtraction":
      topFrame(digest).literalsOnly = false;
      return push(digest, "number", "?");
    case "sign":
      pieces[pieces.length - 1] = pieces.at(-1)?.startsWith(" ") === true ? " ?" : "?";
  }
}

/** How the last piece relates to a value that follows it: `subtraction` means an addition too. */
function signBefore({ pieces, lastKind }: DigestPieces): "none" | "sign" | "subtraction" {
  const sign = lastKind === "operator" ? (pieces.at(-1) ?? "") : "";
  if (!isSign(sign.trimStart())) return "none";
  const before = pieces.at(-2)?.trimStart() ?? "";
  const afterValue =
    before !== "" && !beforeValue.has(before) && !/^[([{,=<>!|&*/%^~:;+-]/.test(before);
  return afterValue ? "subtraction" : "sign";
}

function open(digest: DigestPieces, bracket: string): void {
  const outer = topFrame(digest);
  const isRow = bracket === "(" && outer.inValues;
  const isList = bracket === "[" || (bracket === "(" && digest.lastWord === "in");
  push(digest, "open", bracket);
  if (digest.frames.length > framesMax) digest.framesBeyond += 1;
  else digest.frames.push(frameOf(digest.pieces.length, isList, isRow));
}

function close(digest: DigestPieces, bracket: string): void {
  if (digest.framesBeyond > 0 || digest.frames.length === 1) {
    digest.framesBeyond = Math.max(digest.framesBeyond - 1, 0);
    topFrame(digest).literalsOnly = false;
    return push(digest, "close", bracket);
  }
  const frame = topFrame(digest);
  digest.frames.pop();
  if (frame.isList && frame.literalsOnly && digest.pieces.length > frame.begin) {
    digest.pieces.length = frame.begin;
    digest.pieces.push("?");
  }
  push(digest, "close", bracket);
  if (!frame.literalsOnly) topFrame(digest).literalsOnly = false;
  if (frame.isRow) endRow(digest, frame);
}

/** A row that equals the one before adds nothing: an insert of one row and of a thousand are the same query. */
function endRow(digest: DigestPieces, row: Frame): void {
  const rows = topFrame(digest);
  const text = digest.pieces.slice(row.begin).join("");
  if (text === rows.lastRow) {
    digest.pieces.length = rows.lastRowEnd;
    return;
  }
  rows.lastRow = text;
  rows.lastRowEnd = digest.pieces.length;
}

function topFrame(digest: DigestPieces): Frame {
  const frame = digest.frames.at(-1);
  if (frame === undefined) throw new Error("the frame outside all brackets was closed");
  return frame;
}

function frameOf(begin: number, isList: boolean, isRow: boolean): Frame {
  return { begin, isList, isRow, literalsOnly: true, inValues: false, lastRow: "", lastRowEnd: -1 };
}
