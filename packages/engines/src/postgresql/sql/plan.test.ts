import { describe, expect, it } from "vitest";
import { plannedScans } from "./plan.ts";
import { scanningOf } from "./scanning.ts";

const table = { Schema: "s", "Relation Name": "t" };
const byKey = { "Node Type": "Index Scan", ...table, "Total Cost": 8 };
const all = { "Node Type": "Seq Scan", ...table, "Total Cost": 500 };
const other = Number.POSITIVE_INFINITY;

function scansOf(plan: object) {
  return plannedScans(JSON.stringify([{ Plan: plan }]));
}

describe("plannedScans", () => {
  it("counts all of a table, and of an index what its planner says", () => {
    expect(scansOf(all)).toMatchObject([
      { schema: "s", relation: "t", whole: true, costMax: other },
    ]);
    expect(scansOf(byKey)).toMatchObject([{ whole: false, costMax: 8 }]);
    expect(scansOf({ "Node Type": "Limit", "Total Cost": 3, Plans: [all] })).toMatchObject([
      { whole: true, costMax: 3 },
    ]);
    expect(scansOf({ "Node Type": "Result" })).toEqual([]);
  });

  it("counts an index scan as often as it runs, and as all there is where nobody knows how often", () => {
    const outer = { "Node Type": "Values Scan", "Parent Relationship": "Outer", "Plan Rows": 10 };
    const inner = { ...byKey, "Parent Relationship": "Inner" };
    const loop = { "Node Type": "Nested Loop", Plans: [outer, inner] };
    expect(scansOf(loop)).toMatchObject([{ costMax: 80 }]);
    const gathered = { "Node Type": "Gather", "Workers Planned": 2, Plans: [loop] };
    expect(scansOf(gathered)).toMatchObject([{ costMax: 240 }]);
    const sub = { ...byKey, "Parent Relationship": "SubPlan" };
    expect(scansOf({ ...all, Plans: [sub] })).toMatchObject([{}, { costMax: other }]);
    expect(scansOf({ "Node Type": "Recursive Union", Plans: [inner] })).toMatchObject([
      { costMax: other },
    ]);
  });

  it.each([
    ["a foreign table", [{ Plan: { ...all, "Node Type": "Foreign Scan" } }]],
    ["a scan that nobody knows", [{ Plan: { ...all, "Node Type": "Custom Scan" } }]],
    ["a scan without its table", [{ Plan: { "Node Type": "Seq Scan" } }]],
    ["a node without a name", [{ Plan: { Plans: [all] } }]],
    ["no plan", ["Utility Statement"]],
    ["no plans", []],
    ["children that are none", [{ Plan: { ...all, Plans: [1] } }]],
  ])("does not know of %s", (_, plans) => {
    expect(plannedScans(JSON.stringify(plans))).toHaveProperty("unknown");
  });

  it("does not know of what is no JSON", () => {
    expect(plannedScans("Seq Scan on t")).toHaveProperty("unknown");
  });
});

describe("scanningOf", () => {
  it.each([
    ["planned", "with a as (select 1) delete from t"],
    ["planned", "create temp table c as select * from t"],
    ["planned", "select * into c from t"],
    ["planned", "create materialized view m as select 1"],
    ["nothing", "create table t (a int generated always as (1) stored)"],
    ["nothing", "create view v as select * from t"],
    ["nothing", "explain select * from t"],
    ["nothing", "copy t (a) from stdin"],
    ["nothing", "show search_path"],
    ["nothing", "drop table t"],
    ["unknown", "explain (analyze) select * from t"],
    ["unknown", "copy binary t to stdout"],
    ["unknown", "copy t (a) x to stdout"],
    ["unknown", "copy t. to stdout"],
    ["unknown", "copy t"],
    ["unknown", "create index on t (a)"],
    ["unknown", "create extension x"],
    ["unknown", "refresh materialized view m"],
    ["unknown", "alter table t alter a type text"],
    ["unknown", "do $$ begin perform 1; end $$"],
    ["unknown", "call p()"],
    ["unknown", "select 1; drop table t"],
    ["unknown", `select '${"x".repeat(70_000)}'`],
  ])("takes for %s: %s", (scanning, sql) => {
    expect(scanningOf(sql).kind).toBe(scanning);
  });

  it.each([
    ["copy (select a from stdin) to stdout", "select a from stdin", 6],
    ["copy ((select ')' from t)) to program 'x' (format csv)", "(select ')' from t)", 6],
    ["copy t to stdout", "SELECT * FROM ONLY t", undefined],
    ['copy "s"."to" ( a, "b" ) to \'f\'', 'SELECT  a, "b"  FROM ONLY "s"."to"', undefined],
  ])("has for a plan of %s another statement", (sql, of, start) => {
    expect(scanningOf(sql)).toEqual({ kind: "planned", sql: of, start });
  });
});
