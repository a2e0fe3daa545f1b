import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonOf } from "./json.ts";

describe("jsonOf", () => {
  it("copies whatever JSON can hold", () => {
    // NUL and half characters have their own test.
    const values = fc.jsonValue({ stringUnit: "grapheme" }).filter(isPossible);
    const same = fc.property(values, (value) => {
      const json = jsonOf(value, []);
      expect(json.ok && JSON.stringify(json.value)).toBe(JSON.stringify(value));
    });
    fc.assert(same);
  });

  it("leaves out keys without a value", () => {
    expect(jsonOf({ a: undefined, b: 1 }, [])).toEqual({ ok: true, value: { b: 1 } });
  });

  it.each([
    ["a\ud800", "is not Unicode text, or holds a NUL character"],
    ["a\0", "is not Unicode text, or holds a NUL character"],
    [Number.NaN, "must be a number that JSON can hold"],
    [undefined, "must be text, a number, true, false, null, a list or a map of keys"],
    [new Map(), "must be text, a number, true, false, null, a list or a map of keys"],
    [{ "a\udc00": 1 }, "has a key that is not Unicode text, or holds a NUL character"],
  ])("refuses %j with its path", (value, reason) => {
    const faults = [{ path: "clusters.duck[0]", reason }];
    expect(jsonOf([value], ["clusters", "duck"])).toEqual({ ok: false, error: faults });
  });

  it("refuses names that the seal and the language use, in every place", () => {
    const value: unknown = JSON.parse('{"tags": {"$sealed": "v1"}, "a": [{"__proto__": 1}]}');
    expect(jsonOf(value, [])).toEqual({
      ok: false,
      error: [
        { path: 'tags."$sealed"', reason: "is a reserved name" },
        { path: "a[0].__proto__", reason: "is a reserved name" },
      ],
    });
  });

  it("refuses what would take the stack, without taking it", () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 50_000; depth += 1) deep = [deep];
    const json = jsonOf(deep, []);
    expect(json.ok ? [] : json.error.map(({ reason }) => reason)).toEqual(["is nested too deeply"]);
  });
});

function isPossible(value: unknown): boolean {
  return !/\\u0000|__proto__|\$sealed/.test(JSON.stringify(value));
}
