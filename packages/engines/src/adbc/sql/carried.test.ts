/** How a query is asked for when its driver carries some of its columns wrongly. */
import type { Column, DataType } from "@gateway/core/type/type.ts";
import { describe, expect, it } from "vitest";
import { carriedOf, wrappingOf } from "./carried.ts";

describe("a query of PostgreSQL", () => {
  it("stays as it is where its driver carries every column", () => {
    const carried = carriedOf([columnOf({ kind: "text" }, "u"), columnOf({ kind: "binary" }, "z")]);
    expect(carried.wrapping).toBe("no");
  });

  it("asks for the text of what the driver knows by its name only", () => {
    const carried = carriedOf([
      columnOf({ kind: "binary" }, "cidr"),
      columnOf({ kind: "date" }, "tdD"),
    ]);
    expect(carried.columns.map(({ type }) => type.kind)).toEqual(["text", "date"]);
    expect(wrappingOf(carried, false)).toEqual({
      before: 'SELECT q."1"::pg_catalog.text, q."2" FROM (',
      behind: ') AS q("1", "2")',
    });
  });

  it("is a WITH where it changes something, which may stand nowhere else", () => {
    const carried = carriedOf([columnOf({ kind: "integer", bits: 64, signed: true }, "l")]);
    expect(carried.wrapping).toBe("should");
    expect(wrappingOf(carried, true)).toEqual({
      before: 'WITH q("1") AS (',
      behind: ') SELECT +q."1" FROM q',
    });
  });
});

function columnOf(type: DataType, engineType: string): Column {
  return { name: "a", type, nullable: true, engineType };
}
