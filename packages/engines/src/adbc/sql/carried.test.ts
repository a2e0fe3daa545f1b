/** How a query is asked for when its driver carries some of its columns wrongly. */
import type { Column, DataType } from "@gateway/core/type/type.ts";
import { describe, expect, it } from "vitest";
import { carriedOf, isDoubtful, wrapped } from "./carried.ts";

const bigint: DataType = { kind: "integer", bits: 64, signed: true };
const types = { int8: 20, money: 790, oidvector: 30 };

describe("a query of PostgreSQL", () => {
  it("stays as it is where its driver carries every column", () => {
    const carried = carriedOf([columnOf({ kind: "text" }, "u"), columnOf({ kind: "binary" }, "z")]);
    expect(wrapped("select a, b", carried, "asked")).toBeUndefined();
  });

  it("asks for the text of what the driver knows by its name only", () => {
    const carried = carriedOf([
      columnOf({ kind: "binary" }, "cidr"),
      columnOf({ kind: "date" }, "tdD"),
    ]);
    expect(carried.columns.map(({ type }) => type.kind)).toEqual(["text", "date"]);
    expect(wrapped("select a, b", carried, "asked")).toEqual({
      sql: 'SELECT q."1"::pg_catalog.text, q."2" FROM (select a, b) AS q("1", "2")',
      at: 43,
    });
  });

  it("says of a numeric's text that it is one", () => {
    const columns = [columnOf({ kind: "text" }, "numeric"), columnOf({ kind: "text" }, "u")];
    const numerics = carriedOf(columns).columns.map(({ numeric }) => numeric);
    expect(numerics).toEqual(["any", undefined]);
  });

  it("asks for the text of what is no number, though the driver says so", () => {
    const columns = [columnOf(bigint, "l"), columnOf(bigint, "l")];
    expect(columns.every(isDoubtful)).toBe(true);
    const carried = carriedOf(columns, [types.int8, types.money]);
    expect(carried.columns.map(({ type }) => type.kind)).toEqual(["integer", "text"]);
    const list: DataType = { kind: "list", item: bigint };
    expect(carriedOf([columnOf(list, "+l")], [types.oidvector]).columns[0]?.type.kind).toBe("text");
  });

  it("keeps the blanks at the end of what a change answers", () => {
    const found = wrapped(
      "delete from t returning a",
      carriedOf([columnOf({ kind: "text" }, "u")]),
      "changes",
    );
    expect(found?.sql).toContain(`pg_catalog.format('%s', q."1")`);
  });

  it.each([
    ["delete from t returning a", "WITH "],
    ["with w as (delete from t returning a) select a from w", ", "],
    ["with update as (delete from t returning a) select a from update", ", "],
    ["with a as (select 1), insert (merge) as (select 2) delete from t returning a", ", "],
  ])("is a WITH where it changes something, which may stand nowhere else: %s", (sql, before) => {
    const found = wrapped(sql, carriedOf([columnOf(bigint, "l")]), "changes");
    expect(found?.sql).toContain(`${before}"of the gateway"("1") AS (`);
    // It stands behind every part of the client's own WITH.
    expect(found?.sql.slice(0, found.sql.indexOf(`"of the gateway"`))).toContain(
      sql.slice(0, Math.max(0, sql.lastIndexOf(") ") + 1)),
    );
    expect(found?.sql).toMatch(
      /\) SELECT pg_catalog.int8larger\(q."1", q."1"\) FROM "of the gateway" AS q$/,
    );
  });
});

function columnOf(type: DataType, engineType: string): Column {
  return { name: "a", type, nullable: true, engineType };
}
