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

  it("refuses what would be gone for the client's next statement, and takes it in a transaction", () => {
    for (const [driver, sql] of [
      ["postgresql", "create temp table t (a int)"],
      ["postgresql", "CREATE OR REPLACE /* x */ TEMPORARY VIEW v AS SELECT 1"],
      ["postgresql", "create global temporary table t (a int)"],
      ["postgresql", "create table pg_temp.t (a int)"],
      ["postgresql", 'create table "pg_temp".t (a int)'],
      ["postgresql", "with a as (select 1) select * into temp t from a"],
      ["snowflake", "create local temp table t (a int)"],
      ["sqlite", "create table temp.t (a)"],
      ["flightsql", "create temporary table t (a int)"],
    ] as const) {
      expect([sql, codeOf(driver, sql)]).toEqual([sql, "query.unsupported"]);
      expect(judgeStatement(profileOf(driver), sql, true).ok).toBe(true);
    }
    for (const sql of [
      "create table temp (a int)",
      "create table t (temp int)",
      "insert into temp values (1)",
      "select 'create temp table'",
      "select pg_advisory_xact_lock(1)",
      "select 'pg_advisory_lock'",
    ]) {
      expect([sql, codeOf("postgresql", sql)]).toEqual([sql, undefined]);
    }
    for (const sql of [
      "select pg_advisory_lock(1)",
      'select "pg_try_advisory_lock"(1)',
      "listen x",
    ]) {
      expect([sql, codeOf("postgresql", sql)]).toEqual([sql, "query.unsupported"]);
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

function codeOf(driver: DriverName, sql: string): string | undefined {
  const judged = judgeStatement(profileOf(driver), sql, false);
  return judged.ok ? undefined : judged.error.code;
}
