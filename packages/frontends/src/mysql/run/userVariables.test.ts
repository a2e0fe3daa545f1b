import { describe, expect, it } from "vitest";
import { after } from "../rig/local.ts";
import { longTextUnits } from "@gateway/core/sql/reading/reading.ts";
import { sessionWordsAhead } from "../read/sessionWords.ts";
import { rowCountRefusal } from "../read/rowCount.ts";
import { variablesRefusal } from "./userVariables.ts";

describe("variablesRefusal", () => {
  const client = after("set @x = 5, @`odd` = 1");

  it.each([
    "select a from t where b = @x",
    "select a from t limit 1 /* @y */, @X",
    "select a into @new from t",
    "select @a := 1",
    "select @n := @n + 1 from t, (select @n := 0) r",
    "insert into t (b) values (@id /* x */ := 3)",
    "select @`a b` -- why\n:= 1",
    "select a into @'new' from t",
    'select @"X"',
    "select a into/* x */@new from t",
    "call p(1, @out)",
    "/* driver */ CALL p(@`o`)",
    "get diagnostics @n = number",
  ])("refuses %s, which would be answered without the value", (sql) => {
    expect(variablesRefusal(client, sql)?.errno).toBe(1235);
  });

  it.each([
    "select 'me@x.org' from t -- @x",
    "select '@n := 1', @other from t",
    "select @@x from t",
    "insert into t values ('into @x')",
    "call p('a@b.org')",
    "select 'call', @other from t",
  ])("leaves %s alone", (sql) => {
    expect(variablesRefusal(client, sql)).toBeUndefined();
  });

  it.each([
    ["reads one", "select @x, ", 1235],
    ["sets one", "select @n := 1, ", 1235],
    ["sets one behind spaces", `select 1 into${" ".repeat(40_000)}@y from t where 1 in (`, 1235],
    ["names many", `select ${many(1_100)} from t where @x in (`, 1235],
    ["holds an address", "select 'me@x.org', ", undefined],
  ])("finds what was read ahead in steps of a long text that %s", (_what, begin, errno) => {
    const sql = `${begin}${"1, ".repeat(longTextUnits)}1`;
    let steps = 0;
    for (const _ of sessionWordsAhead(sql, true)) steps += 1;
    // Two tokens for each number, 512 a step.
    expect(steps).toBeGreaterThan(200);
    expect([...sessionWordsAhead(sql, true)]).toEqual([]);
    expect(variablesRefusal(client, sql)?.errno).toBe(errno);
  });

  it("walks no long text that can not mean a variable or a count", () => {
    const plain = `select 'me@x.org', ${"1, ".repeat(longTextUnits)}1`;
    const looks = [...sessionWordsAhead(plain, false)].length;
    expect(looks).toBeLessThan(20);
    const counted = `${plain}, row_count()`;
    expect([...sessionWordsAhead(counted, false)].length).toBeGreaterThan(200);
    expect(rowCountRefusal(counted)?.errno).toBe(1235);
  });
});

function many(count: number): string {
  return Array.from({ length: count }, (_, index) => `@v${index}`).join(", ");
}
