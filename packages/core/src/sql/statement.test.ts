import { describe, expect, it } from "vitest";
import { noModes } from "./session/statement.ts";
import { readStatement } from "./statement.ts";

describe("readStatement", () => {
  it("says what a statement is and what it asks of the session", () => {
    expect(readStatement("set a = 1", "postgres")).toMatchObject({
      sql: "set a = 1",
      kind: "set",
      tag: "SET",
      writes: false,
      doubt: undefined,
      session: { kind: "set" },
    });
    expect(readStatement("use a.b", "duckdb").session).toMatchObject({ kind: "use" });
    expect(readStatement("select 1", "postgres").session).toBeUndefined();
  });

  it("has the modes of a BEGIN, and none of a text that only looks like one", () => {
    const modes = { ...noModes, isolation: "serializable", readOnly: true };
    const sql = "begin isolation level serializable, /* read write */ read only";
    expect(readStatement(sql, "postgres").modes).toEqual(modes);
    for (const plain of ["begin", "begin -- read only", "begin read only; select 1", "begin mad"]) {
      expect(readStatement(plain, "postgres").modes).toEqual(noModes);
    }
  });

  it("is one object for all who bring the text, and another one for each dialect", () => {
    const sql = "select 'a\\'";
    expect(readStatement(sql, "postgres")).toBe(
      readStatement(`${sql.slice(0, 4)}${sql.slice(4)}`, "postgres"),
    );
    expect(readStatement(sql, "postgres").doubt).toBeUndefined();
    expect(readStatement(sql, "mysql").doubt).toBe("unterminated");
  });
});
