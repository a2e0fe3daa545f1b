/** What a statement reads of tables, as far as its words say: whether the server can be asked for a plan of it. */
import { classifyStatement } from "@gateway/core/sql/classify/classify.ts";
import type { StatementKind } from "@gateway/core/sql/classify/statementKind.ts";
import { openSql, upperWord } from "@gateway/core/sql/lex/cursor.ts";
import { nextSignificant } from "@gateway/core/sql/lex/lex.ts";
import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";

/** `planned`: EXPLAIN takes it. `unknown`: it may read tables, and the server has no plan to show. */
export type Scanning = "nothing" | "planned" | "unknown";

const planned: ReadonlySet<StatementKind> = new Set<StatementKind>([
  "select",
  "insert",
  "update",
  "delete",
  "merge",
  "declare",
  "execute",
]);

/** A FETCH reads what its cursor was judged for. */
const nothing: ReadonlySet<StatementKind> = new Set<StatementKind>([
  "show",
  "set",
  "reset",
  "use",
  "prepare",
  "deallocate",
  "describe",
  "discard",
  "fetch",
  "close",
  "kill",
]);

/** Names of statements that read no table, among kinds of which others do. */
const nothingByTag: ReadonlySet<string> = new Set([
  ...[
    "TABLE",
    "VIEW",
    "SCHEMA",
    "INDEX",
    "FUNCTION",
    "PROCEDURE",
    "TRIGGER",
    "SEQUENCE",
    "TYPE",
  ].map((object) => `DROP ${object}`),
  ...["VIEW", "SCHEMA", "FUNCTION", "PROCEDURE", "TRIGGER", "SEQUENCE", "TYPE", "ROLE", "USER"].map(
    (object) => `CREATE ${object}`,
  ),
  "DROP MATERIALIZED VIEW",
  "TRUNCATE",
  "TRUNCATE TABLE",
  "COMMENT",
  "GRANT",
  "REVOKE",
  "COPY FROM",
  "LISTEN",
  "UNLISTEN",
  "NOTIFY",
  "LOCK",
]);

/** Of one statement. A long text is unknown, one that may be read in two ways, and one that its words do not decide. */
export function scanningOf(sql: string): Scanning {
  // Under EXPLAIN it is another text, which would be read in one go.
  if (sql.length > longTextUnits) return "unknown";
  const { kind, tag, doubt } = classifyStatement(sql, "postgres");
  if (doubt !== undefined) return "unknown";
  if (planned.has(kind)) return "planned";
  if (nothing.has(kind) || nothingByTag.has(tag)) return "nothing";
  if (kind === "explain") return holds(sql, ["ANALYZE", "ANALYSE"]) ? "unknown" : "nothing";
  if (tag === "CREATE MATERIALIZED VIEW") return "planned";
  // Its columns stand in brackets, with whatever is GENERATED ALWAYS AS.
  if (tag === "CREATE TABLE") return holds(sql, ["AS"], 0) ? "planned" : "nothing";
  return "unknown";
}

/** Whether one of the words stands there, within at most so many brackets. */
function holds(
  sql: string,
  words: readonly string[],
  depthMax = Number.POSITIVE_INFINITY,
): boolean {
  const cursor = openSql(sql, "postgres");
  let depth = 0;
  while (nextSignificant(cursor)) {
    if (cursor.kind === "open") depth += 1;
    if (cursor.kind === "close") depth -= 1;
    if (cursor.kind === "word" && depth <= depthMax && words.includes(upperWord(cursor)))
      return true;
  }
  return false;
}
