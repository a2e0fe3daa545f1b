import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { typeName } from "./name.ts";
import { anyType } from "./rig/values.ts";

describe("typeName", () => {
  it("names what a type is made of", () => {
    expect(typeName({ kind: "decimal", precision: 12, scale: 2 })).toBe("decimal(12,2)");
    expect(typeName({ kind: "timestamp", unit: "us", zoned: true })).toBe("timestamp(6) zoned");
    const item = { kind: "integer", bits: 64, signed: false } as const;
    expect(typeName({ kind: "list", item })).toBe("list(uint64)");
  });

  it("gives different types different names, also when field names try to look like types", () => {
    const distinct = fc.property(anyType, anyType, (a, b) => {
      expect(typeName(a) === typeName(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
    });
    fc.assert(distinct, { numRuns: 1000 });
  });
});
