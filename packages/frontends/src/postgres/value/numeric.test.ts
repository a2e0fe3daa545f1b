import { vectorOf } from "@gateway/core/type/build.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { numericFromBinary, numericFromText, numericWriter, precisionOf } from "./numeric.ts";

const end = 10n ** 38n;

describe("numericWriter", () => {
  it.each([
    [0n, 0, "0000 0000 0000 0000"],
    [0n, 2, "0000 0000 0000 0002"],
    [1n, 0, "0001 0000 0000 0000 0001"],
    [-1n, 0, "0001 0000 4000 0000 0001"],
    [10_000n, 0, "0001 0001 0000 0000 0001"],
    [12_345n, 2, "0002 0000 0000 0002 007b 1194"],
    [-5n, 2, "0001 ffff 4000 0002 01f4"],
    [1n, 5, "0001 fffe 0000 0005 03e8"],
    [123_456_789n, 0, "0003 0002 0000 0000 0001 0929 1a85"],
  ])("writes %s at scale %i as PostgreSQL does", (unscaled, scale, expected) => {
    expect(hexOf(written(unscaled, scale))).toBe(expected.replaceAll(" ", ""));
  });

  it("reads back exactly, for every decimal of 38 digits and every scale", () => {
    const exact = fc.property(
      fc.bigInt({ min: -end + 1n, max: end - 1n }),
      fc.integer({ min: 0, max: 38 }),
      (unscaled, scale) => {
        expect(numericFromBinary(written(unscaled, scale))).toEqual({ unscaled, scale });
      },
    );
    fc.assert(exact, { numRuns: 500 });
  });

  it("reads back exactly around the edge of exact numbers", () => {
    const edge = 2n ** 53n;
    for (const near of [edge - 1n, edge, edge + 1n, -edge - 1n, edge / 1000n, edge / 10n + 1n]) {
      for (const scale of [0, 1, 2, 3, 4, 9]) {
        expect(numericFromBinary(written(near, scale))).toEqual({ unscaled: near, scale });
      }
    }
  });

  it("keeps every digit of unsigned 64-bit and signed 128-bit integers", () => {
    const wide = { kind: "integer", bits: 64, signed: false } as const;
    const vector = vectorOf(wide, [2n ** 64n - 1n]);
    const out = new Uint8Array(64);
    const writer = numericWriter(vector, 0, { bits: 64, signed: false });
    const bytes = out.subarray(0, writer.write(out, 0, 0));
    expect(bytes.length).toBeLessThanOrEqual(writer.bound(0));
    expect(numericFromBinary(bytes)).toEqual({ unscaled: 2n ** 64n - 1n, scale: 0 });

    const lowest = -(2n ** 127n);
    const widest = vectorOf({ kind: "integer", bits: 128, signed: true }, [lowest]);
    const end128 = numericWriter(widest, 0, { bits: 128, signed: true }).write(out, 0, 0);
    expect(out.subarray(0, end128).length).toBe(8 + 10 * 2);
    // 39 digits: more than a decimal parameter may have, so the groups are compared themselves.
    expect(hexOf(out.subarray(0, 10))).toBe("000a0009400000000000".slice(0, 16) + "00aa");
  });
});

describe("numericFromBinary", () => {
  it.each([
    ["0000000000", "malformed"],
    ["0001 0000 0000 0000", "malformed"],
    ["0001 0000 0000 0000 2710", "malformed"],
    ["0000 0000 1234 0000", "malformed"],
    ["0000 0000 c000 0000", "notANumber"],
    ["0000 0000 d000 0000", "notANumber"],
    ["0001 7fff 0000 0000 0001", "tooManyDigits"],
    ["0000 0000 0000 3fff", "tooManyDigits"],
  ])("refuses %s as %s", (hex, fault) => {
    expect(numericFromBinary(bytesOf(hex))).toBe(fault);
  });

  it("never throws, whatever the bytes are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const read = numericFromBinary(bytes);
        const unscaled = typeof read === "string" ? 0n : read.unscaled;
        expect(unscaled > -end && unscaled < end).toBe(true);
      }),
    );
  });
});

describe("numericFromText", () => {
  it.each([
    ["1.50", 150n, 2],
    [" -0.5 ", -5n, 1],
    ["+.5", 5n, 1],
    ["5.", 5n, 0],
    ["1e3", 1000n, 0],
    ["1.5e1", 15n, 0],
    ["1e-5", 1n, 5],
    ["12.345E-1", 12_345n, 4],
  ])("reads %s", (text, unscaled, scale) => {
    expect(numericFromText(text)).toEqual({ unscaled, scale });
  });

  it.each([
    ["", "malformed"],
    [".", "malformed"],
    ["1,5", "malformed"],
    ["1e99999", "malformed"],
    ["NaN", "notANumber"],
    ["-Infinity", "notANumber"],
    ["1e39", "tooManyDigits"],
    ["1e-39", "tooManyDigits"],
    ["9".repeat(39), "tooManyDigits"],
    ["9".repeat(100_000), "tooManyDigits"],
  ])("refuses %s as %s", (text, fault) => {
    expect(numericFromText(text)).toBe(fault);
  });
});

describe("precisionOf", () => {
  it("counts digits, and at least as many as the scale", () => {
    expect(precisionOf({ unscaled: 12_345n, scale: 2 })).toBe(5);
    expect(precisionOf({ unscaled: -5n, scale: 3 })).toBe(3);
    expect(precisionOf({ unscaled: 0n, scale: 0 })).toBe(1);
  });
});

function written(unscaled: bigint, scale: number): Uint8Array {
  const vector = vectorOf({ kind: "decimal", precision: 38, scale }, [unscaled]);
  const out = new Uint8Array(64);
  const writer = numericWriter(vector, scale, { bits: 128, signed: true });
  const bytes = out.subarray(0, writer.write(out, 0, 0));
  expect(bytes.length).toBeLessThanOrEqual(writer.bound(0));
  return bytes.slice();
}

function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex.replaceAll(" ", ""), "hex");
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
