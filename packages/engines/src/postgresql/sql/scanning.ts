/** What a statement reads of tables, as far as its words say: whether the server can be asked for a plan of it. */
import { classifyStatement } from "@gateway/core/sql/classify/classify.ts";
import type { StatementKind } from "@gateway/core/sql/classify/statementKind.ts";
import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";
import { holds, readsNoTable } from "../../scanning.ts";
import { copiedQuery } from "./copyTarget.ts";

/** `unknown`: it may read tables, and the server has no plan to show. */
export type Scanning =
  | { readonly kind: "nothing" }
  | { readonly kind: "unknown" }
  | {
      /** EXPLAIN takes `sql`, which is the statement from `start` on, or one that reads the same where that is undefined. */
      readonly kind: "planned";
      readonly sql: string;
      readonly start: number | undefined;
    };

const isUnknown: Scanning = { kind: "unknown" };
const isNothing: Scanning = { kind: "nothing" };

const planned: ReadonlySet<StatementKind> = new Set<StatementKind>([
  "select",
  "insert",
  "update",
  "delete",
  "merge",
  "declare",
  "execute",
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
  if (sql.length > longTextUnits) return isUnknown;
  const { kind, tag, doubt } = classifyStatement(sql, "postgres");
  if (doubt !== undefined) return isUnknown;
  const whole: Scanning = { kind: "planned", sql, start: 0 };
  if (planned.has(kind)) return whole;
  if (readsNoTable.has(kind) || nothingByTag.has(tag)) return isNothing;
  if (kind === "explain")
    return holds(sql, "postgres", ["ANALYZE", "ANALYSE"]) ? isUnknown : isNothing;
  if (tag === "CREATE MATERIALIZED VIEW") return whole;
  // Its columns stand in brackets, with whatever is GENERATED ALWAYS AS.
  if (tag === "CREATE TABLE") return holds(sql, "postgres", ["AS"], 0) ? whole : isNothing;
  const copied = tag === "COPY TO" ? copiedQuery(sql) : undefined;
  return copied === undefined ? isUnknown : { kind: "planned", ...copied };
}
