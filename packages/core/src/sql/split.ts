/** Cuts a text into its statements. The rules for where one ends are in `statement.ts`. */
import { err, ok, type Result } from "../result.ts";
import { openSql } from "./cursor.ts";
import type { Dialect } from "./dialect.ts";
import { ReadAhead } from "./readAhead.ts";
import { takeStatement, type StatementSlice } from "./statement.ts";

/** Most statements in one text unless the caller says otherwise. */
const statementCountMax = 10_000;

/** Of long texts. */
export const slicesAhead = new ReadAhead<readonly StatementSlice[]>();

/** The text holds more statements than allowed. */
export interface TooManyStatements {
  readonly code: "tooManyStatements";
  readonly max: number;
}

/**
 * The statements of a text in order, without semicolons and surrounding white space, empty ones left out.
 *
 * Comments before or inside a statement stay with it; a piece that holds only comments is no statement.
 * Memory is bounded by `countMax`, time is linear in the text.
 */
export function splitStatements(
  sql: string,
  dialect: Dialect,
  countMax = statementCountMax,
): Result<readonly StatementSlice[], TooManyStatements> {
  const known = slicesAhead.get(sql, dialect);
  if (known !== undefined) {
    return known.length > countMax ? err({ code: "tooManyStatements", max: countMax }) : ok(known);
  }
  const cursor = openSql(sql, dialect);
  const slices: StatementSlice[] = [];
  for (let slice = takeStatement(cursor); slice !== undefined; slice = takeStatement(cursor)) {
    if (slices.length === countMax) return err({ code: "tooManyStatements", max: countMax });
    slices.push(slice);
  }
  return ok(slices);
}
