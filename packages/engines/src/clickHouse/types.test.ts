import { describe, expect, it } from "vitest";
import { parseTypeName } from "./page/typeName.ts";
import { layoutOf } from "./types.ts";

describe("parseTypeName", () => {
  it("takes names apart with their labels, texts and brackets", () => {
    const found = parseTypeName(
      "Tuple(a Nullable(Int8), `b c` Array(String), Enum8('x, (y' = -1, 'it\\'s' = 2))",
    );
    expect(found?.args.map(({ name, label }) => [label, name])).toEqual([
      ["a", "Nullable"],
      ["b c", "Array"],
      [undefined, "Enum8"],
    ]);
    expect(found?.args[2]?.args.map(({ name }) => name)).toEqual(["'x, (y'=-1", "'it\\'s'=2"]);
  });

  it.each(["", "Nullable(", "Nullable(Int8", "Int8)", "Tuple(a,)", "(", "Array(".repeat(200)])(
    "refuses %j",
    (text) => {
      expect(parseTypeName(text)).toBeUndefined();
    },
  );
});

describe("layoutOf", () => {
  it.each([
    "Variant(Int8, String)",
    "Dynamic",
    "AggregateFunction(sum, UInt8)",
    "Nullable(Dynamic)",
    "Array(Nowhere)",
    "FixedString(0)",
    "DateTime64(12)",
    "Tuple()",
  ])("knows no layout of %s", (name) => {
    expect(layoutOf(name)).toBeUndefined();
  });
});
