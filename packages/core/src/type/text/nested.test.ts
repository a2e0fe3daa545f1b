import { describe, expect, it } from "vitest";
import { vectorOf } from "../build.ts";
import type { TextStyle } from "../cellWriter.ts";
import { cellWriter, jsonText, mysqlText, postgresText } from "../text.ts";
import type { DataType, Value } from "../type.ts";
import { sliceOf, textOf } from "../rig/values.ts";

const int: DataType = { kind: "integer", bits: 32, signed: true };
const text: DataType = { kind: "text" };
const pair: DataType = {
  kind: "struct",
  fields: [
    { name: "n", type: int },
    { name: 'the "t"', type: text },
  ],
};

describe("nestedWriter", () => {
  it.each<[DataType, Value, string]>([
    [{ kind: "list", item: int }, [1n, null, -3n], "{1,NULL,-3}"],
    [{ kind: "list", item: int }, [], "{}"],
    [
      { kind: "list", item: text },
      ["a", "a b", "", "NULL", 'q"\\', "{", "x,y", "nil"],
      '{a,"a b","","NULL","q\\"\\\\","{","x,y",nil}',
    ],
    [{ kind: "list", item: { kind: "list", item: int } }, [[1n], [], null], "{{1},{},NULL}"],
    [{ kind: "list", item: { kind: "binary" } }, [Uint8Array.of(1)], '{"\\\\x01"}'],
    [
      { kind: "list", item: { kind: "timestamp", unit: "s", zoned: false } },
      [0n],
      '{"1970-01-01 00:00:00"}',
    ],
    [pair, [1n, "x y"], '(1,"x y")'],
    [pair, [null, ""], '(,"")'],
    [pair, [1n, 'a"\\b(,)'], '(1,"a""\\\\b(,)")'],
    [{ kind: "list", item: pair }, [[1n, "x"]], '{"(1,x)"}'],
    [{ kind: "list", item: pair }, [[1n, "a b"]], '{"(1,\\"a b\\")"}'],
    [
      { kind: "map", key: text, value: int },
      [
        ["k", 1n],
        ["l", null],
      ],
      '{"(k,1)","(l,)"}',
    ],
  ])("writes %j as a PostgreSQL literal", (type, value, expected) => {
    expect(written(type, value, postgresText)).toBe(expected);
  });

  it.each<[DataType, Value, string]>([
    [{ kind: "list", item: text }, ["a", null, 'q"'], '["a",null,"q\\""]'],
    [pair, [1n, "x"], '{"n":1,"the \\"t\\"":"x"}'],
    [{ kind: "map", key: text, value: int }, [["k", 1n]], '{"k":1}'],
    [{ kind: "map", key: int, value: int }, [[5n, null]], '{"5":null}'],
    [
      { kind: "map", key: { kind: "list", item: text }, value: int },
      [[["a"], 1n]],
      '{"[\\"a\\"]":1}',
    ],
    [{ kind: "list", item: { kind: "boolean" } }, [true, false], "[true,false]"],
    [{ kind: "list", item: { kind: "json" } }, ['{"a":1}'], '[{"a":1}]'],
    [{ kind: "list", item: { kind: "binary" } }, [Uint8Array.of(255)], '["/w=="]'],
    [{ kind: "list", item: { kind: "decimal", precision: 4, scale: 2 } }, [125n], "[1.25]"],
    [{ kind: "list", item: { kind: "date" } }, [0n], '["1970-01-01"]'],
    [{ kind: "list", item: { kind: "float", bits: 64 } }, [Number.NaN, 0.5], '["NaN",0.5]'],
  ])(
    "writes %j as JSON where the plain text of a protocol has no form for it",
    (type, value, expected) => {
      expect(written(type, value, mysqlText)).toBe(expected);
    },
  );

  it("writes structs as arrays where the style asks for rows", () => {
    expect(written(pair, [1n, null], { ...jsonText, structs: "array" })).toBe("[1,null]");
  });

  it("doubles the backslash of hexadecimal bytes inside JSON", () => {
    const type: DataType = { kind: "list", item: { kind: "binary" } };
    const style: TextStyle = { ...postgresText, nested: "json" };
    expect(written(type, [Uint8Array.of(10)], style)).toBe('["\\\\x0a"]');
  });

  it("reads the parts of a sliced list and of a sliced struct at their own rows", () => {
    const lists = vectorOf({ kind: "list", item: int }, [[1n], [2n, 3n], null, [4n]]);
    expect(rowText(sliceOf(lists, 1), 0)).toBe("{2,3}");
    expect(rowText(sliceOf(lists, 1), 2)).toBe("{4}");
    const structs = vectorOf(pair, [
      [1n, "a"],
      [2n, "b"],
    ]);
    expect(rowText(sliceOf(structs, 1), 0)).toBe("(2,b)");
  });
});

function written(type: DataType, value: Value, style: TextStyle): string {
  return rowText(vectorOf(type, [value]), 0, style);
}

function rowText(
  vector: Parameters<typeof cellWriter>[0],
  row: number,
  style = postgresText,
): string {
  const writer = cellWriter(vector, style);
  const out = new Uint8Array(writer.bound(row));
  return textOf(out.subarray(0, writer.write(out, 0, row)));
}
