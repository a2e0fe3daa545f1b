import { describe, expect, it } from "vitest";
import { rowCountRefusal } from "./rowCount.ts";

describe("rowCountRefusal", () => {
  it.each([
    "select 1, row_count()",
    "select ROW_COUNT /* x */ () + 1 from t",
    "select pi(), found_rows()",
  ])("refuses %s, which would be told the count of another statement", (sql) =>
    expect(rowCountRefusal(sql)?.errno).toBe(1235),
  );

  it.each(["select 'row_count()'", "select row_count from t", "select 1 -- row_count()"])(
    "leaves %s alone",
    (sql) => expect(rowCountRefusal(sql)).toBeUndefined(),
  );
});
