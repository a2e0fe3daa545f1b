/** Which kinds of statement may run, by the numbers of DuckDB's own parser; and statements of ours. */
import type { StatementRequest } from "../../native/message.ts";
import type { Address } from "../../native/memory/native.ts";

/** DuckDB's numbers for kinds of statements (`duckdb_statement_type` of its C API), as far as any may run. */
export const statementTypes = {
  select: 1,
  insert: 2,
  update: 3,
  explain: 4,
  delete: 5,
  create: 7,
  alter: 9,
  transaction: 10,
  copy: 11,
  analyze: 12,
  drop: 15,
  pragma: 17,
  vacuum: 18,
  call: 19,
  set: 20,
  mergeInto: 30,
} as const;

/** A statement of the adapter itself. `database` is where a new connection is opened for it; undefined means the kept one. */
export function ownStatement(
  sql: string,
  database: Address | undefined,
  before: readonly string[] = [],
): StatementRequest {
  const { select, transaction } = statementTypes;
  const expected = { types: [select, transaction], expandedType: undefined };
  return { sql, parameters: [], database, before, expected };
}
