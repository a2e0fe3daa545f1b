import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formDecode, formEncode, listItems, propertyPairs } from "./headers.ts";

describe("formEncode", () => {
  it("writes what Trino's own clients read", () => {
    expect(formEncode("Europe/Berlin")).toBe("Europe%2FBerlin");
    expect(formEncode("SELECT *\nWHERE (a = '?')")).toBe("SELECT+*%0AWHERE+%28a+%3D+%27%3F%27%29");
  });

  it("survives the way there and back, also with the separators of a list in it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const encoded = formEncode(text);
        expect(encoded).toMatch(/^[\w.*+%-]*$/);
        expect(formDecode(encoded)).toBe(text);
      }),
    );
  });

  it("leaves what stands for itself", () => {
    expect(formEncode("aZ_09-.*")).toBe("aZ_09-.*");
    expect(formEncode("a\n")).toBe("a%0A");
  });

  it("encodes text that is not well-formed instead of throwing", () => {
    expect(formEncode("a\ud800b")).toBe("a%EF%BF%BDb");
  });
});

describe("formDecode", () => {
  it("answers undefined for a broken escape and for bytes that are not UTF-8", () => {
    expect(formDecode("100%")).toBeUndefined();
    expect(formDecode("%ff")).toBeUndefined();
  });
});

describe("listItems", () => {
  it("trims items and leaves out empty ones", () => {
    expect(listItems(" a:1, b ,,c")).toEqual(["a:1", "b", "c"]);
    expect(listItems("")).toEqual([]);
  });
});

describe("propertyPairs", () => {
  it("splits at the first equals sign and decodes", () => {
    expect(propertyPairs("a=1, cat.b=x+y%2Cz,c=d=e,f=")).toEqual([
      ["a", "1"],
      ["cat.b", "x y,z"],
      ["c", "d=e"],
      ["f", ""],
    ]);
  });

  it("refuses an item without a name, without a value, or that does not decode", () => {
    for (const broken of ["a", "=1", "a=1,b", "a=%zz"]) {
      expect(propertyPairs(broken)).toBeUndefined();
    }
  });

  it("reads what was encoded, whatever the names and values", () => {
    const pairs = fc.array(
      fc.tuple(fc.string({ minLength: 1, unit: "grapheme" }), fc.string({ unit: "grapheme" })),
    );
    fc.assert(
      fc.property(pairs, (wanted) => {
        const header = wanted.map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`);
        expect(propertyPairs(header.join(","))).toEqual(wanted);
      }),
    );
  });
});
