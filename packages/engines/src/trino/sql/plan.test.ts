import { describe, expect, it } from "vitest";
import { plannedBytes } from "./plan.ts";
import { scanningOf } from "./scanning.ts";

const estimate = { outputRowCount: 100, outputSizeInBytes: 5, cpuCost: 700 };
const scan = { name: "TableScan", estimates: [estimate], children: [] };
const remote = { name: "RemoteSource", estimates: [], children: [] };

function bytesOf(...fragments: readonly object[]) {
  return plannedBytes(JSON.stringify(Object.fromEntries(fragments.entries())));
}

describe("plannedBytes", () => {
  it("counts all scans of all fragments, each by what it hands over before its filter", () => {
    expect(bytesOf(scan)).toEqual({ bytes: 700 });
    const filtered = { ...scan, name: "ScanFilterProject", estimates: [estimate, { cpuCost: 9 }] };
    const join = { name: "InnerJoin", estimates: [], children: [filtered, remote] };
    expect(bytesOf({ name: "Output", children: [join] }, scan)).toEqual({ bytes: 1_400 });
    expect(bytesOf({ name: "Values", children: [] })).toEqual({ bytes: 0 });
  });

  it("counts a byte for each row where no column is read", () => {
    expect(bytesOf({ ...scan, estimates: [{ ...estimate, cpuCost: 0 }] })).toEqual({ bytes: 100 });
  });

  it.each([
    ["a table without statistics", { ...scan, estimates: [{ ...estimate, cpuCost: "NaN" }] }],
    ["one whose rows nobody counted", { ...scan, estimates: [{ cpuCost: 1 }] }],
    ["a scan without estimates", { ...scan, estimates: [] }],
    ["a table function", { name: "TableFunctionProcessor", estimates: [], children: [] }],
    ["what a connector deletes itself", { name: "TableDelete", estimates: [], children: [] }],
    ["a node without a name", { children: [scan] }],
    ["a node without children", { name: "Output" }],
    ["children that are none", { name: "Output", children: [1] }],
  ])("does not know of %s", (_, plan) => {
    expect(bytesOf(plan)).toHaveProperty("unknown");
    expect(bytesOf(scan, plan)).toHaveProperty("unknown");
  });

  it.each(["CALL system.p()", "[]", "{}", ""])("does not know of a plan that is %j", (text) => {
    expect(plannedBytes(text)).toHaveProperty("unknown");
  });
});

describe("scanningOf", () => {
  it.each([
    ["nothing", "create table t (a varchar default 'as')"],
    ["nothing", "create or replace view v as select * from t"],
    ["nothing", "show stats for (select * from t)"],
    ["nothing", "explain (type io) select * from t"],
    ["nothing", "alter table t add column a bigint"],
    ["nothing", "set session a = 1"],
    ["nothing", "drop table t"],
    ["unknown", "explain analyze verbose select * from t"],
    ["unknown", "alter table t execute optimize"],
    ["unknown", "refresh materialized view m"],
    ["unknown", "call system.p()"],
    ["unknown", "analyze t"],
    ["unknown", "select 1; select 2"],
    ["unknown", `select '${"x".repeat(70_000)}'`],
    ["unknown", "update t as u set a = 1"],
    ["unknown", "update t@branch set a = 1"],
    ["unknown", "update t set (a, b) = (1, 2)"],
    ["unknown", "update t set a = "],
    ["unknown", "merge into t using u, v on a = b when matched then delete"],
    ["unknown", "merge into t using u on case when a then b end when matched then delete"],
    ["unknown", "merge into t using u on a = b when matched then update set c = (select 1)"],
    ["unknown", "merge into t using u on a = ? when matched and c = ? then delete"],
    ["unknown", "merge into t using u"],
    ["unknown", "execute p using 1"],
    ["unknown", "insert into t@branch select 1"],
    ["unknown", "create table t with (x = ?) as select ?"],
  ])("takes for %s: %s", (scanning, sql) => {
    expect(scanningOf(sql).kind).toBe(scanning);
  });

  it.each([
    ["with a as (select 1) select * from a", "with a as (select 1) select * from a"],
    ["insert into t select ? from u", "select ? from u"],
    ['insert into c.s."t" (a, "b") values (1, 2)', "values (1, 2)"],
    ["insert into t (select 1)", "(select 1)"],
    ["insert into t (a) (table u)", "(table u)"],
    ["insert into t ((table u) union table v)", "((table u) union table v)"],
    ["delete from t where a in (table u)", "SELECT * from t where a in (table u)"],
    ["update t set a = 1", "SELECT *, 1 FROM t"],
    [
      'update c.s."t" set a = array[b, ?], "b" = (select max(c) from u) where d = f(?, 1)',
      'SELECT *, array[b, ?], (select max(c) from u) FROM c.s."t" where d = f(?, 1)',
    ],
    [
      "merge into c.t as x using u on x.a = u.a when matched then delete",
      "SELECT * FROM u LEFT JOIN c.t as x on x.a = u.a",
    ],
    [
      "merge into t x using (select ? as a) u join v on u.b = v.b on (x.a = ?) when not matched then insert values (1)",
      "SELECT * FROM (select ? as a) u join v on u.b = v.b LEFT JOIN t x on (x.a = ?)",
    ],
    ["create table t (a) with (x = 1) as select 1 as b", "select 1 as b"],
    ["create table if not exists t as (select 1) with no data", "(select 1) "],
    ["create table t as with a as (select 1) table a with data", "with a as (select 1) table a "],
  ])("has for a plan of %s the query %s", (sql, query) => {
    const scanning = scanningOf(sql);
    if (scanning.kind !== "planned") throw new Error(scanning.kind);
    const { start, own } = scanning;
    expect(scanning.sql).toBe(query);
    expect(sql.slice(start).startsWith(query.slice(own))).toBe(true);
  });
});
