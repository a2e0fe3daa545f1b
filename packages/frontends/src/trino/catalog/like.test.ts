import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLike } from "./like.ts";

describe("isLike", () => {
  it("agrees with the same pattern as a regular expression", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "%", "_"), maxLength: 8 });
    fc.assert(
      fc.property(text, text, (value, pattern) => {
        const regex = pattern.replaceAll("%", ".*").replaceAll("_", ".");
        expect(isLike(value, pattern)).toBe(new RegExp(`^${regex}$`).test(value));
      }),
    );
  });

  it("takes an escaped character as itself", () => {
    expect(isLike("a_b", "a\\_b", "\\")).toBe(true);
    expect(isLike("axb", "a\\_b", "\\")).toBe(false);
    expect(isLike("a\\", "a\\\\", "\\")).toBe(true);
  });

  it("stays quick on a pattern made to be slow", () => {
    expect(isLike("a".repeat(200), `${"%a".repeat(200)}b`)).toBe(false);
  });
});
