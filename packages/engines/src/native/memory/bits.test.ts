import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bitAt, copyBits, countBits, setBits } from "./bits.ts";

const bitmap = fc.uint8Array({ minLength: 0, maxLength: 40 });
/** A share of what there is. */
const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("copyBits", () => {
  it("copies any range to any place and touches no other bit", () => {
    const check = fc.property(
      bitmap,
      bitmap,
      fc.tuple(place, place, place),
      (source, target, [first, second, third]) => {
        const from = Math.floor(first * source.length * 8);
        const at = Math.floor(second * target.length * 8);
        const count = Math.floor(
          third * (1 + Math.min(source.length * 8 - from, target.length * 8 - at)),
        );
        const before = bitsOf(target);
        const wanted = [
          ...before.slice(0, at),
          ...bitsOf(source).slice(from, from + count),
          ...before.slice(at + count),
        ];
        copyBits(target, at, source, { from, count });
        expect(bitsOf(target)).toEqual(wanted);
      },
    );
    fc.assert(check, { numRuns: 500 });
  });
});

describe("setBits and countBits", () => {
  it("set and count exactly the bits of a range", () => {
    const check = fc.property(bitmap, place, place, (bits, first, second) => {
      const at = Math.floor(first * bits.length * 8);
      const count = Math.floor(second * (1 + bits.length * 8 - at));
      expect(countBits(bits, at, count)).toBe(
        bitsOf(bits)
          .slice(at, at + count)
          .filter(Boolean).length,
      );
      const before = bitsOf(bits);
      setBits(bits, at, count);
      const wanted = before.map((bit, index) => bit || (index >= at && index < at + count));
      expect(bitsOf(bits)).toEqual(wanted);
    });
    fc.assert(check, { numRuns: 500 });
  });
});

function bitsOf(bytes: Uint8Array): boolean[] {
  return Array.from({ length: bytes.length * 8 }, (_, bit) => bitAt(bytes, bit));
}
