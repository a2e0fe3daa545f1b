import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Dialect } from "../dialect.ts";
import { inOneGo } from "../reading/steps.ts";
import { limitedTo } from "./limit.ts";

const limited = (sql: string, dialect: Dialect = "postgres") =>
  inOneGo(limitedTo(sql, dialect, 10));

describe("limitedTo", () => {
  it.each(
    writtenCases([
      ["SELECT * FROM t", "SELECT * FROM t LIMIT 10"],
      ["SELECT * FROM t;", "SELECT * FROM t LIMIT 10;"],
      ["SELECT 1 -- why", "SELECT 1 LIMIT 10 -- why"],
      ["SELECT (SELECT 1 LIMIT 5)", "SELECT (SELECT 1 LIMIT 5) LIMIT 10"],
      [
        "WITH a AS (SELECT 1 LIMIT 2) SELECT * FROM a",
        "WITH a AS (SELECT 1 LIMIT 2) SELECT * FROM a LIMIT 10",
      ],
      ["SELECT 1 UNION ALL SELECT 2", "SELECT 1 UNION ALL SELECT 2 LIMIT 10"],
      ["SELECT a FROM t ORDER BY a OFFSET 3", "SELECT a FROM t ORDER BY a OFFSET 3 LIMIT 10"],
      ["SELECT 1 OFFSET 3 ROWS", "SELECT 1 OFFSET 3 ROWS LIMIT 10", "trino"],
      ["SELECT 1 LIMIT 11", "SELECT 1 LIMIT 10"],
      ["SELECT 1 limit all", "SELECT 1 limit 10"],
      ["SELECT 1 LIMIT 50 OFFSET 5", "SELECT 1 LIMIT 10 OFFSET 5"],
      ["SELECT 1 LIMIT 5, 50", "SELECT 1 LIMIT 5, 10", "mysql"],
      ["SELECT 1 FETCH FIRST 50 ROWS ONLY", "SELECT 1 FETCH FIRST 10 ROWS ONLY"],
      [
        "SELECT 1 OFFSET 1 FETCH NEXT 50 ROWS ONLY",
        "SELECT 1 OFFSET 1 FETCH NEXT 10 ROWS ONLY",
        "trino",
      ],
      ["SELECT 1 FROM t FOR UPDATE", "SELECT 1 FROM t LIMIT 10 FOR UPDATE", "mysql"],
      ["SELECT 1 FROM t LIMIT 20 FOR UPDATE", "SELECT 1 FROM t LIMIT 10 FOR UPDATE", "mysql"],
      [
        "SELECT 1 FROM t LOCK IN SHARE MODE",
        "SELECT 1 FROM t LIMIT 10 LOCK IN SHARE MODE",
        "mysql",
      ],
      ["SELECT a FROM t FORMAT JSON", "SELECT a FROM t LIMIT 10 FORMAT JSON", "clickhouse"],
      [
        "SELECT a FROM t LIMIT 99 SETTINGS max_threads = 1 FORMAT CSV",
        "SELECT a FROM t LIMIT 10 SETTINGS max_threads = 1 FORMAT CSV",
        "clickhouse",
      ],
      ["SELECT a FROM t LIMIT 1 BY a", "SELECT a FROM t LIMIT 1 BY a LIMIT 10", "clickhouse"],
      [
        "SELECT a FROM t LIMIT 1 BY a LIMIT 30",
        "SELECT a FROM t LIMIT 1 BY a LIMIT 10",
        "clickhouse",
      ],
      [
        "SELECT 1 UNION ALL SELECT 2 LIMIT 3",
        "SELECT * FROM (SELECT 1 UNION ALL SELECT 2 LIMIT 3\n) LIMIT 10",
        "clickhouse",
      ],
      ["(SELECT 1) FORMAT TSV", "SELECT * FROM ((SELECT 1)\n) LIMIT 10 FORMAT TSV", "clickhouse"],
      ["SELECT 'LIMIT 5' AS \"limit 3\"", "SELECT 'LIMIT 5' AS \"limit 3\" LIMIT 10"],
      ["SELECT t.limit FROM t", "SELECT t.limit FROM t LIMIT 10", "trino"],
    ]),
  )("writes %s as %s", (sql, written, dialect) => {
    expect(limited(sql, dialect)).toBe(written);
  });

  it.each([
    "SELECT 1 LIMIT 10",
    "SELECT 1 LIMIT 3 OFFSET 100",
    "SELECT 1 LIMIT $1",
    "SELECT 1 FETCH FIRST 10 ROWS ONLY",
  ])("leaves %s as it is", (sql) => {
    expect(limited(sql)).toBe(sql);
  });

  it.each(
    unclearCases([
      ["SELECT 1 LIMIT 5 + 6"],
      ["SELECT 1 LIMIT (SELECT 100)"],
      ["SELECT 1 FETCH FIRST 5 ROWS WITH TIES"],
      ["SELECT 1 FETCH FIRST ROW ONLY"],
      ["SELECT a FROM t LIMIT 10 PERCENT", "duckdb"],
      ["SELECT a FROM t LIMIT 10%", "duckdb"],
      ["SELECT TOP 5 a FROM t", "generic"],
      ["SELECT limit FROM t", "trino"],
      ["SELECT 1 LIMIT 5 UNION ALL SELECT 2"],
      ["SELECT a FROM t LIMIT 3 WITH TIES", "clickhouse"],
      ["SELECT (1"],
      ["SELECT 1)"],
    ]),
  )("finds no place in %s", (sql, dialect) => {
    expect(limited(sql, dialect)).toBeUndefined();
  });

  it("never gives a query a larger limit than it had, nor than is allowed", () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.integer({ min: 1, max: 10_000 }), (count, most) => {
        const written = inOneGo(limitedTo(`SELECT a FROM t LIMIT ${count}`, "postgres", most));
        expect(written).toBe(`SELECT a FROM t LIMIT ${Math.min(count, most)}`);
      }),
    );
  });
});

/** PostgreSQL's dialect where none is named. */
function writtenCases(
  cases: readonly (readonly [sql: string, written: string, dialect?: Dialect])[],
): readonly (readonly [string, string, Dialect])[] {
  return cases.map(([sql, text, dialect = "postgres"]) => [sql, text, dialect] as const);
}

function unclearCases(
  cases: readonly (readonly [sql: string, dialect?: Dialect])[],
): readonly (readonly [string, Dialect])[] {
  return cases.map(([sql, dialect = "postgres"]) => [sql, dialect] as const);
}
