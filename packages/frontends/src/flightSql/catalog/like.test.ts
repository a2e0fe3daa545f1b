import { describe, expect, it } from "vitest";
import { likeOf } from "./like.ts";

describe("likeOf", () => {
  it("takes every name without a pattern", () => {
    expect(likeOf(undefined)("anything")).toBe(true);
  });

  it("reads percent signs, underscores and what a backslash makes of them", () => {
    const cases: readonly (readonly [string, string, boolean])[] = [
      ["%", "", true],
      ["a%", "abc", true],
      ["%c", "abc", true],
      ["%b%", "abc", true],
      ["a_c", "abc", true],
      ["a_c", "ac", false],
      ["a\\_c", "abc", false],
      ["a\\_c", "a_c", true],
      ["100\\%", "100%", true],
      ["", "a", false],
      ["%a%a%", "xaya", true],
      ["😀_", "😀x", true],
    ];
    for (const [pattern, name, fits] of cases) {
      expect([pattern, name, likeOf(pattern)(name)]).toEqual([pattern, name, fits]);
    }
  });

  it("takes no time that grows without measure", () => {
    expect(likeOf(`${"%a".repeat(50)}b`)("a".repeat(2_000))).toBe(false);
  });
});
