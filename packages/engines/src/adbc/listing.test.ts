import { describe, expect, it } from "vitest";
import { tablesOf } from "./listing.ts";

describe("tablesOf", () => {
  it("gathers the columns of a table, with the types that its engine names", () => {
    const rows = [
      ["db", "s", "t", "TABLE", "a", "character varying(30)", "NO"],
      ["db", "s", "t", "TABLE", "b", "integer[]", "YES"],
      ["db", "s", "v", "VIEW", "a", "numeric", "YES"],
    ];
    expect(tablesOf(rows)).toMatchObject([
      {
        name: "t",
        kind: "table",
        columns: [
          {
            name: "a",
            type: { kind: "text" },
            nullable: false,
            engineType: "character varying(30)",
          },
          { name: "b", type: { kind: "list", item: { kind: "integer", bits: 32 } } },
        ],
      },
      { name: "v", kind: "view", columns: [{ name: "a", engineType: "numeric" }] },
    ]);
    expect(tablesOf(rows)[0]).not.toHaveProperty("keys");
  });

  it("reads keys and indexes where the engine tells them", () => {
    const keys = JSON.stringify([
      ["p", "t_pkey", ["a", "b"], null, null],
      ["u", "t_c", ["c"], null, null],
      ["f", "t_fk", ["c"], "other", ["id"]],
    ]);
    const indexes = JSON.stringify([["t_b", false, ["b"]]]);
    const [table] = tablesOf([
      ["db", "s", "t", "TABLE", "a", "integer", "NO", keys, indexes],
      ["db", "s", "t", "TABLE", "b", "integer", "NO", null, null],
    ]);
    expect(table?.columns.length).toBe(2);
    expect(table?.keys).toEqual([
      { kind: "primary", name: "t_pkey", columns: ["a", "b"] },
      { kind: "unique", name: "t_c", columns: ["c"] },
      { kind: "foreign", name: "t_fk", columns: ["c"], table: "other", tableColumns: ["id"] },
    ]);
    expect(table?.indexes).toEqual([{ name: "t_b", unique: false, columns: ["b"] }]);
  });
});
