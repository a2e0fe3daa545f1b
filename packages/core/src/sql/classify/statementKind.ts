/** The kinds of statements and the words they begin with. Data only; `classify.ts` reads it. */
import type { Dialect } from "../dialect.ts";

/** What a statement does, as far as its words say. */
export type StatementKind =
  /** Also `VALUES`, `TABLE t`, `FROM t`, `PIVOT`, `SUMMARIZE`. */
  | "select"
  | "show"
  | "set"
  | "reset"
  | "use"
  | "begin"
  /** Also `END` and `PREPARE TRANSACTION`: the transaction is over afterwards. */
  | "commit"
  /** Also `ABORT`. `ROLLBACK TO` is a savepoint. */
  | "rollback"
  /** `SAVEPOINT`, `RELEASE`, `ROLLBACK TO`: the transaction goes on. */
  | "savepoint"
  | "prepare"
  /** Also ClickHouse's `EXECUTE AS`, which changes the user; its tag shows it. */
  | "execute"
  | "deallocate"
  | "explain"
  /** Also MySQL's `REPLACE INTO`. */
  | "insert"
  | "update"
  | "delete"
  | "merge"
  /** Whatever changes objects, rights or files of the server: also `GRANT`, `ATTACH`, `INSTALL`, `ANALYZE`. */
  | "ddl"
  /** `CALL`, `DO`, `EXEC`. */
  | "call"
  /** Moves data between tables and files: also `EXPORT`, `IMPORT`, `LOAD DATA`, Snowflake's `PUT` and `GET`. */
  | "copy"
  | "describe"
  | "discard"
  | "declare"
  /** Also `MOVE`. */
  | "fetch"
  | "close"
  | "kill"
  /** None of these; a policy should refuse it. */
  | "unknown"
  /** Nothing but white space, comments and semicolons. */
  | "empty";

const kindOfWord: ReadonlyMap<string, StatementKind> = new Map<string, StatementKind>([
  ...wordsOf("select", "SELECT VALUES TABLE FROM PIVOT UNPIVOT SUMMARIZE"),
  ...wordsOf("show", "SHOW"),
  ...wordsOf("set", "SET"),
  ...wordsOf("reset", "RESET"),
  ...wordsOf("use", "USE"),
  ...wordsOf("begin", "BEGIN START"),
  ...wordsOf("commit", "COMMIT END"),
  ...wordsOf("rollback", "ROLLBACK ABORT"),
  ...wordsOf("savepoint", "SAVEPOINT RELEASE"),
  ...wordsOf("prepare", "PREPARE"),
  ...wordsOf("execute", "EXECUTE"),
  ...wordsOf("deallocate", "DEALLOCATE"),
  ...wordsOf("explain", "EXPLAIN"),
  ...wordsOf("insert", "INSERT REPLACE UPSERT"),
  ...wordsOf("update", "UPDATE"),
  ...wordsOf("delete", "DELETE"),
  ...wordsOf("merge", "MERGE"),
  ...wordsOf(
    "ddl",
    "CREATE ALTER DROP TRUNCATE RENAME COMMENT GRANT REVOKE DENY REFRESH UNDROP EXCHANGE",
  ),
  ...wordsOf(
    "ddl",
    "ATTACH DETACH INSTALL LOAD ANALYZE VACUUM REINDEX CLUSTER CHECKPOINT OPTIMIZE REASSIGN SECURITY",
  ),
  ...wordsOf("call", "CALL DO EXEC"),
  ...wordsOf("copy", "COPY EXPORT IMPORT UNLOAD PUT GET"),
  ...wordsOf("describe", "DESCRIBE DESC"),
  ...wordsOf("discard", "DISCARD"),
  ...wordsOf("declare", "DECLARE"),
  ...wordsOf("fetch", "FETCH MOVE"),
  ...wordsOf("close", "CLOSE"),
  ...wordsOf("kill", "KILL"),
]);

/** Words that begin a statement only for some engines; elsewhere they are unknown. */
const foreignWords: ReadonlyMap<string, readonly Dialect[]> = new Map<string, readonly Dialect[]>([
  ["REPLACE", ["mysql", "generic"]],
  ["PUT", ["generic"]],
  ["GET", ["generic"]],
  ["RESET", ["postgres", "duckdb", "trino", "generic"]],
  ["SUMMARIZE", ["duckdb", "generic"]],
  ["PIVOT", ["duckdb", "generic"]],
  ["UNPIVOT", ["duckdb", "generic"]],
  ["FROM", ["duckdb", "clickhouse", "generic"]],
]);

/** The kind a first word announces, in upper case; `unknown` when the dialect has no such statement. */
export function kindOfFirstWord(word: string, dialect: Dialect): StatementKind {
  const dialects = foreignWords.get(word);
  if (dialects !== undefined && !dialects.includes(dialect)) return "unknown";
  return kindOfWord.get(word) ?? "unknown";
}

/** Kinds whose text alone says that data, objects or files change. */
export const writingKinds: ReadonlySet<StatementKind> = new Set([
  "insert",
  "update",
  "delete",
  "merge",
  "ddl",
  "copy",
  "call",
]);

function wordsOf(
  kind: StatementKind,
  words: string,
): readonly (readonly [string, StatementKind])[] {
  return words.split(" ").map((word) => [word, kind] as const);
}
