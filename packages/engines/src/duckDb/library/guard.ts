/**
 * Decides whether a statement may go to DuckDB, and as what.
 *
 * Clients may read and write tables; they may not reach the host's files beyond the allowed
 * directories, other databases, extensions, or settings. The engine's own locks hold most of that
 * (see options.ts); what they leave open is refused here: COPY TO, EXPORT, ATTACH, INSTALL, LOAD, and
 * the functions of refusedFunctions.ts, wherever they hide.
 *
 * Two readers must agree. This one goes by a list of what is allowed, so a text it does not understand
 * is refused; and it says which kinds of statement DuckDB's own parser may find, which the binding
 * checks before anything runs.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { classifyStatement, type StatementClass } from "@gateway/core/sql/classify/classify.ts";
import { openSql, upperWord, type SqlCursor } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { readLongText, type TokenReader } from "@gateway/core/sql/longText.ts";
import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";
import type { Steps } from "@gateway/core/sql/reading/steps.ts";
import type { ExpectedStatement } from "../../native/message.ts";
import { nameOf, readWords, WordsReader, type Words } from "./guardWords.ts";
import { harmlessPragmas } from "./refusedFunctions.ts";
import { statementTypes } from "./statementTypes.ts";

/** A statement that may go to the engine. */
export interface Guarded {
  /** `rows`: the result is the answer. `count`: the engine says how many rows changed, if anything. */
  readonly answers: "rows" | "count";
  /** Upper-case name for command tags; undefined for a plain query. */
  readonly updateType: string | undefined;
  /** Rows or objects may change. */
  readonly writes: boolean;
  readonly expected: ExpectedStatement;
}

/** Where a statement would run. */
export interface GuardContext {
  /** In a transaction of its own connection, where temporary objects live to the next statement. */
  readonly pinned: boolean;
}

type Judged = Result<Guarded, GatewayError>;

/** Judges one statement. Refuses with `query.permission`, `query.unsupported`, `query.transaction` or `query.syntax`. */
export function guardStatement(sql: string, context: GuardContext): Judged {
  // The driver takes text up to the first NUL, so anything behind one would be judged and not run.
  if (sql.includes("\0")) return refuse("query.syntax", "the text holds a NUL character");
  const found = classifyStatement(sql, "duckdb");
  if (found.kind === "empty") return refuse("query.syntax", "the text holds no statement");
  if (found.doubt === "severalStatements") {
    return refuse("query.unsupported", "one statement at a time; the text holds several");
  }
  const words = readWords(sql);
  if (words.refusedFunction !== undefined) {
    return refuse("query.permission", `the function ${words.refusedFunction} may not be called`);
  }
  if (words.longestRun > runMax) {
    return refuse("query.syntax", `more than ${runMax} operators and comments in a row`);
  }
  // A text that this lexer can not read goes on only as far as the engine's parser, for its message.
  if (found.doubt !== undefined) return ok(unreadable);
  return judge(found, words, { sql, context });
}

/**
 * DuckDB's scanner reads a run of operators and comments again from each of them on: 128 KB keep it busy for
 * 15 seconds, in which no cancel reaches it.
 */
const runMax = 1_000;

interface Text {
  readonly sql: string;
  readonly context: GuardContext;
}

const T = statementTypes;

const unreadable: Guarded = {
  answers: "count",
  updateType: undefined,
  writes: true,
  expected: { types: [], expandedType: undefined },
};

function judge(found: StatementClass, words: Words, text: Text): Judged {
  switch (found.kind) {
    case "select":
    case "show":
    case "describe":
      return ok(rows([T.select], words));
    case "explain":
      return judgeExplained(text);
    case "insert":
      return ok(change(found, words, T.insert));
    case "update":
      return ok(change(found, words, T.update));
    case "delete":
      return ok(change(found, words, T.delete));
    case "merge":
      return ok(change(found, words, T.mergeInto));
    case "call":
      return found.firstWord === "CALL" ? ok(rows([T.call, T.select], words)) : ok(unreadable);
    case "copy":
      return judgeCopy(found, words);
    case "ddl":
      return judgeDefinition(found, words, text.context);
    case "unknown":
      return words.head[0] === "PRAGMA" ? judgePragma(text.sql) : ok(unreadable);
    case "set":
    case "reset":
      return refuse("query.permission", "the settings of the engine are locked");
    case "use":
      return refuse(
        "query.unsupported",
        "the catalog and schema of the session are chosen with USE alone",
      );
    case "begin":
    case "commit":
    case "rollback":
    case "savepoint":
      return refuse("query.transaction", `${found.tag} is not possible here`);
    case "prepare":
    case "execute":
    case "deallocate":
      return refuse(
        "query.unsupported",
        `${found.tag} as text; use prepared statements of the protocol`,
      );
    case "discard":
    case "declare":
    case "fetch":
    case "close":
    case "kill":
      return refuse("query.unsupported", `DuckDB has no ${found.tag}`);
    case "empty":
      return refuse("query.syntax", "the text holds no statement");
  }
}

function rows(types: readonly number[], { pivots }: Words): Guarded {
  // DuckDB makes a type for the columns of a PIVOT before it runs the query itself.
  const expandedType = pivots ? T.create : undefined;
  return {
    answers: "rows",
    updateType: undefined,
    writes: false,
    expected: { types, expandedType },
  };
}

function change(found: StatementClass, words: Words, type: number): Guarded {
  return {
    answers: words.returning ? "rows" : "count",
    updateType: found.tag,
    writes: true,
    expected: { types: [type], expandedType: words.pivots ? T.create : undefined },
  };
}

function definition(found: StatementClass, types: readonly number[]): Judged {
  const expected = { types, expandedType: undefined };
  return ok({ answers: "count", updateType: found.tag, writes: true, expected });
}

function judgeDefinition(
  found: StatementClass,
  { head, pivots }: Words,
  { pinned }: GuardContext,
): Judged {
  switch (found.firstWord) {
    case "CREATE":
      if (found.tag === "CREATE SECRET") return refuseSecret();
      if (!pinned && isTemporary(head)) {
        return refuse("query.unsupported", "temporary objects live in a transaction only");
      }
      return ok({
        answers: "count",
        updateType: found.tag,
        writes: true,
        expected: { types: [T.create], expandedType: pivots ? T.create : undefined },
      });
    case "DROP":
      return found.tag === "DROP SECRET" ? refuseSecret() : definition(found, [T.drop]);
    case "ALTER":
    case "COMMENT":
      return definition(found, [T.alter]);
    case "TRUNCATE":
      return definition(found, [T.delete]);
    case "ANALYZE":
    case "VACUUM":
      return definition(found, [T.vacuum, T.analyze]);
    case "CHECKPOINT":
      return definition(found, [T.call]);
    default:
      return refuse("query.permission", `${found.firstWord} is not permitted`);
  }
}

/** `CREATE [OR REPLACE] TEMP …`; a table may be called `temp`, which then follows the kind of object. */
function isTemporary(head: readonly string[]): boolean {
  const at = head[1] === "OR" && head[2] === "REPLACE" ? 3 : 1;
  return ["TEMP", "TEMPORARY", "LOCAL"].includes(head[at] ?? "");
}

/** Only from a file into a table; the engine itself holds the file to the allowed directories. */
function judgeCopy(found: StatementClass, { to }: Words): Judged {
  if (found.tag !== "COPY FROM" || to)
    return refuse("query.permission", `${found.tag} is not permitted`);
  return definition(found, [T.copy]);
}

/** The statement behind `EXPLAIN` must be one that may run, because `ANALYZE` runs it. */
function judgeExplained({ sql, context }: Text): Judged {
  const inner = explainedIn(sql);
  if (inner === undefined) return ok(unreadable);
  const found = classifyStatement(inner, "duckdb");
  if (found.kind === "explain") return ok(unreadable);
  const words = readWords(inner);
  const judged = judge(found, words, { sql: inner, context });
  if (!judged.ok) return judged;
  if (judged.value.expected.types.length === 0) return judged;
  return ok({ ...rows([T.explain], words), writes: judged.value.writes });
}

/** The text behind `EXPLAIN`, `ANALYZE` and options in brackets. */
function explainedIn(sql: string): string | undefined {
  const cursor = openSql(sql, "duckdb");
  if (!nextSignificant(cursor) || upperWord(cursor) !== "EXPLAIN") return undefined;
  if (!nextSignificant(cursor)) return undefined;
  if (analyzeWords.has(upperWord(cursor)) && !nextSignificant(cursor)) return undefined;
  if (cursor.kind !== "open") return sql.slice(cursor.start);
  const start = cursor.start;
  if (!nextSignificant(cursor) || !optionWords.has(upperWord(cursor))) return sql.slice(start);
  do {
    if (!nextSignificant(cursor)) return undefined;
  } while (!closes(cursor));
  return nextSignificant(cursor) ? sql.slice(cursor.start) : undefined;
}

function closes(cursor: SqlCursor): boolean {
  return cursor.kind === "close";
}

const analyzeWords: ReadonlySet<string> = new Set(["ANALYZE", "ANALYSE"]);
const optionWords: ReadonlySet<string> = new Set(["FORMAT", "ANALYZE", "ANALYSE"]);

/** A pragma that only shows something: a name on the list, alone or with arguments in brackets. */
function judgePragma(sql: string): Judged {
  const cursor = openSql(sql, "duckdb");
  nextSignificant(cursor);
  if (!nextSignificant(cursor)) return ok(unreadable);
  const name = nameOf(cursor) ?? "";
  const more = nextSignificant(cursor);
  const shows =
    harmlessPragmas.has(name) && (!more || cursor.kind === "open" || cursor.kind === "semicolon");
  if (!shows) return refuse("query.permission", `the pragma ${name} is not permitted`);
  const expected = { types: [T.select, T.pragma], expandedType: undefined };
  return ok({ answers: "rows", updateType: undefined, writes: false, expected });
}

/** What `guardStatement` asks of a long text, for whoever walks it anyway. Undefined when it is known. */
export function guardAlong(sql: string): TokenReader | undefined {
  if (readWords.knows(sql)) return undefined;
  const reader = new WordsReader(sql);
  return { token: (cursor) => reader.token(cursor), end: () => readWords.put(sql, reader.words) };
}

/** Reads of a long text, in steps, what `guardStatement` asks of it. */
export function* guardAhead(sql: string): Steps<void> {
  yield* readWords.ahead(sql);
  const inner = explainedIn(sql);
  if (inner === undefined || inner.length <= longTextUnits) return;
  yield* readLongText(inner, "duckdb", Number.POSITIVE_INFINITY, guardAlong(inner));
  yield* readWords.ahead(inner);
}

function refuseSecret(): Judged {
  return refuse("query.permission", "secrets of the engine are not for clients");
}

function refuse(code: GatewayError["code"], message: string): Judged {
  return err(gatewayError(code, { message }));
}
