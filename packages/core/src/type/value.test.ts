import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { batchOf, columnOf, vectorOf } from "./build.ts";
import type { DataType } from "./type.ts";
import { valueAt } from "./value.ts";
import { anyColumn, sliceOf } from "./rig/values.ts";
import { isNull, type Vector } from "./vector.ts";

describe("valueAt", () => {
  it("gives back what vectorOf was given, for every type", () => {
    const same = fc.property(anyColumn, ({ type, values }) => {
      const vector = vectorOf(type, values);
      expect(rowsOf(vector)).toEqual(values);
    });
    fc.assert(same, { numRuns: 500 });
  });

  it("reads a slice as the rows it covers", () => {
    const same = fc.property(anyColumn, fc.nat(12), ({ type, values }, from) => {
      const start = Math.min(from, values.length);
      expect(rowsOf(sliceOf(vectorOf(type, values), start))).toEqual(values.slice(start));
    });
    fc.assert(same, { numRuns: 300 });
  });

  it("reads buffers that begin at an odd address", () => {
    const vector = vectorOf({ kind: "integer", bits: 64, signed: true }, [-1n, 7n]);
    const shifted = new Uint8Array(vector.values.length + 1);
    shifted.set(vector.values, 1);
    expect(rowsOf({ ...vector, values: shifted.subarray(1) })).toEqual([-1n, 7n]);
  });

  it("keeps a byte order mark, which is a character of the text", () => {
    expect(valueAt(vectorOf({ kind: "text" }, ["\ufeffa"]), 0)).toBe("\ufeffa");
  });

  it("gives bytes of its own, so that a batch may be released", () => {
    const vector = vectorOf({ kind: "binary" }, [Uint8Array.of(1, 2)]);
    const value = valueAt(vector, 0);
    vector.values.fill(9);
    expect(value).toEqual(Uint8Array.of(1, 2));
  });
});

describe("vectorOf", () => {
  it.each<[DataType, bigint]>([
    [{ kind: "integer", bits: 8, signed: true }, 128n],
    [{ kind: "integer", bits: 8, signed: false }, -1n],
    [{ kind: "integer", bits: 64, signed: true }, 2n ** 63n],
    [{ kind: "date" }, 2n ** 31n],
  ])("throws for a value that %j does not hold", (type, value) => {
    expect(() => vectorOf(type, [value])).toThrow(RangeError);
  });

  it("has no validity bitmap when nothing is NULL", () => {
    expect(vectorOf({ kind: "text" }, ["a"]).validity).toBeUndefined();
    expect(isNull(vectorOf({ kind: "text" }, ["a", null]), 1)).toBe(true);
  });
});

describe("batchOf", () => {
  it("puts the values of each row under its columns", () => {
    const columns = [columnOf("a", { kind: "boolean" }), columnOf("b", { kind: "text" }, false)];
    const batch = batchOf(columns, [
      [true, "x"],
      [null, "y"],
    ]);
    expect(batch.rows).toBe(2);
    expect(batch.columns.map(rowsOf)).toEqual([
      [true, null],
      ["x", "y"],
    ]);
  });
});

function rowsOf(vector: Vector) {
  return Array.from({ length: vector.length }, (_, row) => valueAt(vector, row));
}
