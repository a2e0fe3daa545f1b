import { init } from "@polyglot-sql/sdk";
import type { TypedTable } from "@gateway/core/port/sql/sqlWork.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { translatedText } from "./translate.ts";

beforeAll(async () => {
  await init();
});

const sales: TypedTable = {
  path: ["sales"],
  columns: [
    { name: "qty", type: "bigint" },
    { name: "price", type: "double precision" },
    { name: "note", type: "text" },
  ],
};
const customers: TypedTable = {
  path: ["shop", "customers"],
  columns: [
    { name: "qty", type: "text" },
    { name: "rank", type: "bigint" },
  ],
};

const of = (sql: string, target: Dialect = "duckdb", more: object = {}) =>
  translatedText({
    sql,
    source: "postgres",
    target,
    refuses: false,
    proves: false,
    types: [sales, customers],
    ...more,
  });
const textOf = (sql: string, target?: Dialect): string => {
  const made = of(sql, target);
  return made.kind === "translated" ? made.sql : made.kind;
};

describe("a division of whole numbers", () => {
  it("leaves the rest away in the target's words", () => {
    expect(textOf("SELECT qty / 2 FROM sales")).toBe("SELECT divide(qty, 2) FROM sales");
    expect(textOf("SELECT qty / 2 FROM sales", "clickhouse")).toBe(
      "SELECT intDiv(qty, 2) FROM sales",
    );
    expect(textOf("SELECT qty / 2 FROM sales", "mysql")).toBe(
      "SELECT CAST(((qty) - (qty) % 2) / 2 AS SIGNED) FROM sales",
    );
  });

  it("is one where sums, products and columns of the tables' own say so, and inside another one", () => {
    expect(textOf("SELECT -(s.qty + 1) / 2 / 3 FROM sales AS s")).toBe(
      "SELECT divide(divide(-(s.qty + 1), 2), 3) FROM sales AS s",
    );
    expect(textOf("SELECT rank / 2 FROM shop.customers")).toBe(
      "SELECT divide(rank, 2) FROM shop.customers",
    );
    expect(textOf("WITH w AS (SELECT qty FROM sales) SELECT qty / 2 FROM w")).toContain("divide(");
  });

  it.each([
    "SELECT price / 2 FROM sales",
    "SELECT note / 2 FROM sales",
    "SELECT qty / 2.0 FROM sales",
    "SELECT qty / 0 FROM sales",
    "SELECT qty / qty FROM sales",
    "SELECT sum(qty) / 2 FROM sales",
    "SELECT (SELECT qty / 2 FROM shop.customers) FROM sales",
    "SELECT qty / 2 FROM sales, shop.customers",
    "WITH w AS (SELECT note AS qty FROM sales) SELECT qty / 2 FROM w",
    "SELECT qty / 2 FROM (SELECT price AS qty FROM sales) AS s",
    "SELECT 'gw_quotient(' || qty / 2 FROM sales",
  ])("is not %s", (sql) => {
    expect(textOf(sql)).not.toMatch(/divide\(/i);
  });

  it("asks for the tables that it hangs on, and for none without a division", () => {
    const types = "wanted";
    expect(
      of("WITH w AS (SELECT 1) SELECT qty / 2 FROM Sales, w, shop.customers", "duckdb", { types }),
    ).toEqual({
      kind: "typesWanted",
      tables: [["sales"], ["shop", "customers"]],
    });
    for (const sql of [
      "SELECT qty FROM sales",
      "SELECT '/' FROM sales",
      "SELECT 4 / 2",
      'SELECT qty / 2 FROM "Sales"',
    ]) {
      expect(of(sql, "duckdb", { types }).kind).toBe("translated");
    }
    expect(of("SELECT qty / 2 FROM sales", "duckdb", { types, source: "mysql" }).kind).toBe(
      "translated",
    );
  });

  it("is found in a table whose name has a catalog, and in no other table of the name", () => {
    const whole = { path: ["lake", "shop", "orders"], columns: [{ name: "n", type: "bigint" }] };
    const text = { path: ["lake", "old", "orders"], columns: [{ name: "n", type: "text" }] };
    const more = { types: [text, whole] };
    const made = (table: string) => of(`SELECT o.n / 2 FROM ${table} AS o`, "duckdb", more);
    expect(made("Lake.shop.orders")).toMatchObject({
      sql: "SELECT divide(o.n, 2) FROM Lake.shop.orders AS o",
    });
    expect(made("lake.old.orders")).toMatchObject({
      sql: "SELECT o.n / 2 FROM lake.old.orders AS o",
    });
  });

  it("is let pass under strict where its types are known, and not without", () => {
    const strict = { proves: true, refuses: true };
    expect(of("SELECT id, qty / 2 FROM sales", "duckdb", strict)).toMatchObject({
      kind: "translated",
    });
    expect(of("SELECT qty / 2 FROM sales", "duckdb", { ...strict, types: undefined })).toEqual({
      kind: "untested",
      words: ["div"],
    });
    expect(of("SELECT price / 0 FROM sales", "duckdb", strict)).toEqual({
      kind: "untested",
      words: ["div"],
    });
  });
});
