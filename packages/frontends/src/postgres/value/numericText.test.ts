import { vectorOf } from "@gateway/core/type/build.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { numericWriter } from "./numeric.ts";
import { numericTextWriter } from "./numericText.ts";

describe("numericTextWriter", () => {
  it.each([
    ["0", "0000 0000 0000 0000"],
    ["0.00", "0000 0000 0000 0002"],
    ["10000", "0001 0001 0000 0000 0001"],
    ["-0.05", "0001 ffff 4000 0002 01f4"],
    ["0.00001", "0001 fffe 0000 0005 03e8"],
    ["100000000.0000", "0001 0002 0000 0004 0001"],
    ["NaN", "0000 0000 c000 0000"],
    ["Infinity", "0000 0000 d000 0020"],
    ["-Infinity", "0000 0000 f000 0020"],
  ])("writes %s as PostgreSQL does", (text, expected) => {
    expect(hexOf(written(text))).toBe(expected.replaceAll(" ", ""));
  });

  it("writes every number as the same decimal is written, within its bound", () => {
    const digits = fc.array(fc.constantFrom("0", "0", "0", "1", "2", "5", "9"), {
      minLength: 1,
      maxLength: 19,
    });
    const number = fc.record({ negative: fc.boolean(), whole: digits, fraction: digits });
    fc.assert(
      fc.property(number, fc.boolean(), ({ negative, whole, fraction }, plain) => {
        const before = `${BigInt(whole.join(""))}`;
        const after = plain ? "" : fraction.join("");
        const unscaled = BigInt(before + after) * (negative ? -1n : 1n);
        const sign = unscaled < 0n ? "-" : "";
        const text = `${sign}${before}${after === "" ? "" : "."}${after}`;
        expect(hexOf(written(text))).toBe(hexOf(decimal(unscaled, after.length)));
      }),
    );
  });

  it("writes a number longer than any decimal", () => {
    const bytes = written(`${"1234".repeat(30_000)}.${"5".repeat(16_383)}`);
    // 34,096 groups behind the head, whose count has 16 bits.
    expect([bytes.length, hexOf(bytes.subarray(0, 2))]).toEqual([8 + 2 * 34_096, "8530"]);
  });

  it("never writes a text that is no number as one", () => {
    expect(() => written("1e5")).toThrow("no numeric");
  });
});

function written(text: string): Uint8Array {
  // A cell before it, so that its place counts.
  const writer = numericTextWriter(vectorOf({ kind: "text" }, ["1.5", text]));
  const out = new Uint8Array(writer.bound(1));
  const end = writer.write(out, 0, 1);
  expect(end).toBeLessThanOrEqual(out.length);
  return out.subarray(0, end);
}

function decimal(unscaled: bigint, scale: number): Uint8Array {
  const vector = vectorOf({ kind: "decimal", precision: 38, scale }, [unscaled]);
  const out = new Uint8Array(64);
  return out.subarray(
    0,
    numericWriter(vector, scale, { bits: 128, signed: true }).write(out, 0, 0),
  );
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
