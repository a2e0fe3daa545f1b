/**
 * A statement as a short list of tokens, for the few statements the frontend answers itself.
 *
 * Comments are left out, the content of version comments is kept: `SHOW /*!50002 FULL*\/ TABLES` is
 * SHOW FULL TABLES. A statement that is longer than any of ours is not listed at all.
 */
import { asciiUpper, openSql, tokenText, type TokenKind } from "@gateway/core/sql/cursor.ts";
import { nextToken } from "@gateway/core/sql/lex.ts";
import type { Setting } from "../clientSession.ts";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** The text in upper case when it is a word, otherwise empty. */
  readonly word: string;
  /** Offset in the statement, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** The longest of our statements, Connector/J's list of variables, has fewer than 200. */
const tokensMax = 1000;

/** The tokens that mean something; undefined when they are too many or the text can not be read. */
export function tokensOf(sql: string): readonly Token[] | undefined {
  const cursor = openSql(sql, "mysql");
  const tokens: Token[] = [];
  while (nextToken(cursor)) {
    const { kind, start, end } = cursor;
    if (kind === "whitespace" || kind === "comment" || kind === "versionComment") continue;
    if (kind === "unterminated" || kind === "unknown" || tokens.length === tokensMax) {
      return undefined;
    }
    const text = tokenText(cursor);
    tokens.push({ kind, text, word: kind === "word" ? asciiUpper(text) : "", start, end });
  }
  return tokens;
}

const nothing: Token = { kind: "whitespace", text: "", word: "", start: 0, end: 0 };

/** Walks over tokens. Each `take…` moves only when it finds what it wants. */
export class TokenWalk {
  readonly tokens: readonly Token[];
  at = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  get done(): boolean {
    return this.at >= this.tokens.length;
  }

  /** The next token; of no length at the end. */
  get next(): Token {
    return this.tokens[this.at] ?? nothing;
  }

  /** Takes these words if all of them follow. */
  takeWords(...words: readonly string[]): boolean {
    const found = words.every((word, index) => this.tokens[this.at + index]?.word === word);
    if (found) this.at += words.length;
    return found;
  }

  /** Takes one of these words and says which. */
  takeOneOf(...words: readonly string[]): string | undefined {
    const { word } = this.next;
    if (word === "" || !words.includes(word)) return undefined;
    this.at += 1;
    return word;
  }

  /** Takes a sign such as `,` `=` `(`. */
  takeSign(...signs: readonly string[]): boolean {
    const { kind, text } = this.next;
    if (kind === "word" || kind === "string" || !signs.includes(text)) return false;
    this.at += 1;
    return true;
  }

  /** Takes a name, quoted or not, and answers it without its quotes. */
  takeName(): string | undefined {
    const { kind, text } = this.next;
    if (kind !== "word" && kind !== "quotedIdentifier") return undefined;
    this.at += 1;
    return kind === "word" ? text : unquoteName(text);
  }

  /** Takes a string literal and answers its value. */
  takeString(): string | undefined {
    const { kind, text } = this.next;
    if (kind !== "string") return undefined;
    const value = stringValue(text);
    if (value !== undefined) this.at += 1;
    return value;
  }

  /** Takes a literal: a string, an integer or decimal with its sign, TRUE, FALSE or NULL. */
  takeLiteral(): Setting | undefined {
    const start = this.at;
    const sign = this.takeSign("-") ? "-" : "";
    const { kind, text, word } = this.next;
    if (kind === "number") {
      this.at += 1;
      return /^\d+$/.test(text) ? BigInt(sign + text) : sign + text;
    }
    this.at = start;
    if (kind === "string") return this.takeString();
    if (word === "NULL") return this.#taken(null);
    if (word === "TRUE") return this.#taken(1n);
    return word === "FALSE" ? this.#taken(0n) : undefined;
  }

  #taken<T>(value: T): T {
    this.at += 1;
    return value;
  }
}

function unquoteName(text: string): string {
  return text.slice(1, -1).replaceAll("``", "`");
}

/** What follows a backslash, where it is not the character itself. */
const escapes: Readonly<Record<string, string>> = {
  "0": "\0",
  b: "\b",
  n: "\n",
  r: "\r",
  t: "\t",
  Z: "\x1a",
};

/** The value of `'…'` or `"…"`; undefined for a literal with a prefix (`x'ff'`). */
function stringValue(text: string): string | undefined {
  const quote = text.charAt(0);
  if (quote !== "'" && quote !== '"') return undefined;
  // One pass, because a backslash may stand before a quote that is doubled.
  return text.slice(1, -1).replace(/\\([^])|''|""/g, (found, escaped: string | undefined) => {
    if (escaped === undefined) return found.startsWith(quote) ? quote : found;
    // LIKE reads these two itself.
    return escapes[escaped] ?? (escaped === "%" || escaped === "_" ? found : escaped);
  });
}
