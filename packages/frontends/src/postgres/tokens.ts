/** A short statement as a list of tokens, for the few statements the frontend reads itself. Longer ones are the engine's. */
import { openSql, tokenText, type TokenKind } from "@gateway/core/sql/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex.ts";

export interface Token {
  readonly kind: TokenKind;
  /** As the client wrote it. */
  readonly text: string;
  /** A bare word in lower case; empty for every other token. */
  readonly word: string;
}

/** Tokens of one statement without white space and comments; undefined when there are more than `max`. */
export function tokensOf(sql: string, max: number): readonly Token[] | undefined {
  const tokens: Token[] = [];
  const cursor = openSql(sql, "postgres");
  while (nextSignificant(cursor)) {
    if (tokens.length === max) return undefined;
    const text = tokenText(cursor);
    const { kind } = cursor;
    tokens.push({ kind, text, word: kind === "word" ? text.toLowerCase() : "" });
  }
  return tokens;
}

/** The first two words of a statement in lower case; a token that is no word ends them. */
export function firstWords(sql: string): readonly string[] {
  const words: string[] = [];
  const cursor = openSql(sql, "postgres");
  while (words.length < 2 && nextSignificant(cursor) && cursor.kind === "word") {
    words.push(tokenText(cursor).toLowerCase());
  }
  return words;
}

/** The name a token stands for: a bare word folded to lower case, or a quoted one as it is. */
export function nameOf(token: Token | undefined): string | undefined {
  if (token?.kind === "word") return token.word;
  if (token?.kind !== "quotedIdentifier" || !token.text.startsWith('"')) return undefined;
  return token.text.slice(1, -1).replaceAll('""', '"');
}

/** The value of a plain string literal; undefined for one with escapes or of another kind. */
export function literalOf(token: Token | undefined): string | undefined {
  if (token?.kind !== "string" || !token.text.startsWith("'")) return undefined;
  return token.text.slice(1, -1).replaceAll("''", "'");
}

/** Reads tokens from left to right. */
export class TokenReader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get done(): boolean {
    return this.#at >= this.#tokens.length;
  }

  peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  next(): Token | undefined {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    return token;
  }

  /** Passes over these words, all or none. */
  takeWords(...words: readonly string[]): boolean {
    const found = words.every((word, index) => this.#tokens[this.#at + index]?.word === word);
    if (found) this.#at += words.length;
    return found;
  }

  /** Passes over one token of this text. */
  takeText(text: string): boolean {
    if (this.peek()?.text !== text) return false;
    this.#at += 1;
    return true;
  }

  rest(): readonly Token[] {
    return this.#tokens.slice(this.#at);
  }
}
