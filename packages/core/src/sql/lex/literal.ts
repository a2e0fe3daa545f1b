/**
 * Decodes string literals and quoted names of the dialects into what they stand for.
 *
 * Returns undefined for what it does not know for certain (byte escapes beyond ASCII, `U&'…'`, bit and
 * hex strings), so that the caller keeps the raw text instead of a wrong value. It never encodes: each
 * engine has its own quoting for that.
 */
import type { Dialect } from "../dialect.ts";
import { lexRules } from "../dialect.ts";
import { longTextUnits, readingsBy } from "../reading/reading.ts";
import type { Steps } from "../reading/steps.ts";

/** The value of a string token, as the lexer cut it. */
export function decodeString(token: string, dialect: Dialect): string | undefined {
  return token.length > longTextUnits
    ? longStrings(dialect)(token)
    : decoded(inString(token, dialect));
}

/** The name that a quoted identifier stands for. */
export function decodeIdentifier(token: string, dialect: Dialect): string | undefined {
  return token.length > longTextUnits
    ? longIdentifiers(dialect)(token)
    : decoded(inIdentifier(token, dialect));
}

/** What the long ones among strings stand for, by dialect: a million of doubled quotes take a tenth of a second. */
export const longStrings = readingsBy((token: string, dialect: Dialect) =>
  decodedInSteps(inString(token, dialect)),
);

/** The same of quoted identifiers. */
export const longIdentifiers = readingsBy((token: string, dialect: Dialect) =>
  decodedInSteps(inIdentifier(token, dialect)),
);

/** What stands in quotes, and how it is read; a text alone stands for itself. */
type Quoted = string | InQuotes;

interface InQuotes {
  readonly inner: string;
  readonly quote: string;
  readonly escapes: Escapes | undefined;
}

function inString(token: string, dialect: Dialect): Quoted | undefined {
  const rules = lexRules[dialect];
  const first = token.charAt(0);
  if (first === "$") return decodeDollarQuoted(token);
  if (first === "\u2018") return token.slice(1, -1);
  const escapes = rules.backslashInStrings ? escapesOf(dialect) : undefined;
  if (first === "'" || first === '"') return { inner: token.slice(1, -1), quote: first, escapes };
  const quote = token.charAt(1);
  if (quote !== "'") return undefined;
  const inner = token.slice(2, -1);
  if (first === "e" || first === "E") return { inner, quote, escapes: postgresEscapes };
  return first === "n" || first === "N" ? { inner, quote, escapes } : undefined;
}

function inIdentifier(token: string, dialect: Dialect): Quoted | undefined {
  const rules = lexRules[dialect];
  const quote = token.charAt(0);
  const inner = token.slice(1, -1);
  if (quote === "\u201c") return inner;
  if (quote !== '"' && quote !== "`") return undefined;
  const hasEscapes = quote === '"' ? rules.backslashInDoubleQuotes : rules.backslashInBackticks;
  return { inner, quote, escapes: hasEscapes ? escapesOf(dialect) : undefined };
}

function decoded(quoted: Quoted | undefined): string | undefined {
  if (quoted === undefined || typeof quoted === "string") return quoted;
  const { inner, quote, escapes } = quoted;
  if (escapes === undefined || !inner.includes("\\")) return undouble(inner, quote);
  return decodePart(quoted, 0, inner.length)?.text;
}

/** Characters that are decoded in one step. */
const unitsPerStep = 4 * 1024;

function* decodedInSteps(quoted: Quoted | undefined): Steps<string | undefined> {
  if (quoted === undefined || typeof quoted === "string") return quoted;
  const values: string[] = [];
  for (let at = 0; at < quoted.inner.length;) {
    const part = plainPart(quoted, at) ?? decodePart(quoted, at, at + unitsPerStep);
    if (part === undefined) return undefined;
    values.push(part.text);
    at += part.length;
    yield;
  }
  return values.join("");
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

/** A part in which nothing but quotes means something else than itself; undefined for another. */
function plainPart({ inner, quote, escapes }: InQuotes, at: number): Decoded | undefined {
  let part = inner.slice(at, at + unitsPerStep);
  if (escapes !== undefined && part.includes("\\")) return undefined;
  let quotes = 0;
  while (quotes < part.length && part.at(-1 - quotes) === quote) quotes += 1;
  // The other one of the last pair stands behind the part.
  if (quotes % 2 === 1) part = inner.slice(at, at + part.length + 1);
  // `replaceAll` would leave it to whoever reads the text to put it together, all parts of it at once.
  return { text: part.split(quote + quote).join(quote), length: part.length };
}

/** Text, and how many characters it was written in. */
interface Decoded {
  readonly text: string;
  readonly length: number;
}

/** What is written from an offset on, up to the first place behind a limit where no escape stands across. */
function decodePart(
  { inner, quote, escapes }: InQuotes,
  start: number,
  limit: number,
): Decoded | undefined {
  const end = Math.min(limit, inner.length);
  // Joined at the part's end: a text that was added to a million times is put together by whoever reads it first.
  const values: string[] = [];
  let from = start;
  let at = start;
  while (at < end) {
    const char = inner.charAt(at);
    if (char === quote) {
      values.push(inner.slice(from, at), quote);
      at += 2;
      from = at;
    } else if (char === "\\" && escapes !== undefined) {
      const escape = decodeEscape(inner, at + 1, escapes);
      if (escape === undefined) return undefined;
      values.push(inner.slice(from, at), escape.text);
      at += 1 + escape.length;
      from = at;
    } else {
      at += 1;
    }
  }
  values.push(inner.slice(from, at));
  return { text: values.join(""), length: at - start };
}

function decodeEscape(inner: string, at: number, escapes: Escapes): Decoded | undefined {
  const numeric = escapes.numeric?.exec(inner.slice(at, at + 9));
  if (numeric) return decodeNumeric(numeric);
  const letter = inner.charAt(at);
  const known = escapes.letters.get(letter);
  if (known !== undefined) return { text: known, length: 1 };
  return escapes.others === "itself" ? { text: letter, length: 1 } : undefined;
}

function decodeNumeric(match: RegExpExecArray): Decoded | undefined {
  const [whole, hexByte, shortUnicode, longUnicode, octalByte] = match;
  const unicode = shortUnicode ?? longUnicode;
  const byte =
    hexByte === undefined ? Number.parseInt(octalByte ?? "", 8) : Number.parseInt(hexByte, 16);
  const codePoint = unicode === undefined ? byte : Number.parseInt(unicode, 16);
  // Bytes beyond ASCII belong to an encoding that is not known here.
  const known = unicode === undefined ? codePoint < 0x80 : codePoint <= 0x10ffff;
  return known ? { text: String.fromCodePoint(codePoint), length: whole.length } : undefined;
}
