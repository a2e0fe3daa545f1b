import { describe, expect, it } from "vitest";
import type { Dialect } from "../dialect.ts";
import { tablesReading } from "./predicates.ts";

/** Each read as `path as alias: columns`, columns sorted. */
function readsOf(sql: string, dialect: Dialect = "postgres"): readonly string[] | undefined {
  return tablesReading(dialect)(sql)?.map(
    ({ path, alias, columns }) =>
      `${path.join(".")} as ${alias}: ${[...columns].toSorted().join(" ")}`,
  );
}

describe("tablesReading", () => {
  it.each(
    readCases([
      ["SELECT 1", []],
      ["SELECT * FROM T", ["t as t: "]],
      ['SELECT * FROM s."T" x WHERE x.a = 1 AND B > 2', ["s.t as x: b x.a"]],
      [
        "SELECT * FROM t AS x, u JOIN v USING (a, b) WHERE a = 1",
        ["t as x: a", "u as u: a", "v as v: a"],
      ],
      ["SELECT * FROM (t JOIN u ON t.a = u.a) WHERE t.b = 1", ["t as t: t.b", "u as u: t.b"]],
      ["SELECT * FROM t WHERE a = 1 OR b = 2", ["t as t: "]],
      ["SELECT * FROM t WHERE a = 1 AND x OR a = 2 AND y", ["t as t: a"]],
      ["SELECT * FROM t WHERE (a = 1 OR a = 2) AND c", ["t as t: a c"]],
      ["SELECT * FROM t WHERE (a = 1 OR b = 2) AND c", ["t as t: c"]],
      ["SELECT * FROM t WHERE date_trunc('day', a) = now()", ["t as t: a"]],
      ["SELECT * FROM t WHERE 1 = 1 AND TRUE", ["t as t: "]],
      ["SELECT * FROM t WHERE a = 1 UNION SELECT * FROM t", ["t as t: a", "t as t: "]],
      ["SELECT * FROM t WHERE a IN (SELECT b FROM u WHERE c = 1)", ["u as u: c", "t as t: a"]],
      ["SELECT (SELECT max(a) FROM t) FROM u WHERE b = 1", ["t as t: ", "u as u: b"]],
      ["WITH t AS (SELECT * FROM t WHERE a = 1) SELECT * FROM t", ["t as t: a"]],
      [
        "WITH x AS (SELECT 1), t (a) AS MATERIALIZED (SELECT 2) SELECT * FROM t, s.t",
        ["s.t as t: "],
      ],
      ["WITH 1 AS t SELECT * FROM t", ["t as t: "], "clickhouse"],
      ["SELECT * FROM t PREWHERE a = 1 WHERE b = 2", ["t as t: a b"], "clickhouse"],
      ["SELECT * FROM x WHERE id IN t", ["t as t: ", "x as x: id"], "clickhouse"],
      ["SELECT * FROM f(t) AS g, t WHERE g.a = 1", ["t as t: g.a"]],
      ["SELECT * FROM t, f(1) AS g WHERE g.a = 1", ["t as t: g.a"]],
      ["SELECT extract(day FROM a) FROM t WHERE a IS DISTINCT FROM b", ["t as t: a b"]],
      ["SELECT a FROM t GROUP BY a HAVING a = 1 OR b = 2", ["t as t: "]],
      ["SELECT a FROM t WHERE a = 1 ORDER BY b OR c", ["t as t: a"]],
      ["SELECT * FROM t WHERE a = 1 AND limit > 3 OR 1 = 1", ["t as t: "], "trino"],
      ["SELECT * FROM t WHERE a = 1 || 1", ["t as t: "], "mysql"],
      ["SELECT * FROM t WHERE a = 1 || 1", ["t as t: "], "duckdb"],
      ["SELECT * FROM t WHERE a = ('x' || a)", ["t as t: a"]],
      ["FROM t WHERE a = 1 SELECT b", ["t as t: a"], "duckdb"],
      ["FROM 't'", ["t as t: "], "duckdb"],
      ["TABLE t", ["t as t: "]],
      ["SUMMARIZE t", ["t as t: "], "duckdb"],
      ["UPDATE t SET a = 1, b = 2 WHERE c = 3", ["t as t: c"]],
      ["UPDATE t SET a = 1", ["t as t: "]],
      ["DELETE FROM t USING u WHERE u.a = 1", ["t as t: u.a", "u as u: u.a"]],
      ["EXPLAIN ANALYZE DELETE FROM t", ["t as t: "]],
      ["INSERT INTO t VALUES (1)", []],
      ["INSERT INTO t SELECT * FROM u WHERE a = 1", ["u as u: a"]],
      ["INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1", []],
      ["CREATE TABLE x AS SELECT * FROM t", ["t as t: "]],
      ["CREATE TABLE x AS TABLE t", ["t as t: "]],
      ["CREATE TABLE x CLONE t", ["t as t: "], "generic"],
      ["MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET b = 1, c = 2", ["u as u: "]],
      ["COPY t TO STDOUT", ["t as : "]],
      ["COPY (SELECT * FROM t) TO STDOUT", ["t as t: "]],
    ]),
  )("finds in %s the reads %j", (sql, reads, dialect) => {
    expect(readsOf(sql, dialect)).toEqual(reads);
  });

  it("takes a COPY into a table for no read of it", () => {
    expect(readsOf("COPY t FROM STDIN")).not.toContain("t as : ");
  });

  it("understands no brackets that do not close, and none that are nested without end", () => {
    expect(readsOf("SELECT * FROM (t")).toBeUndefined();
    expect(readsOf("SELECT 1) FROM t")).toBeUndefined();
    expect(readsOf(`SELECT ${"(".repeat(1_000)}1${")".repeat(1_000)}`)).toBeUndefined();
  });

  it("does not take longer for more tokens than they are", () => {
    const values = Array.from({ length: 100_000 }, (_, at) => String(at)).join(", ");
    expect(readsOf(`SELECT * FROM t WHERE a IN (${values})`)).toEqual(["t as t: a"]);
  });
});

/** PostgreSQL's dialect where none is named. */
function readCases(
  cases: readonly (readonly [sql: string, reads: readonly string[], dialect?: Dialect])[],
): readonly (readonly [string, readonly string[], Dialect])[] {
  return cases.map(([sql, reads, dialect = "postgres"]) => [sql, reads, dialect] as const);
}
