import { describe, expect, it } from "vitest";
import { foundBy } from "./found.ts";

describe("foundBy", () => {
  const upsert = "insert into t values (1) on duplicate key update a = 1";

  it.each([
    ["update t set a = a", 0, "Rows matched: 3  Changed: 0  Warnings: 0", 3],
    ["delete from t", 4, "", 4],
    ["insert into t values (1), (2)", 2, "Records: 2  Duplicates: 0  Warnings: 0", 2],
    // One row: new, changed, and as it was.
    [upsert, 1, "", 1],
    [upsert, 2, "", 2],
    [upsert, 0, "", 1],
    // Three rows: one new, one changed, one as it was.
    [upsert, 3, "Records: 3  Duplicates: 1  Warnings: 0", 4],
    ["insert ignore into t values (1)", 0, "", 0],
    ["INSERT LOW_PRIORITY IGNORE INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1", 0, "", 0],
  ])("of %s with %d and '%s' is %d", (sql, affectedRows, info, found) => {
    expect(foundBy({ affectedRows, info }, sql)).toBe(found);
  });
});
