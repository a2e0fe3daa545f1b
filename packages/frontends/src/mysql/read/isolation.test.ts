import { describe, expect, it } from "vitest";
import { withOtherIsolation } from "./isolation.ts";

describe("withOtherIsolation", () => {
  it.each([
    [
      "select @@tx_isolation, @@GLOBAL.Transaction_Isolation as g from t",
      'select @@transaction_isolation AS "@@tx_isolation", @@GLOBAL.tx_isolation as g from t',
    ],
    ["select 1 where @@tx_isolation = 'x'", "select 1 where @@transaction_isolation = 'x'"],
    ["select '@@tx_isolation', tx_isolation", "select '@@tx_isolation', tx_isolation"],
    ["select @@sql_mode", undefined],
  ])("makes of %s what has the same columns", (sql, other) => {
    expect(withOtherIsolation(sql)).toBe(other);
  });
});
