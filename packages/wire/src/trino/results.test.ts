import { describe, expect, it } from "vitest";
import { durationMs, durationText } from "./results.ts";

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

describe("durationMs", () => {
  it("reads every unit, and nothing that is no duration", () => {
    expect(
      ["2.00s", "5m", " 1.5 h ", "100.00d", "7ms", "1000us", "2000000ns"].map(durationMs),
    ).toEqual([2000, 300_000, 5_400_000, 8_640_000_000, 7, 1, 2]);
    expect(["", "5", "s", "-1s", "1w", "1.s", "1e3s"].map(durationMs)).toEqual(
      Array.from({ length: 7 }, () => undefined),
    );
  });
});
