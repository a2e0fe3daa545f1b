import { describe, expect, it } from "vitest";
import { clientOf, resultOf, serverOf } from "../rig/mysql.ts";
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

const column = { name: "a", type: { kind: "text" }, nullable: true } as const;
const one = resultOf([column], [["x"]]);
const two = resultOf([column], [["x"], ["y"]]);

describe("FOUND_ROWS()", () => {
  it.each([
    ["explain select 1", 2],
    ["check table t", 2],
    ["show warnings", 2],
    ["show processlist", 2],
    ["show variables like 'no_such'", 0],
    ["with a as (select 1) select * from a", 1],
  ])("behind a query of two rows and %s is %i", async (sql, found) => {
    await using server = await serverOf({ answers: { "select 1": two, [sql]: one } });
    await using client = await clientOf(server);
    await client.query("select 1");
    await client.query(sql);
    expect((await client.query("select found_rows() as n"))[0]).toEqual([{ n: found }]);
  });
});
