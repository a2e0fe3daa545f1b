/**
 * A tolerant lexer for SQL of several dialects: moves a cursor from token to token.
 *
 * It never throws and never stops early: the tokens cover any text exactly. What can not be read (an open
 * string, a control character) is a token of its own kind. A text that an engine might read in another way
 * carries a doubt, so that a policy can refuse it instead of trusting a guess. It knows no grammar and no
 * keywords.
 */
import {
  become,
  becomeUnknown,
  noteDoubt,
  noteGuess,
  type SqlCursor,
  type TokenKind,
} from "./cursor.ts";
import type { FarEnds } from "./farEnd.ts";
import {
  closesVersionComment,
  closeVersionComment,
  readBlockComment,
  readLineComment,
  startsDashComment,
  startsHashComment,
} from "./readComment.ts";
import {
  followEscapeString,
  readBackticks,
  readCurlyQuoted,
  readDollar,
  readDoubleQuoted,
  readPlainString,
  readWord,
} from "./readQuoted.ts";
import {
  blankEnd,
  digitsOnlyEnd,
  isCurlyQuote,
  isDigitAt,
  isSpace,
  numberEnd,
  operatorEnd,
  pathEnd,
  spaceEnd,
  wordEnd,
} from "./scan.ts";

/** Moves to the next token. False at the end of the text, where the cursor keeps its last token. */
export function nextToken(cursor: SqlCursor): boolean {
  const start = cursor.end;
  if (start >= cursor.sql.length) {
    if (cursor.inVersionComment) noteDoubt(cursor, "unterminated");
    return false;
  }
  if (cursor.far?.inSteps === true) readPart(cursor, cursor.far);
  else readToken(cursor);
  return true;
}

/**
 * For a walk in steps, which asks `isPaused` after each token: what was read of one that is not at its end yet leaves
 * no trace, and the next call goes on with it.
 */
function readPart(cursor: SqlCursor, far: FarEnds): void {
  const { kind, start, end, doubt, inVersionComment, escapeContinues } = cursor;
  far.goOn();
  readToken(cursor);
  if (!far.isPaused) return far.endToken();
  cursor.kind = kind;
  cursor.start = start;
  cursor.end = end;
  cursor.doubt = doubt;
  cursor.inVersionComment = inVersionComment;
  cursor.escapeContinues = escapeContinues;
}

function readToken(cursor: SqlCursor): void {
  cursor.start = cursor.end;
  const code = cursor.sql.charCodeAt(cursor.start);
  if (code < 128) readAscii(cursor, code);
  else readBeyondAscii(cursor, code);
  if (cursor.escapeContinues !== 0) followEscapeString(cursor);
}

/** Moves to the next token that is neither white space nor a comment. */
export function nextSignificant(cursor: SqlCursor): boolean {
  while (nextToken(cursor)) {
    if (
      cursor.kind !== "whitespace" &&
      cursor.kind !== "comment" &&
      cursor.kind !== "versionComment"
    )
      return true;
  }
  return false;
}

/** What a character can begin. Numbers, because this is looked up for every token. */
const shape = {
  unknown: 0,
  space: 1,
  letter: 2,
  digit: 3,
  quote: 4,
  doubleQuote: 5,
  backtick: 6,
  operator: 7,
  dash: 8,
  slash: 9,
  hash: 10,
  dollar: 11,
  at: 12,
  question: 13,
  colon: 14,
  dot: 15,
  comma: 16,
  semicolon: 17,
  open: 18,
  close: 19,
  star: 20,
} as const;

type Shape = (typeof shape)[keyof typeof shape];

const shapes: readonly Shape[] = Array.from({ length: 128 }, (_, code) =>
  shapeOf(String.fromCharCode(code)),
);

function shapeOf(char: string): Shape {
  if (/[A-Za-z_]/.test(char)) return shape.letter;
  if (/[0-9]/.test(char)) return shape.digit;
  if (/[+<>=~!%^&|]/.test(char)) return shape.operator;
  if (/[([{]/.test(char)) return shape.open;
  if (/[)\]}]/.test(char)) return shape.close;
  if (isSpace(char.charCodeAt(0))) return shape.space;
  switch (char) {
    case "'":
      return shape.quote;
    case '"':
      return shape.doubleQuote;
    case "`":
      return shape.backtick;
    case "-":
      return shape.dash;
    case "/":
      return shape.slash;
    case "*":
      return shape.star;
    case "#":
      return shape.hash;
    case "$":
      return shape.dollar;
    case "@":
      return shape.at;
    case "?":
      return shape.question;
    case ":":
      return shape.colon;
    case ".":
      return shape.dot;
    case ",":
      return shape.comma;
    case ";":
      return shape.semicolon;
    default:
      return shape.unknown;
  }
}

function readAscii(cursor: SqlCursor, code: number): void {
  switch (shapes[code] ?? shape.unknown) {
    case shape.space:
      return readSpace(cursor);
    case shape.letter:
      return readWord(cursor);
    case shape.digit:
      return readNumber(cursor);
    case shape.quote:
      return readPlainString(cursor);
    case shape.doubleQuote:
      return readDoubleQuoted(cursor);
    case shape.backtick:
      return cursor.rules.backtick === "operator" ? readOperator(cursor) : readBackticks(cursor);
    case shape.operator:
      return readOperator(cursor);
    case shape.dash:
      return startsDashComment(cursor) ? readLineComment(cursor) : readOperator(cursor);
    case shape.slash:
      return readSlash(cursor);
    case shape.star:
      return closesVersionComment(cursor) ? closeVersionComment(cursor) : readOperator(cursor);
    case shape.hash:
      return startsHashComment(cursor) ? readLineComment(cursor) : readOperator(cursor);
    case shape.dollar:
      return readDollar(cursor);
    case shape.at:
      return cursor.rules.variables ? readVariable(cursor) : readOperator(cursor);
    case shape.question:
      return readQuestion(cursor);
    case shape.colon:
      return readColon(cursor);
    case shape.dot:
      return readDot(cursor, cursor.kind);
    case shape.comma:
      return become(cursor, "comma", cursor.start + 1);
    case shape.semicolon:
      return become(cursor, "semicolon", cursor.start + 1);
    case shape.open:
      return become(cursor, "open", cursor.start + 1);
    case shape.close:
      return become(cursor, "close", cursor.start + 1);
    case shape.unknown:
      return becomeUnknown(cursor);
  }
}

function readBeyondAscii(cursor: SqlCursor, code: number): void {
  const { rules, start } = cursor;
  if (rules.unicodeSpaces.has(code)) return readSpace(cursor);
  if (isCurlyQuote(code)) return readCurlyQuoted(cursor, code);
  // U+2212 is a minus for ClickHouse.
  if (rules.curlyQuotes && code === 0x2212) return become(cursor, "operator", start + 1);
  become(cursor, "word", wordEnd(cursor, start + 1));
}

function readSpace(cursor: SqlCursor): void {
  const { sql, rules, start } = cursor;
  const end = blankEnd(cursor, start);
  if (!rules.unicodeSpaces.has(sql.charCodeAt(end))) return become(cursor, "whitespace", end);
  noteGuess(cursor);
  become(cursor, "whitespace", spaceEnd(cursor, end));
}

function readNumber(cursor: SqlCursor): void {
  const { rules, start } = cursor;
  const end = numberEnd(cursor, start);
  const word = rules.digitWords ? wordEnd(cursor, start) : end;
  // `1a` is a name; `1e5` and `0x1f` are numbers.
  become(cursor, word > end ? "word" : "number", Math.max(word, end));
}

function readSlash(cursor: SqlCursor): void {
  const second = cursor.sql.charCodeAt(cursor.start + 1);
  if (second === 0x2a) return readBlockComment(cursor);
  if (second !== 0x2f) return readOperator(cursor);
  noteGuess(cursor);
  if (cursor.rules.slashComments) return readLineComment(cursor);
  readOperator(cursor);
}

function readOperator(cursor: SqlCursor): void {
  become(cursor, "operator", operatorEnd(cursor, cursor.start));
}

function readVariable(cursor: SqlCursor): void {
  const { sql, start } = cursor;
  const name = start + (sql.charCodeAt(start + 1) === 0x40 ? 2 : 1);
  const end = pathEnd(cursor, name);
  become(cursor, end > name ? "variable" : "operator", end);
}

function readQuestion(cursor: SqlCursor): void {
  const { rules, start } = cursor;
  if (!rules.questionPlaceholders) return readOperator(cursor);
  const end = rules.numberedQuestions ? digitsOnlyEnd(cursor, start + 1) : start + 1;
  become(cursor, "parameter", end);
}

function readColon(cursor: SqlCursor): void {
  const second = cursor.sql.charCodeAt(cursor.start + 1);
  become(cursor, "operator", cursor.start + (second === 0x3a || second === 0x3d ? 2 : 1));
}

function readDot(cursor: SqlCursor, before: TokenKind): void {
  const { sql, start } = cursor;
  const afterName = before === "word" || before === "quotedIdentifier" || before === "close";
  if (!afterName && isDigitAt(sql, start + 1))
    return become(cursor, "number", numberEnd(cursor, start));
  // Two dots are a range; the second one does not begin a number.
  if (sql.charCodeAt(start + 1) === 0x2e) return become(cursor, "operator", start + 2);
  become(cursor, "dot", start + 1);
}
