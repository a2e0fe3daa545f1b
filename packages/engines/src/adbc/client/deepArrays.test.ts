import type { DataType } from "@gateway/core/type/type.ts";
import { describe, expect, it } from "vitest";
import { deepName, deepText, isDeep } from "./deepArrays.ts";

const list = (item: DataType): DataType => ({ kind: "list", item });
const int: DataType = { kind: "integer", bits: 32, signed: true };

describe("an array of several dimensions", () => {
  it("is PostgreSQL's text of it, and named by its items", () => {
    const ints = list(list(int));
    expect([isDeep(ints), isDeep(list(int)), isDeep(int)]).toEqual([true, false, false]);
    expect(
      deepText(ints, [
        [1n, 2n],
        [3n, null],
      ]),
    ).toBe("{{1,2},{3,NULL}}");
    expect(deepText(list(list({ kind: "text" })), [["a,b"], ['N"']])).toBe('{{"a,b"},{"N\\""}}');
    expect(deepText(list(ints), [[[1n]], [[2n]]])).toBe("{{{1}},{{2}}}");
    expect(deepName(list(ints))).toBe("pg_catalog._int4");
    expect(deepName(list(list({ kind: "float", bits: 64 })))).toBe("pg_catalog._float8");
    expect(deepName(list(list({ kind: "text" })))).toBeUndefined();
  });
});
