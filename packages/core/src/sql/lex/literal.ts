/**
 * Decodes string literals and quoted names of the dialects into what they stand for.
 *
 * Returns undefined for what it does not know for certain (byte escapes beyond ASCII, `U&'…'`, bit and
 * hex strings), so that the caller keeps the raw text instead of a wrong value. It never encodes: each
 * engine has its own quoting for that.
 */
import type { Dialect } from "../dialect.ts";
import { lexRules } from "../dialect.ts";

/** The value of a string token, as the lexer cut it. */
export function decodeString(token: string, dialect: Dialect): string | undefined {
  const rules = lexRules[dialect];
  const first = token.charAt(0);
  if (first === "$") return decodeDollarQuoted(token);
  if (first === "\u2018") return token.slice(1, -1);
  if (first === "'" || first === '"') {
    const inner = token.slice(1, -1);
    return rules.backslashInStrings
      ? decodeEscapes(inner, first, escapesOf(dialect))
      : undouble(inner, first);
  }
  const quote = token.charAt(1);
  if (quote !== "'") return undefined;
  const inner = token.slice(2, -1);
  if (first === "e" || first === "E") return decodeEscapes(inner, quote, postgresEscapes);
  if (first !== "n" && first !== "N") return undefined;
  return rules.backslashInStrings
    ? decodeEscapes(inner, quote, escapesOf(dialect))
    : undouble(inner, quote);
}

/** The name that a quoted identifier stands for. */
export function decodeIdentifier(token: string, dialect: Dialect): string | undefined {
  const rules = lexRules[dialect];
  const quote = token.charAt(0);
  const inner = token.slice(1, -1);
  if (quote === "\u201c") return inner;
  if (quote === '"') {
    return rules.backslashInDoubleQuotes
      ? decodeEscapes(inner, quote, escapesOf(dialect))
      : undouble(inner, quote);
  }
  if (quote !== "`") return undefined;
  return rules.backslashInBackticks
    ? decodeEscapes(inner, quote, escapesOf(dialect))
    : undouble(inner, quote);
}

function undouble(inner: string, quote: string): string {
  return inner.replaceAll(quote + quote, quote);
}

function decodeDollarQuoted(token: string): string {
  const tagEnd = token.indexOf("$", 1) + 1;
  return token.slice(tagEnd, token.length - tagEnd);
}

/** What a backslash and a letter stand for, and what happens with other letters. */
interface Escapes {
  readonly letters: ReadonlyMap<string, string>;
  /** `itself`: the letter alone. `refuse`: the value is not known. */
  readonly others: "itself" | "refuse";
  /** `\xHH`, and in PostgreSQL also octal and `\u`. */
  readonly numeric: RegExp | undefined;
}

const commonLetters: readonly (readonly [string, string])[] = [
  ["b", "\b"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
];

const postgresEscapes: Escapes = {
  letters: new Map([...commonLetters, ["f", "\f"]]),
  others: "itself",
  numeric: /^(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-7]{1,3}))/,
};

const mysqlEscapes: Escapes = {
  // `\%` and `\_` keep their backslash: they are for LIKE.
  letters: new Map([...commonLetters, ["0", "\0"], ["Z", "\u001a"], ["%", "\\%"], ["_", "\\_"]]),
  others: "itself",
  numeric: undefined,
};

const clickhouseEscapes: Escapes = {
  letters: new Map([
    ...commonLetters,
    ["f", "\f"],
    ["0", "\0"],
    ["a", "\u0007"],
    ["v", "\v"],
    ["e", "\u001b"],
    ["\\", "\\"],
    ["'", "'"],
    ['"', '"'],
    ["`", "`"],
    ["/", "/"],
    ["=", "="],
  ]),
  others: "refuse",
  numeric: /^x([0-9A-Fa-f]{2})/,
};

function escapesOf(dialect: Dialect): Escapes {
  return dialect === "clickhouse" ? clickhouseEscapes : mysqlEscapes;
}

function decodeEscapes(inner: string, quote: string, escapes: Escapes): string | undefined {
  if (!inner.includes("\\")) return undouble(inner, quote);
  let value = "";
  let from = 0;
  let at = 0;
  while (at < inner.length) {
    const char = inner.charAt(at);
    if (char === quote) {
      value += inner.slice(from, at) + quote;
      at += 2;
      from = at;
    } else if (char === "\\") {
      const decoded = decodeEscape(inner, at + 1, escapes);
      if (decoded === undefined) return undefined;
      value += inner.slice(from, at) + decoded.text;
      at += 1 + decoded.length;
      from = at;
    } else {
      at += 1;
    }
  }
  return value + inner.slice(from);
}

function decodeEscape(
  inner: string,
  at: number,
  escapes: Escapes,
): { text: string; length: number } | undefined {
  const numeric = escapes.numeric?.exec(inner.slice(at, at + 9));
  if (numeric) return decodeNumeric(numeric);
  const letter = inner.charAt(at);
  const known = escapes.letters.get(letter);
  if (known !== undefined) return { text: known, length: 1 };
  return escapes.others === "itself" ? { text: letter, length: 1 } : undefined;
}

function decodeNumeric(match: RegExpExecArray): { text: string; length: number } | undefined {
  const [whole, hexByte, shortUnicode, longUnicode, octalByte] = match;
  const unicode = shortUnicode ?? longUnicode;
  const byte =
    hexByte === undefined ? Number.parseInt(octalByte ?? "", 8) : Number.parseInt(hexByte, 16);
  const codePoint = unicode === undefined ? byte : Number.parseInt(unicode, 16);
  // Bytes beyond ASCII belong to an encoding that is not known here.
  const known = unicode === undefined ? codePoint < 0x80 : codePoint <= 0x10ffff;
  return known ? { text: String.fromCodePoint(codePoint), length: whole.length } : undefined;
}
