/** The tag that ends a statement: `SELECT 3`, `INSERT 0 2`, `CREATE TABLE`. */
import type { DoneEvent } from "@gateway/core/query/event.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";

const counted: ReadonlySet<string> = new Set([
  "SELECT",
  "UPDATE",
  "DELETE",
  "MERGE",
  "COPY",
  "FETCH",
  "MOVE",
]);

/** Statements that PostgreSQL answers with fewer words. */
const shownAs: ReadonlyMap<string, string> = new Map([
  ["RELEASE SAVEPOINT", "RELEASE"],
  ["ROLLBACK TO SAVEPOINT", "ROLLBACK"],
  ["LOCK", "LOCK TABLE"],
]);

/** Statements that fill what they make, which PostgreSQL answers with the number of rows. */
const filling: ReadonlySet<string> = new Set([
  "SELECT INTO",
  "CREATE TABLE AS",
  "CREATE MATERIALIZED VIEW AS",
]);

/** `rows` were sent; undefined for no result. `sql` gives the word where the engine named none. */
export function commandTag(
  { updateType, updateCount }: Pick<DoneEvent, "updateType" | "updateCount">,
  rows: number | undefined,
  sql: string,
): string {
  if (updateType === undefined)
    return rows === undefined ? readStatement(sql, "postgres").tag || "OK" : `SELECT ${rows}`;
  const shown = shownAs.get(updateType);
  if (shown !== undefined) return shown;
  // An engine's transaction begins with one word, whichever the client said.
  if (updateType === "BEGIN") return readStatement(sql, "postgres").tag || updateType;
  if (filling.has(updateType)) {
    return updateCount === undefined
      ? updateType.replace(" VIEW AS", " VIEW")
      : `SELECT ${updateCount}`;
  }
  const count = updateCount ?? rows ?? 0;
  // The zero was once an object id, and clients still expect it.
  if (updateType === "INSERT") return `INSERT 0 ${count}`;
  return counted.has(updateType) ? `${updateType} ${count}` : updateType;
}
