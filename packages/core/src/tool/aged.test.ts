import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Aged } from "./aged.ts";

describe("Aged", () => {
  it("names the same oldest entry as a list that is searched", () => {
    const step = fc.record({
      key: fc.nat(6),
      what: fc.constantFrom("put", "delete", "ask", "clear"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const aged = new Aged<number, number>();
        let listed: (readonly [number, number])[] = [];
        for (const [at, { key, what }] of steps.entries()) {
          const asked = what === "ask" ? aged.oldest : listed[0];
          expect(asked).toEqual(listed[0]);
          if (what === "clear") aged.clear();
          if (what === "put") aged.put(key, at);
          if (what === "delete") aged.delete(key);
          if (what === "put" || what === "delete") listed = listed.filter(([one]) => one !== key);
          if (what === "clear") listed = [];
          if (what === "put") listed.push([key, at]);
          expect(aged.size).toBe(listed.length);
        }
        expect(aged.oldest).toEqual(listed[0]);
        expect([...aged.values()]).toEqual(listed.map(([, value]) => value));
      }),
    );
  });

  it("makes room for what comes by what was put longest ago", () => {
    const aged = new Aged<string, number>();
    for (const [at, key] of ["a", "b", "a", "c"].entries()) aged.putWithin(2, key, at);
    expect(["a", "b", "c"].map((key) => aged.get(key))).toEqual([2, undefined, 3]);
  });

  it("answers what stands under a key", () => {
    const aged = new Aged<string, number>();
    aged.put("a", 1);
    expect([aged.get("a"), aged.get("b")]).toEqual([1, undefined]);
  });
});
