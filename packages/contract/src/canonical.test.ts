import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, type Json } from "./canonical.ts";

describe("canonicalJson", () => {
  // RFC 8785 appendix B: IEEE 754 bits and their text.
  it.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("writes the number with the bits %s as %s", (bits, text) => {
    expect(canonicalJson(numberOf(bits))).toBe(text);
  });

  it("refuses numbers that JSON does not have", () => {
    for (const number of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect(() => canonicalJson(number)).toThrow(TypeError);
    }
  });

  // RFC 8785 section 3.2.3.
  it("orders keys by UTF-16 code units", () => {
    const value = {
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis",
    };
    const order = [...canonicalJson(value).matchAll(/:"([^"]+)"/g)].map(([, text]) => text);
    expect(order).toEqual([
      "Carriage Return",
      "One",
      "Control",
      "Latin Small Letter O With Diaeresis",
      "Euro Sign",
      "Emoji: Grinning Face",
      "Hebrew Letter Dalet With Dagesh",
    ]);
  });

  // RFC 8785 section 3.2.2.
  it("escapes what has to be escaped and nothing else", () => {
    const value = {
      numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it("writes no key whose value is undefined", () => {
    expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}');
  });

  it("refuses half a character, in a value and in a key", () => {
    for (const value of ["a\ud800", ["\udc00"], { "\ud83d": 1 }]) {
      expect(() => canonicalJson(value)).toThrow("not Unicode text");
    }
  });

  it("answers the same for any order of keys, before and after it was read again", () => {
    const stable = fc.property(json, fc.infiniteStream(fc.nat()), (value, chance) => {
      const text = canonicalJson(value);
      expect(canonicalJson(shuffled(value, chance))).toBe(text);
      expect(canonicalJson(JSON.parse(text) as Json)).toBe(text);
    });
    fc.assert(stable);
  });
});

const json = fc
  .jsonValue({ stringUnit: "grapheme" })
  .map((value) => JSON.parse(JSON.stringify(value)) as Json);

function numberOf(bits: string): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${bits}`));
  return view.getFloat64(0);
}

/** The same value with its keys entered in another order. */
function shuffled(value: Json, chance: Iterator<number>): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => shuffled(item, chance));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => ({
    key,
    member: shuffled(member ?? null, chance),
    rank: Number(chance.next().value),
  }));
  return Object.fromEntries(
    entries.toSorted((a, b) => a.rank - b.rank).map(({ key, member }) => [key, member]),
  );
}
