/** Cuts a text into its statements. `statement.ts` says where one ends. */
import { err, ok, type Result } from "../../result.ts";
import { openSql } from "./cursor.ts";
import type { Dialect } from "../dialect.ts";
import { readingsBy } from "../reading/reading.ts";
import { takeStatement, type StatementSlice } from "./statement.ts";
import type { Steps } from "../reading/steps.ts";

/** Most statements in one text. */
export const statementCountMax = 10_000;

/** The text holds more statements than allowed. */
export interface TooManyStatements {
  readonly code: "tooManyStatements";
  readonly max: number;
}

/**
 * The statements of a text in order, without semicolons and surrounding white space, empty ones left out.
 *
 * Comments before or inside a statement stay with it; a piece that holds only comments is no statement.
 * Memory is bounded by `statementCountMax`, time is linear in the text.
 */
export function splitStatements(
  sql: string,
  dialect: Dialect,
  countMax = statementCountMax,
): Result<readonly StatementSlice[], TooManyStatements> {
  const slices = slicesReading(dialect)(sql);
  return slices.length > countMax ? err({ code: "tooManyStatements", max: countMax }) : ok(slices);
}

/** The statements of texts, by dialect, up to one more than `statementCountMax`. Long ones are read by `longText.ts`. */
export const slicesReading = readingsBy(readSlices);

function* readSlices(sql: string, dialect: Dialect): Steps<readonly StatementSlice[]> {
  const cursor = openSql(sql, dialect);
  const slices: StatementSlice[] = [];
  for (let slice = takeStatement(cursor); slice !== undefined; slice = takeStatement(cursor)) {
    slices.push(slice);
    if (slices.length > statementCountMax) break;
    yield;
  }
  return slices;
}
