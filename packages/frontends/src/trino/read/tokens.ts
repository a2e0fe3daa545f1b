/**
 * The tokens of one short statement, read one after the other by the parsers of local statements.
 *
 * Only statements about the session come here; what a client asks of its engine is never parsed.
 */
import { openSql, tokenText, type TokenKind } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** Offset behind the token in the statement. */
  readonly end: number;
}

const endToken: Token = { kind: "whitespace", text: "", end: 0 };

/** Lexes only as far as a parser looks. */
export class TokenReader {
  readonly sql: string;
  readonly #cursor;
  #ahead: Token | undefined;
  #end = 0;

  constructor(sql: string) {
    this.sql = sql;
    this.#cursor = openSql(sql, "trino");
  }

  /** Offset behind the last token taken. */
  get end(): number {
    return this.#end;
  }

  /** The next token without taking it; of kind `whitespace` behind the last one. */
  peek(): Token {
    this.#ahead ??= this.#read();
    return this.#ahead;
  }

  take(): Token {
    const token = this.peek();
    this.#ahead = undefined;
    if (token !== endToken) this.#end = token.end;
    return token;
  }

  /** Takes the next token when it is this word, in any case. */
  word(word: string): boolean {
    const { kind, text } = this.peek();
    if (kind !== "word" || text.length !== word.length || text.toUpperCase() !== word) return false;
    this.take();
    return true;
  }

  /** Takes the words in turn. Takes none when the first differs; after a later difference the caller gives the statement up. */
  words(...words: readonly string[]): boolean {
    return words.every((word) => this.word(word));
  }

  /** Takes the next token when it is exactly this text. */
  mark(text: string): boolean {
    if (this.peek().text !== text) return false;
    this.take();
    return true;
  }

  /** A name without quotes, in lower case where it had none. */
  name(): string | undefined {
    const { kind, text } = this.peek();
    if (kind !== "word" && kind !== "quotedIdentifier") return undefined;
    this.take();
    return kind === "word" ? text.toLowerCase() : unquoted(text);
  }

  /** A name as it was written, without quotes. */
  exactName(): string | undefined {
    const { kind, text } = this.peek();
    if (kind !== "word" && kind !== "quotedIdentifier") return undefined;
    this.take();
    return kind === "word" ? text : unquoted(text);
  }

  /** The value of a plain string. */
  string(): string | undefined {
    const { kind, text } = this.peek();
    if (kind !== "string" || !text.startsWith("'")) return undefined;
    this.take();
    return unquoted(text);
  }

  /** True behind the last token, or before a semicolon at the end. */
  atEnd(): boolean {
    if (this.peek().kind === "semicolon") this.take();
    return this.peek() === endToken;
  }

  /** Everything behind the last token taken. */
  rest(): string {
    return this.sql.slice(this.#end).trim();
  }

  #read(): Token {
    if (!nextSignificant(this.#cursor)) return endToken;
    const { kind, end } = this.#cursor;
    return { kind, text: tokenText(this.#cursor), end };
  }
}

/** Takes the quotes off, and one of each doubled quote inside. */
function unquoted(text: string): string {
  const quote = text.slice(0, 1);
  return text.slice(1, -1).replaceAll(quote + quote, quote);
}
