import { init } from "@polyglot-sql/sdk";
import { beforeAll, describe, expect, it } from "vitest";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { parsedOf } from "../read/parsed.ts";
import { factsOf, namesOf, readFacts, readNames } from "./facts.ts";

beforeAll(() => init());

const dialects: readonly Dialect[] = ["duckdb", "postgres", "mysql", "trino", "clickhouse"];

const shapes: readonly ((n: number) => string)[] = [
  (n) => `SELECT id FROM customers WHERE id = ${n}`,
  (n) => `SELECT a FROM t WHERE b IN (${n}, 7, ${n}) AND c <> ${n} OR d >= ${n}`,
  (n) => `WITH r AS (SELECT max(x) AS last FROM o WHERE shop = ${n}) SELECT * FROM r LIMIT 2`,
  (n) => `SELECT CASE WHEN a = ${n} THEN 'x' ELSE 'y' END, ${n} / 2 FROM s.t GROUP BY 1`,
  (n) => `SELECT sum(a) FILTER (WHERE b = ${n}) OVER (ORDER BY c) FROM t`,
  (n) => `SELECT date_trunc('month', a) FROM t WHERE (b = ${n}) UNION ALL SELECT a FROM u`,
  (n) => `SELECT a FROM t WHERE b = ${n} AND c = TRUE AND json_extract(j, '$.a') = 'x'`,
  (n) => `UPDATE t SET a = ${n}, b = a = ${n} WHERE id = ${n}`,
  (n) => `DELETE FROM t WHERE id IN (${n})`,
  (n) => `INSERT INTO t (a) SELECT b FROM u WHERE c = ${n}`,
  (n) => `SELECT * FROM f(a = ${n}), t TABLESAMPLE (${n}) WHERE x < ${n} DAY`,
  (n) => `SELECT a FROM t WHERE b = ${n} SETTINGS max_threads = ${n}`,
  (n) => `CREATE TABLE t (a INT CHECK (a > ${n})) WITH (version = ${n})`,
  (n) => `SET x = ${n}`,
  (n) => `SELECT a FROM t WHERE b = ${n};`,
  (n) => `SELECT a FROM t WHERE b = ${n}; SELECT 1`,
];

describe("the facts of a text whose form is known", () => {
  it.each(dialects)("are those that the parser finds, in %s", (dialect) => {
    for (const shape of shapes) {
      for (const number of [1, 987_654_321, 5_000_000_000]) {
        const sql = shape(number);
        const nodes = parsedOf(sql, dialect);
        expect(readFacts(sql, dialect)).toEqual(nodes && factsOf(nodes));
        expect(readNames(sql, dialect)).toEqual(nodes && namesOf(nodes));
      }
    }
  });

  it("are found once for texts that differ in a number, and anew for all others", () => {
    const facts = (rest: string, dialect: Dialect = "postgres") =>
      readFacts(`SELECT a FROM remembered WHERE ${rest}`, dialect);
    const first = facts("b = 12 AND c = 'x'");
    expect(first).toBeDefined();
    expect(facts("b = 345 AND c = 'x'")).toBe(first);
    expect(facts("b = 12 AND c = 'y'")).not.toBe(first);
    expect(facts("b = 1.5 AND c = 'x'")).not.toBe(first);
    expect(facts("b > 12 AND c = 'x'")).not.toBe(first);
    expect(facts("b = 12 AND c = 'x'", "duckdb")).not.toBe(first);
  });
});
