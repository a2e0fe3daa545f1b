import { describe, expect, it } from "vitest";
import { durationText } from "./results.ts";

describe("durationText", () => {
  it("uses the largest unit that is at least one", () => {
    expect([0, 999, 46_680, 192_000, 7_200_000, 216_000_000].map(durationText)).toEqual([
      "0.00ms",
      "999.00ms",
      "46.68s",
      "3.20m",
      "2.00h",
      "2.50d",
    ]);
  });
});
