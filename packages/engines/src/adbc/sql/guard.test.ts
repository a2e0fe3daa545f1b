import { describe, expect, it } from "vitest";
import { judgeStatement } from "./guard.ts";
import { profileOf } from "../profile.ts";
import type { DriverName } from "../config.ts";

describe("judgeStatement", () => {
  it("keeps SQLite away from every file but its own, however the text is dressed", () => {
    for (const sql of [
      "attach 'x' as y",
      "/* a */ ATTACH 'x' as y",
      "--a\rselect 1\nattach 'x' as y",
      "\ufeffattach 'x' as y",
      "vacuum into 'x'",
      "pragma temp_store_directory = 'x'",
      "explain pragma temp_store_directory = 'x'",
    ]) {
      expect([sql, codeOf("sqlite", sql)]).toEqual([sql, "query.permission"]);
    }
    expect(codeOf("sqlite", "selec 1")).toBeUndefined();
    expect(codeOf("sqlite", "with a as (select 1) select * from a")).toBeUndefined();
  });

  it("keeps Snowflake's driver from moving files of this host", () => {
    for (const sql of [
      "put file:///etc/passwd @~",
      "  get @~ file:///tmp",
      "// x\nput file:///a @~",
    ]) {
      expect([sql, codeOf("snowflake", sql)]).toEqual([sql, "query.permission"]);
    }
    expect(codeOf("snowflake", "copy into t from @stage")).toBeUndefined();
  });

  it("lets nothing change a connection that another session gets", () => {
    for (const sql of ["set x = 1", "prepare p as select 1", "begin", "discard all"]) {
      expect(codeOf("postgresql", sql)).toBeDefined();
    }
    const created = judgeStatement(profileOf("snowflake"), "create table t (a int)", false);
    expect(created.ok && created.value.leaves).toBe(true);
    const read = judgeStatement(profileOf("snowflake"), "select 1", false);
    expect(read.ok && read.value.leaves).toBe(false);
  });

  it.each([
    ["postgresql", "create temp table t (a int)"],
    ["postgresql", "CREATE OR REPLACE /* x */ TEMPORARY VIEW v AS SELECT 1"],
    ["postgresql", "create global temporary table t (a int)"],
    ["postgresql", "create table pg_temp.t (a int)"],
    ["postgresql", 'create table "pg_temp".t (a int)'],
    ["postgresql", "create temp table t (a int) on commit delete rows"],
    ["postgresql", "create temp table t (a text default 'on commit drop')"],
    ["postgresql", "create temp sequence s"],
    ["postgresql", "create function pg_temp.f() returns int language sql as 'select 1'"],
    ["postgresql", "with a as (select 1) select * into temp t from a"],
    ["postgresql", "explain analyze create temp table t as select 1"],
    ["postgresql", "do $$ begin create temp table t (a int); end $$"],
    ["postgresql", "do $x$ begin drop table if exists t; create temp table t (a int); end $x$"],
    ["postgresql", "do 'begin create temp table t (a text default ''x''); end'"],
    ["postgresql", "do $$ begin perform set_config('a.b', '1', false); end $$"],
    ["postgresql", "do $$ begin perform pg_advisory_lock(1); end $$"],
    ["postgresql", "select pg_advisory_lock(1)"],
    ["postgresql", 'select "pg_try_advisory_lock"(1)'],
    ["postgresql", "select setseed(0.5)"],
    ["postgresql", "listen x"],
    ["postgresql", "load 'auto_explain'"],
    ["snowflake", "create local temp table t (a int)"],
    ["sqlite", "create table temp.t (a)"],
    ["flightsql", "create temporary table t (a int)"],
  ] as const)(
    "refuses what the client's later statements would not find: %s, %s",
    (driver, sql) => {
      for (const pinned of [false, true]) {
        expect(codeOf(driver, sql, pinned)).toBe("query.unsupported");
      }
    },
  );

  it("takes a temporary table that ends with its transaction, in one", () => {
    for (const sql of [
      "create temp table t (a int) on commit drop",
      "CREATE TEMPORARY TABLE t ON /* x */ COMMIT\nDROP AS SELECT 1",
      "create table pg_temp.t (a int) on commit drop",
      "create temp table pg_temp.t (a int) on commit drop",
    ]) {
      expect([sql, codeOf("postgresql", sql, true)]).toEqual([sql, undefined]);
      expect([sql, codeOf("postgresql", sql)]).toEqual([sql, "query.unsupported"]);
    }
  });

  it("takes what leaves nothing behind", () => {
    for (const sql of [
      "create table temp (a int)",
      "create table t (temp int)",
      "insert into temp values (1)",
      "select 'create temp table'",
      "select pg_advisory_xact_lock(1)",
      "select 'pg_advisory_lock'",
      "select setseed(0.5), random()",
      "do $$ begin create temp table t (a int); insert into u table t; drop table t; end $$",
      "do $$ begin perform set_config('a.b', '1', true); end $$",
    ]) {
      expect([sql, codeOf("postgresql", sql)]).toEqual([sql, undefined]);
    }
  });

  it("refuses several statements for every driver", () => {
    for (const driver of ["postgresql", "sqlite", "snowflake", "flightsql", "duckdb"] as const) {
      expect(codeOf(driver, "delete from t; select 1")).toBe("query.unsupported");
    }
  });

  it("waits for rows behind RETURNING, and for a count otherwise", () => {
    const answers = (sql: string) => {
      const judged = judgeStatement(profileOf("postgresql"), sql, false);
      return judged.ok ? judged.value.answers : judged.error.code;
    };
    expect(answers("insert into t values (1) returning a")).toBe("rows");
    expect(answers("insert into t values ('returning')")).toBe("count");
    expect(answers("show search_path")).toBe("rows");
  });
});

function codeOf(driver: DriverName, sql: string, pinned = false): string | undefined {
  const judged = judgeStatement(profileOf(driver), sql, pinned);
  return judged.ok ? undefined : judged.error.code;
}
