import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { vectorOf } from "../build.ts";
import type { TextStyle } from "../cellWriter.ts";
import { cellWriter, jsonText, mysqlText, postgresText } from "../text.ts";
import { textOf } from "../rig/values.ts";

describe("floatWriter", () => {
  it.each([
    [0, "0", "0", "0"],
    [-0, "-0", "-0", "-0"],
    [0.1, "0.1", "0.1", "0.1"],
    [-12.34, "-12.34", "-12.34", "-12.34"],
    [0.1 + 0.2, "0.30000000000000004", "0.30000000000000004", "0.30000000000000004"],
    [0.0001, "0.0001", "0.0001", "0.0001"],
    [0.00001, "1e-05", "0.00001", "0.00001"],
    [1.5e-16, "1.5e-16", "1.5e-16", "1.5e-16"],
    [123_456_789_012_345, "123456789012345", "123456789012345", "123456789012345"],
    [1e15, "1e+15", "1e15", "1000000000000000"],
    [1.25e20, "1.25e+20", "1.25e20", "125000000000000000000"],
    [1e21, "1e+21", "1e21", "1e+21"],
    [5e-324, "5e-324", "5e-324", "5e-324"],
    [
      Number.MAX_VALUE,
      "1.7976931348623157e+308",
      "1.7976931348623157e308",
      "1.7976931348623157e+308",
    ],
    [Number.NaN, "NaN", "NaN", '"NaN"'],
    [Number.NEGATIVE_INFINITY, "-Infinity", "-Infinity", '"-Infinity"'],
  ])("writes the double %d as PostgreSQL, MySQL and JSON do", (value, ...texts) => {
    expect(everyStyle(value, 64)).toEqual(texts);
  });

  it.each([
    [0.1, "0.1", "0.1", "0.1"],
    [16_777_216, "1.6777216e+07", "16777216", "16777216"],
    [1_000_000, "1e+06", "1000000", "1000000"],
    [123_456, "123456", "123456", "123456"],
    [3.402_823_5e38, "3.4028235e+38", "3.4028235e38", "3.4028235e+38"],
    [1e-45, "1e-45", "1e-45", "1e-45"],
    [1.175_494_4e-38, "1.1754944e-38", "1.1754944e-38", "1.1754944e-38"],
  ])("writes the float32 nearest to %d without the digits of its double", (value, ...texts) => {
    expect(everyStyle(value, 32)).toEqual(texts);
  });

  it("writes no more digits of a float32 than needed, and always enough", () => {
    const shortest = fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = floatText(value, 32, jsonText);
      expect(Math.fround(Number(text))).toBe(value);
      const digits = Math.max(1, significant(text).length);
      for (let fewer = 1; fewer < digits; fewer += 1) {
        expect(Math.fround(Number(value.toPrecision(fewer)))).not.toBe(value);
      }
    });
    fc.assert(shortest, { numRuns: 1000 });
  });

  it("writes doubles as the runtime does where the layout is its own", () => {
    const plain = fc.double({ noNaN: true, noDefaultInfinity: true });
    const decimals = fc
      .tuple(fc.maxSafeInteger(), fc.nat(12))
      .map(([value, places]) => value / 10 ** places);
    const same = fc.property(fc.oneof(plain, decimals), (value) => {
      expect(floatText(value, 64, jsonText)).toBe(Object.is(value, -0) ? "-0" : String(value));
    });
    fc.assert(same, { numRuns: 1000 });
  });
});

function everyStyle(value: number, bits: 32 | 64): string[] {
  return [postgresText, mysqlText, jsonText].map((style) => floatText(value, bits, style));
}

function floatText(value: number, bits: 32 | 64, style: TextStyle): string {
  const out = new Uint8Array(64);
  const writer = cellWriter(vectorOf({ kind: "float", bits }, [value]), style);
  return textOf(out.subarray(0, writer.write(out, 0, 0)));
}

function significant(text: string): string {
  const digits = (text.split("e")[0] ?? "").replaceAll(/[-.]/g, "");
  return digits.replace(/^0+/, "").replace(/0+$/, "");
}
