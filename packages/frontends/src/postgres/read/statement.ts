/** The statements of a text as data: who answers each of them, and what its text says about how it is run. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Description } from "@gateway/core/query/event.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { remembered } from "@gateway/core/sql/reading/remembered.ts";
import type { Division } from "@gateway/core/sql/session/statement.ts";
import { openSql, upperWord } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { splitStatements } from "@gateway/core/sql/lex/split.ts";
import { readStatement, type Statement } from "@gateway/core/sql/statement.ts";
import { catalogSubject } from "./catalogStatement.ts";
import type { CopyForm } from "./copyForm.ts";
import { readCopy } from "./copyStatement.ts";
import type { Signal } from "./signalStatement.ts";
import { readCursor, readDeclare, type CursorStatement } from "./cursorStatement.ts";
import { readLocal, type LocalStatement } from "../commands/local.ts";

/** Who answers a statement. */
export type Kind =
  /** Nothing but white space and comments. */
  | { readonly kind: "empty" }
  | { readonly kind: "local"; readonly local: LocalStatement }
  /** BEGIN, COMMIT, ROLLBACK: the door answers it, and it has no result. */
  | { readonly kind: "transaction"; readonly ends: boolean }
  /** SAVEPOINT, RELEASE, ROLLBACK TO: the door answers it, and it has no result. */
  | { readonly kind: "division"; readonly division: Division }
  /**
   * `catalog`: it is about `pg_catalog` and the like, and nothing else. `session`: about the session alone. `live`:
   * also about sizes, statistics, sessions or locks, which only the engine knows.
   */
  | { readonly kind: "query"; readonly catalog?: "session" | "names" | "live" }
  /** COPY to the client: `sql` is the query whose rows are copied. */
  | { readonly kind: "copy"; readonly form: CopyForm }
  /** `sql` is the cursor's query. */
  | { readonly kind: "declare"; readonly name: string; readonly binary: boolean }
  | { readonly kind: "cursor"; readonly cursor: CursorStatement };

/** One statement of a text. */
export interface ReadStatement {
  /** The statement alone, without its semicolon; of a COPY or DECLARE the query in it. */
  readonly sql: string;
  /** What `sql` says, read with the first use: a text may hold thousands of statements, and fail at the first. */
  readonly statement: Statement;
  /** UTF-16 units of the client's text before it. */
  readonly start: number;
  readonly kind: Kind;
  /** It goes to a PostgreSQL server with its values and formats as they came, and its answer comes back so. */
  readonly relayed?: boolean | undefined;
  /** A SET that the server is asked about before it is kept: whether there is such a setting, and such a value. */
  readonly asked?: boolean;
  /** A change of settings that is relayed: others of its message undo it when they fail. */
  readonly together?: boolean | undefined;
  /** A COPY that is relayed. */
  readonly copies?: boolean | undefined;
  /** A FETCH that is relayed: its columns are those of whatever cursor has the name when it runs. */
  readonly varies?: boolean | undefined;
  /** A FETCH, MOVE or CLOSE that is relayed: of a portal that its client bound by the protocol, it is answered here. */
  readonly cursor?: CursorStatement | undefined;
  /** It signals a connection, of a server's or of this listener's. */
  readonly signal?: Signal | undefined;
  /** It names a function that signals connections, within a query. */
  readonly signals?: boolean | undefined;
  /** The whole statement and where it stands, where `sql` is only the query in it. */
  readonly whole?: { readonly sql: string; readonly start: number } | undefined;
}

/**
 * A class: an object literal with an accessor is a table of names, from which every field of it would be searched with
 * each query.
 */
export class Read implements ReadStatement {
  readonly sql: string;
  readonly start: number;
  readonly kind: Kind;
  readonly relayed: boolean | undefined;
  readonly together: boolean | undefined;
  readonly copies: boolean | undefined;
  readonly varies: boolean | undefined;
  readonly cursor: CursorStatement | undefined;
  readonly signal: Signal | undefined;
  readonly signals: boolean | undefined;
  readonly whole: ReadStatement["whole"];
  #statement: Statement | undefined;

  constructor(sql: string, start: number, kind: Kind, more: ReadMore = nothingMore) {
    this.sql = sql;
    this.start = start;
    this.kind = kind;
    this.relayed = more.relayed;
    this.together = more.together;
    this.copies = more.copies;
    this.varies = more.varies;
    this.cursor = more.cursor;
    this.signal = more.signal;
    this.signals = more.signals;
    this.whole = more.whole;
  }

  get statement(): Statement {
    return (this.#statement ??= readStatement(this.sql, "postgres"));
  }
}

type ReadMore = Partial<Omit<ReadStatement, "sql" | "start" | "kind" | "statement" | "asked">>;
const nothingMore: ReadMore = {};

/** A prepared statement. */
export interface Prepared extends ReadStatement {
  /** The client's whole text, for positions of errors. */
  readonly text: string;
  /** Object ids that the client gave; 0 or missing leaves the type open. */
  types: readonly number[];
  /** Asked for once, when somebody needs it. */
  description: Description | undefined;
  /** Types the text itself gives to parameters (`casts.ts`). Found once, when somebody needs them. */
  casts: ReadonlyMap<number, number> | undefined;
}

/** Cuts a text into its statements. Empty when it holds none. */
export type StatementReader = (text: string) => Result<readonly ReadStatement[], GatewayError>;

/** Remembers what it read of short texts. One reader serves all connections of a listener. */
export function statementReader(): StatementReader {
  return remembered(statementsOf, { textsMax: 256, lengthMax: 2_048 });
}

function statementsOf(text: string): Result<readonly ReadStatement[], GatewayError> {
  const slices = splitStatements(text, "postgres");
  if (!slices.ok) {
    const message = `more than ${slices.error.max} statements in one message`;
    return err(gatewayError("query.invalid", { sqlState: "54000", message }));
  }
  return ok(slices.value.map(({ start, end }) => statementOf(text.slice(start, end), start)));
}

const empty = readAs("", 0, { kind: "empty" });

/** The one statement a Parse message may hold. */
export function preparedOf(
  text: string,
  types: readonly number[],
  read: StatementReader,
): Result<Prepared, GatewayError> {
  const statements = read(text);
  if (!statements.ok) return statements;
  const [first = empty, second] = statements.value;
  if (second !== undefined) {
    const message = "cannot insert multiple commands into a prepared statement";
    return err(gatewayError("query.syntax", { message }));
  }
  return ok(preparedFrom(first, text, types));
}

/** The same for a statement that was read. */
export function preparedFrom(
  first: ReadStatement,
  text: string,
  types: readonly number[] = [],
): Prepared {
  const { statement } = first;
  return { ...first, statement, text, types, description: undefined, casts: undefined };
}

/** True for what a failed transaction still takes: its end, in whole or back to a savepoint. */
export function endsFailed({ kind }: ReadStatement): boolean {
  if (kind.kind === "transaction") return kind.ends;
  return kind.kind === "division" && kind.division.kind === "rollbackToSavepoint";
}

/**
 * True for a statement that must be undone when a later one of the same message or series fails, or that means
 * something only inside a transaction. Reads need none: each sees what is committed anyway.
 */
export function needsTransaction(read: ReadStatement): boolean {
  const { kind } = read;
  switch (kind.kind) {
    case "query":
      // A cursor of a server lives in a transaction.
      return read.statement.writes || read.statement.kind === "declare" || read.together === true;
    case "declare":
      return true;
    case "local":
      return kind.local.kind === "set" && kind.local.local;
    case "copy":
      return read.statement.writes;
    case "empty":
    case "transaction":
    case "division":
    case "cursor":
      return false;
  }
}

/** True for a statement after which the same text may have other types: all that does more than read and write rows. */
export function mayChangeTypes({ sql, kind }: ReadStatement): boolean {
  const [first = ""] = firstWords(sql);
  return kind.kind === "query" && !rowWords.has(first);
}

const rowWords: ReadonlySet<string> = new Set([
  "SELECT",
  "WITH",
  "VALUES",
  "TABLE",
  "INSERT",
  "UPDATE",
  "DELETE",
  "MERGE",
]);

/** `start` is where the statement stands in the client's text. */
function statementOf(sql: string, start: number): ReadStatement {
  const words = firstWords(sql);
  switch (words[0]) {
    case "COPY":
      return copyOf(sql, start);
    case "DECLARE":
      return declareOf(sql, start);
    case "FETCH":
    case "MOVE":
    case "CLOSE":
      return cursorOf(sql, start);
    default:
      return readAs(sql, start, kindOf(sql, words));
  }
}

/** What it asks of its transaction is not known, and would not be so. */
const unreadBegin = {
  kind: "refuse",
  error: gatewayError("query.syntax", {
    message: "BEGIN takes the modes of a transaction: its isolation, READ ONLY, DEFERRABLE",
  }),
} as const;

function kindOf(sql: string, words: readonly string[]): Kind {
  const local = readLocal(sql, words);
  if (local !== undefined) return { kind: "local", local };
  // Only these words need the whole text to be read: `ROLLBACK TO` ends no transaction.
  if (!transactionWords.has(words[0] ?? "")) {
    return queryOf(sql);
  }
  const { kind, session } = readStatement(sql, "postgres");
  switch (kind) {
    case "begin":
      if (session?.kind !== "begin") return { kind: "local", local: unreadBegin };
      return { kind: "transaction", ends: false };
    case "commit":
    case "rollback":
      return { kind: "transaction", ends: true };
    case "savepoint":
      return divisionOf(session);
    default:
      return { kind: "query" };
  }
}

function queryOf(sql: string): Kind {
  const catalog = catalogSubject(sql);
  if (catalog === undefined) return { kind: "query" };
  if (catalog !== "sessionLock") return { kind: "query", catalog };
  const message = "locks of a session are not kept: connections to the engine are shared";
  const hint = "Take the lock in a transaction, by pg_advisory_xact_lock.";
  const error = gatewayError("query.unsupported", { message, hint });
  return { kind: "local", local: { kind: "refuse", error } };
}

/** A statement that we can not read is left to the door, which refuses it. */
function divisionOf(found: Statement["session"]): Kind {
  switch (found?.kind) {
    case "savepoint":
    case "releaseSavepoint":
    case "rollbackToSavepoint":
      return { kind: "division", division: found };
    default:
      return { kind: "query" };
  }
}

function copyOf(sql: string, start: number): ReadStatement {
  const copy = readCopy(sql);
  if (copy === undefined) return readAs(sql, start, { kind: "query" });
  if (!copy.ok) return refused(sql, start, copy.error);
  const { value } = copy;
  const whole = { sql, start };
  return new Read(value.sql, start + value.start, { kind: "copy", form: value.form }, { whole });
}

function declareOf(sql: string, start: number): ReadStatement {
  const declared = readDeclare(sql);
  if (declared === undefined) return readAs(sql, start, { kind: "query" });
  if (!declared.ok) return refused(sql, start, declared.error);
  const { name, binary, sql: query, start: before } = declared.value;
  const whole = { sql, start };
  return new Read(query, start + before, { kind: "declare", name, binary }, { whole });
}

function cursorOf(sql: string, start: number): ReadStatement {
  const cursor = readCursor(sql);
  if (cursor === undefined) {
    const message = "this statement about a cursor can not be read";
    return refused(sql, start, gatewayError("query.syntax", { message }));
  }
  if (!cursor.ok) return refused(sql, start, cursor.error);
  return readAs(sql, start, { kind: "cursor", cursor: cursor.value });
}

function refused(sql: string, start: number, error: GatewayError): ReadStatement {
  return readAs(sql, start, { kind: "local", local: { kind: "refuse", error } });
}

function readAs(sql: string, start: number, kind: Kind): ReadStatement {
  return new Read(sql, start, kind);
}

const transactionWords: ReadonlySet<string> = new Set([
  "BEGIN",
  "START",
  "COMMIT",
  "END",
  "ROLLBACK",
  "ABORT",
  "PREPARE",
  "SAVEPOINT",
  "RELEASE",
]);

/**
 * The first two words in upper case; a token that is no word ends them. They tell most statements apart before
 * anything is read in earnest.
 */
export function firstWords(sql: string): readonly string[] {
  const words: string[] = [];
  const cursor = openSql(sql, "postgres");
  while (words.length < 2 && nextSignificant(cursor) && cursor.kind === "word") {
    words.push(upperWord(cursor));
  }
  return words;
}
