import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLike } from "./filter.ts";

describe("isLike", () => {
  it("knows both wildcards and their escapes", () => {
    const cases: readonly (readonly [string, string, boolean])[] = [
      ["abc", "a%", true],
      ["abc", "_b_", true],
      ["abc", "a_", false],
      ["a%c", "a\\%c", true],
      ["abc", "a\\%c", false],
      ["", "%", true],
      ["", "_", false],
      ["abcabc", "%abc", true],
      ["a_b", "a\\_b", true],
      ["axb", "a\\_b", false],
    ];
    for (const [text, pattern, expected] of cases) {
      expect([text, pattern, isLike(text, pattern)]).toEqual([text, pattern, expected]);
    }
  });

  it("agrees with a regular expression", () => {
    const short = fc.string({ unit: fc.constantFrom("a", "b", "%", "_"), maxLength: 8 });
    const plain = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });
    fc.assert(
      fc.property(plain, short, (text, pattern) => {
        const regex = pattern.replaceAll("%", ".*").replaceAll("_", ".");
        expect(isLike(text, pattern)).toBe(new RegExp(`^${regex}$`).test(text));
      }),
    );
  });

  it("takes no long time for many wildcards", () => {
    expect(isLike("a".repeat(5000), `${"%a".repeat(500)}b`)).toBe(false);
  });
});
