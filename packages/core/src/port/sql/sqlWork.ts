/**
 * Work on SQL that needs the whole grammar of a dialect. It is done away from the thread that serves clients, because
 * a parser can take seconds for one text.
 */
import type { Result } from "../../result.ts";
import type { Dialect } from "../../sql/dialect.ts";
import type { SqlReading } from "./sqlReading.ts";

/** Each kind of work: what it is given and what it answers. Both are plain data, as they go to another thread. */
export interface SqlTasks {
  readonly parse: { readonly input: ParseInput; readonly output: ParsedText };
  /** The tables of one statement, read in several dialects: one answer for each. */
  readonly read: { readonly input: ReadInput; readonly output: readonly SqlReading[] };
  readonly translate: { readonly input: TranslateInput; readonly output: TranslatedText };
}

export interface ParseInput {
  readonly sql: string;
  readonly dialect: Dialect;
}

export interface ReadInput {
  readonly sql: string;
  readonly dialects: readonly Dialect[];
  /** Functions that the configuration lets pass beside the known ones, in lower case. */
  readonly functions: readonly string[];
  /** Whether the columns of each table are wanted. */
  readonly columns: boolean;
}

/** One statement in the grammar and the lexis of `source`. */
export interface TranslateInput {
  readonly sql: string;
  readonly source: Dialect;
  readonly target: Dialect;
  /** What the target has no words for, as far as the translator says so, is no translation. */
  readonly refuses: boolean;
  /** Everything that was not tested for the pair is no translation either. */
  readonly proves: boolean;
  /** `wanted`: the answer may be which tables' types count. Absent: it is written without them. */
  readonly types?: "wanted" | readonly TypedTable[];
}

/** A table as the statement names it, in lower case from the outermost part, with the source dialect's types. */
export interface TypedTable {
  readonly path: readonly string[];
  readonly columns: readonly { readonly name: string; readonly type: ColumnClass }[];
}

/** What counts of a column's type. */
export type ColumnClass = "bigint" | "double precision" | "numeric" | "text";

/**
 * `asWritten`: it asks for tables of `information_schema` alone, which frontends do in words that every engine reads.
 * `unread`: one of the two grammars does not know it. `unsupported`: the translator knows a part that the target has
 * nothing of the same meaning for. `untested`: `words` says what was not tested, without values. `typesWanted`: what it
 * becomes hangs on the types of these tables' columns, which are all that it names.
 */
export type TranslatedText =
  | { readonly kind: "translated"; readonly sql: string }
  | { readonly kind: "asWritten" | "unread" | "unsupported" }
  | { readonly kind: "untested"; readonly words: readonly string[] }
  | { readonly kind: "typesWanted"; readonly tables: readonly (readonly string[])[] };

/** `kinds`: what each statement of the text is, in the parser's words. A text that it does not understand is no failure of the work. */
export type ParsedText =
  | { readonly parsed: true; readonly kinds: readonly string[] }
  | { readonly parsed: false };

/**
 * `tooLong`: the text is not looked at. `busy`: too many wait already. `slow`: it took too long and was ended.
 * `broken`: the thread ended or could not start. `cancelled`: the client was over before its turn came.
 */
export type SqlWorkFault = "tooLong" | "busy" | "slow" | "broken" | "cancelled";

export interface SqlRequest<Task extends keyof SqlTasks> {
  readonly task: Task;
  readonly input: SqlTasks[Task]["input"];
  /** UTF-16 units of the text, for the limit. */
  readonly length: number;
  /** Users take turns. */
  readonly user: string;
  readonly signal: AbortSignal;
}

/** Its program is loaded with the first request and not before. Never rejects. */
export interface SqlWork {
  ask<Task extends keyof SqlTasks>(
    request: SqlRequest<Task>,
  ): Promise<Result<SqlTasks[Task]["output"], SqlWorkFault>>;
}
