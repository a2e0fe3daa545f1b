import { init } from "@polyglot-sql/sdk";
import { beforeAll, describe, expect, it } from "vitest";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { translatedText } from "./translate.ts";

beforeAll(() => init());

describe("translatedText", () => {
  it.each<[Dialect, Dialect, string, string]>([
    [
      "mysql",
      "duckdb",
      "SELECT `a b`, IFNULL(a, $1) FROM t LIMIT 2, 3",
      `SELECT "a b", COALESCE(a, $1) FROM t LIMIT 3 OFFSET 2`,
    ],
    ["postgres", "mysql", `SELECT "A" || $2, $1 FROM t`, "SELECT CONCAT(`A`, $2), $1 FROM t"],
    ["trino", "clickhouse", "SELECT regexp_like(s, 'a') FROM t", "SELECT match(s, 'a') FROM t"],
  ])("from %s to %s puts %s into other words", (source, target, sql, made) => {
    expect(best(sql, source, target)).toEqual({ kind: "translated", sql: made });
  });

  it.each([
    ["SELECT (", "unread"],
    ["SELECT 1; SELECT 2", "unread"],
    ["SELECT table_name FROM information_schema.tables", "asWritten"],
    ["SELECT t.table_name FROM information_schema.tables t, sales", "translated"],
  ])("finds %s to be %s", (sql, kind) => {
    expect(best(sql, "postgres", "duckdb")).toMatchObject({ kind });
  });

  it.each([
    ["SELECT frobnicate(a) FROM t", "frobnicate/1"],
    ["SELECT to_char(a, 'Day') FROM t", "to_char('Day')"],
    ["SELECT qty / 2 FROM t", "div"],
  ])("proves nothing of %s", (sql, word) => {
    const words: unknown = expect.arrayContaining([expect.stringContaining(word)]);
    expect(strict(sql, "postgres", "duckdb")).toEqual({ kind: "untested", words });
  });

  it("tells what the target has nothing of the same meaning for from what is not read", () => {
    const input = {
      source: "postgres",
      target: "clickhouse",
      refuses: true,
      proves: false,
    } as const;
    expect(translatedText({ ...input, sql: "SELECT sum(a) FROM t" })).toEqual({
      kind: "unsupported",
    });
    expect(translatedText({ ...input, sql: "SELECT sum(" })).toEqual({ kind: "unread" });
  });

  it.each<[Dialect, Dialect, string]>([
    [
      "postgres",
      "duckdb",
      "SELECT a, count(*) FROM t WHERE b = $1 GROUP BY a HAVING count(*) > 1 LIMIT 3",
    ],
    ["duckdb", "postgres", "SELECT s.id FROM sales s LEFT JOIN customers c ON s.customer = c.id"],
    ["mysql", "duckdb", "SELECT IFNULL(note, 'none') FROM sales"],
    ["mysql", "postgres", "UPDATE made SET name = 'x' WHERE id = 10"],
  ])("from %s to %s lets pass what was tested: %s", (source, target, sql) => {
    expect(strict(sql, source, target)).toMatchObject({ kind: "translated" });
  });
});

function best(sql: string, source: Dialect, target: Dialect) {
  return translatedText({ sql, source, target, refuses: false, proves: false });
}

function strict(sql: string, source: Dialect, target: Dialect) {
  return translatedText({ sql, source, target, refuses: true, proves: true });
}
