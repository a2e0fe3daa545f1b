import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Dialect } from "../dialect.ts";
import { digestSql } from "./fingerprint.ts";

describe("digestSql", () => {
  it.each<[string, string]>([
    ["SELECT  a ,b\nFROM T WHERE c=1 -- x", "select a, b from t where c = ?"],
    ["select count ( * ), f(1, 'a') from t", "select count(*), f(?, ?) from t"],
    ["select a::int, b [ 1 ], array[1,2,3], t . c", "select a::int, b[?], array[?], t.c"],
    [
      "select * from t where a in (1, 2, 3) and b in ('x') and c in ($1, $2)",
      "select * from t where a in (?) and b in (?) and c in (?)",
    ],
    ["select * from t where (a, b) in ((1, 2), (3, 4))", "select * from t where (a, b) in (?)"],
    ["select * from t where a in (1, null, -2)", "select * from t where a in (?)"],
    ["select * from t where a in (1, b, 3)", "select * from t where a in (?, b, ?)"],
    ["select * from t where a in (select 1)", "select * from t where a in (select ?)"],
    ["select * from t where a in (f(1), 2)", "select * from t where a in (f(?), ?)"],
    ["select * from t where a in (1 - 2)", "select * from t where a in (? - ?)"],
    [
      "insert into t (a, b) values (1, 'x'), (2, 'y'), (-3, 'z')",
      "insert into t(a, b) values (?, ?)",
    ],
    [
      "insert into t values (1, now()), (2, now()) on conflict do nothing",
      "insert into t values (?, now()) on conflict do nothing",
    ],
    [
      "insert into t values (1, now()), (2, default)",
      "insert into t values (?, now()), (?, default)",
    ],
    ["select -1, a - 1, a -1, (-1), 2 - -1", "select ?, a - ?, a - ?, (?), ? - ?"],
    ["select * from t where a=-1 limit -1", "select * from t where a = ? limit ?"],
    ['select "A", \'a\' from "B"', 'select "A", ? from "B"'],
    ["select 1; select 2;", "select ?; select ?"],
    ["select 1 ;;", "select ?"],
    ["", ""],
    ["-- nothing", ""],
  ])("brings %j to %j", (sql, expected) => {
    expect(digestSql(sql, "postgres").text).toBe(expected);
  });

  it.each<[Dialect, string, string]>([
    ["mysql", 'select "a" "b", `C` from t where d = @x # y', "select ?, `C` from t where d = @x"],
    [
      "mysql",
      "insert into t values (1) on duplicate key update a = values(a), b = values(b)",
      "insert into t values (?) on duplicate key update a = values (a), b = values (b)",
    ],
    ["duckdb", "select 0x1F, $name, ?", "select ?, ?, ?"],
    ["trino", "select * from a.b.c where d = ?", "select * from a.b.c where d = ?"],
    ["clickhouse", "insert into t format CSV 1,secret", "insert into t format csv ?"],
  ])("in %s, brings %j to %j", (dialect, sql, expected) => {
    expect(digestSql(sql, dialect).text).toBe(expected);
  });

  it("keeps the text of a query it can not read to itself, and still tells such queries apart by shape", () => {
    const open = digestSql("select a from t where b = 'secret", "postgres");
    expect(open.text).toBeUndefined();
    expect(open.fingerprint).toMatch(/^[0-9a-f]{32}$/);
    expect(digestSql("select a from t where b = 'other secret", "postgres")).toEqual(open);
    expect(digestSql("select a from t where c = 'secret", "postgres")).not.toEqual(open);
    expect(digestSql("select a from t where b = 'secret'", "postgres").fingerprint).not.toBe(
      open.fingerprint,
    );
  });

  it("gives one fingerprint to a query however it is spaced, commented, cased and filled with values", () => {
    const values = fc.oneof(
      fc.integer().map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.string().map((text) => `'${text.replaceAll("'", "''")}'`),
    );
    const gaps = fc.constantFrom(" ", "\n", "  ", " /* a' */ ", ' -- b"\n');
    const same = fc.property(
      fc.array(values, { minLength: 1, maxLength: 20 }),
      values,
      gaps,
      fc.boolean(),
      (list, value, gap, upper) => {
        const words = [
          "select",
          "a",
          ",",
          "count",
          "(",
          "*",
          ")",
          "from",
          "t",
          "where",
          "b",
          "in",
          "(",
        ];
        const cased = words.map((word) => (upper ? word.toUpperCase() : word)).join(gap);
        const sql = `${cased}${list.join(",")})${gap}and c=${value}`;
        expect(digestSql(sql, "postgres").text).toBe(
          "select a, count(*) from t where b in (?) and c = ?",
        );
      },
    );
    fc.assert(same);
  });

  it("takes a subtraction for no list of literals, whatever its values are", () => {
    expect(digestSql("select [1 - 1]", "trino").text).toBe("select [? - ?]");
    expect(digestSql("select [? - ?]", "trino").text).toBe("select [? - ?]");
    expect(digestSql("select ['a' - 'b']", "trino").text).toBe("select [? - ?]");
  });

  it("digests a digest to itself", () => {
    const parts = fc.constantFrom(
      "select",
      "a",
      "'b'",
      "1",
      "-",
      "=",
      "(",
      ")",
      "[",
      "]",
      ",",
      "in",
      "values",
      "a.b",
      "::",
      '"c"',
      ";",
      "null",
      "and",
    );
    const stable = fc.property(fc.array(parts, { maxLength: 20 }), (words) => {
      const once = digestSql(words.join(" "), "trino");
      fc.pre(once.text !== undefined);
      expect(digestSql(once.text, "trino").text).toBe(once.text);
    });
    fc.assert(stable, { numRuns: 2_000 });
  });

  it("takes brackets as deep as they come", () => {
    const deep = `select ${"(".repeat(40_000)}1${")".repeat(40_000)}`;
    expect(digestSql(deep, "postgres").text?.length).toBe(deep.length);
  });

  it("knows a text of very many pieces by its beginning alone, and long lists by what they are", () => {
    const [two, three] = [200_000, 300_000].map((count) =>
      digestSql(`select 1${"+1".repeat(count)}`, "duckdb"),
    );
    expect(two).toEqual({ text: undefined, fingerprint: three?.fingerprint });
    expect(digestSql(`select 1${", 1".repeat(200_000)}`, "duckdb")).not.toEqual(two);
    const list = `select * from t where a in (1${", 1".repeat(200_000)})`;
    const rows = `insert into t values (1, 'a')${", (2, 'b')".repeat(100_000)}`;
    expect(digestSql(list, "duckdb").text).toBe("select * from t where a in (?)");
    expect(digestSql(rows, "duckdb").text).toBe("insert into t values (?, ?)");
  });

  it("has a fingerprint that never changes, because records of older releases hold it", () => {
    expect(digestSql("SELECT  2", "postgres").fingerprint).toBe("9aa2e8ea1a2d76f51545ef6c983a5b1c");
  });
});
