/**
 * What the frontend reads in a client's text before anything runs: its statements, what each is, and
 * the text that the engine gets. It all follows from the text alone, so for short texts it is remembered.
 */
import { ok, type Result } from "@gateway/core/result.ts";
import { remembered } from "@gateway/core/sql/reading/remembered.ts";
import { splitStatements, type TooManyStatements } from "@gateway/core/sql/lex/split.ts";
import { readStatement, type Statement } from "@gateway/core/sql/statement.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { forwardedDialect, forwardedSql } from "./forward.ts";
import { rememberedLengthMax, rememberedTexts, statementsPerTextMax } from "../limits.ts";

/** One statement of a text. Its parts are read when they are first asked for. */
export interface ReadStatement {
  readonly source: string;
  /** UTF-16 units of the text before it. */
  readonly start: number;
  readonly statement: Statement;
  /** With the lexis of the standard, or why it can not go on. */
  readonly forwarded: Result<string, ErrorReply>;
}

/** The statements of a text in order; empty when there is none in it. */
export type TextReading = Result<readonly ReadStatement[], TooManyStatements>;

export type TextReader = (sql: string) => TextReading;

/** One reader may serve all connections of a listener. */
export function textReader(): TextReader {
  return remembered(readText, { textsMax: rememberedTexts, lengthMax: rememberedLengthMax });
}

function readText(sql: string): TextReading {
  const slices = splitStatements(sql, "mysql", statementsPerTextMax);
  if (!slices.ok) return slices;
  return ok(slices.value.map(({ start, end }) => readOne(sql.slice(start, end), start)));
}

/** A text that is known to be one statement. */
export function readOne(source: string, start = 0): ReadStatement {
  return new Read(source, start);
}

/** A class: an object literal with accessors is a table of names, from which its fields would be searched each time. */
class Read implements ReadStatement {
  readonly source: string;
  readonly start: number;
  #statement: Statement | undefined;
  #forwarded: Result<string, ErrorReply> | undefined;

  constructor(source: string, start: number) {
    this.source = source;
    this.start = start;
  }

  get statement(): Statement {
    return (this.#statement ??= readStatement(this.source, "mysql"));
  }

  get forwarded(): Result<string, ErrorReply> {
    return (this.#forwarded ??= forwardedSql(this.source));
  }
}

/** The statement that the engine is asked. It is another one than the client's, because its text is written anew. */
export function forwardedStatement(sql: string): Statement {
  return readStatement(sql, forwardedDialect);
}
