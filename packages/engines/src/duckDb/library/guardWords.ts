/**
 * What the guard asks of the tokens of a text, from one walk: its own, or that of somebody who reads the text
 * for other reasons. It decides nothing (guard.ts).
 */
import {
  asciiLower,
  isWord,
  openSql,
  tokenText,
  upperWord,
  type SqlCursor,
} from "@gateway/core/sql/lex/cursor.ts";
import { nextToken } from "@gateway/core/sql/lex/lex.ts";
import { decodeIdentifier } from "@gateway/core/sql/lex/literal.ts";
import { readingOf } from "@gateway/core/sql/reading/reading.ts";
import { tokensPerStep, type Steps } from "@gateway/core/sql/reading/steps.ts";
import { refusedFunctions } from "./refusedFunctions.ts";

/** What stands in the text. */
export interface Words {
  /** The first words, upper case, comments left out. */
  readonly head: readonly string[];
  readonly refusedFunction: string | undefined;
  readonly pivots: boolean;
  /** RETURNING stands outside brackets. */
  readonly returning: boolean;
  /** TO stands outside brackets. */
  readonly to: boolean;
  /** The most operators and comments with nothing between them. */
  readonly longestRun: number;
}

const headWordsKept = 6;

/** A statement is judged when it is described and again when it runs. */
export const readWords = readingOf(wordsOf);

function* wordsOf(sql: string): Steps<Words> {
  const cursor = openSql(sql, "duckdb");
  const reader = new WordsReader(sql);
  for (let tokens = 1; nextToken(cursor); tokens += 1) {
    if (tokens % tokensPerStep === 0) yield;
    reader.token(cursor);
  }
  return reader.words;
}

/** Makes strings of the tokens that matter only: a text may hold hundreds of thousands. */
export class WordsReader {
  /** Stays on the token before. */
  readonly #before: SqlCursor;
  readonly #head: string[] = [];
  #refusedFunction: string | undefined;
  #pivots = false;
  #returning = false;
  #to = false;
  #depth = 0;
  #run = 0;
  #longestRun = 0;

  constructor(sql: string) {
    this.#before = openSql(sql, "duckdb");
  }

  /** Of all tokens read. */
  get words(): Words {
    return {
      head: this.#head,
      refusedFunction: this.#refusedFunction,
      pivots: this.#pivots,
      returning: this.#returning,
      to: this.#to,
      longestRun: this.#longestRun,
    };
  }

  token(cursor: SqlCursor): void {
    const { kind } = cursor;
    this.#run = inRun(cursor) ? this.#run + begunIn(cursor) : 0;
    this.#longestRun = Math.max(this.#longestRun, this.#run);
    if (kind === "whitespace" || kind === "comment" || kind === "versionComment") return;
    const before = this.#before;
    if (kind === "open") {
      const name = nameOf(before);
      if (name !== undefined && refusedFunctions.has(name)) this.#refusedFunction ??= name;
      this.#depth += 1;
    }
    if (kind === "close") this.#depth -= 1;
    if (this.#head.length < headWordsKept) this.#head.push(upperWord(cursor));
    if (kind === "word") {
      this.#pivots ||= beginsWithPivot(cursor);
      this.#returning ||= this.#depth === 0 && isWord(cursor, "RETURNING");
      this.#to ||= this.#depth === 0 && isWord(cursor, "TO");
    }
    before.kind = kind;
    before.start = cursor.start;
    before.end = cursor.end;
  }
}

/** A line comment ends where white space is, which is no part of a run. */
function inRun(cursor: SqlCursor): boolean {
  return cursor.kind === "operator" || isBlockComment(cursor);
}

function isBlockComment({ kind, sql, start }: SqlCursor): boolean {
  return (kind === "comment" || kind === "unterminated") && sql.startsWith("/*", start);
}

/** Comments inside a comment count as well. */
function begunIn({ kind, sql, start, end }: SqlCursor): number {
  if (kind === "operator") return 1;
  let begun = 0;
  for (let at = start; at >= 0 && at < end; at = sql.indexOf("/*", at + 2)) begun += 1;
  return begun;
}

/** PIVOT, PIVOT_WIDER and PIVOT_LONGER. */
function beginsWithPivot(cursor: SqlCursor): boolean {
  const first = cursor.sql.charCodeAt(cursor.start) | 0x20;
  return first === 0x70 && upperWord(cursor).startsWith("PIVOT");
}

/** The name that the current token is, in lower case. */
export function nameOf(cursor: SqlCursor): string | undefined {
  if (cursor.kind === "word") return asciiLower(tokenText(cursor));
  if (cursor.kind !== "quotedIdentifier") return undefined;
  const decoded = decodeIdentifier(tokenText(cursor), "duckdb");
  return decoded === undefined ? undefined : asciiLower(decoded);
}
