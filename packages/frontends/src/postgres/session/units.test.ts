import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { limitMs, quantityText, type Unit } from "./units.ts";

describe("quantityText", () => {
  it.each<[string, Unit, string | undefined]>([
    ["3000", "ms", "3s"],
    ["1500", "ms", "1500ms"],
    ["90s", "ms", "90s"],
    ["60000", "ms", "1min"],
    ["1.5 h", "ms", "90min"],
    ["2 d", "ms", "2d"],
    ["0", "ms", "0"],
    ["-0", "ms", "0"],
    ["100us", "ms", "0"],
    ["7200", "s", "2h"],
    ["65536", "kB", "64MB"],
    ["1GB", "kB", "1GB"],
    ["4100kB", "kB", "4100kB"],
    ["1024", "8kB", "8MB"],
    ["1MB", "ms", undefined],
    ["1mb", "kB", undefined],
    ["5s5", "ms", undefined],
    ["-1", "ms", undefined],
    ["3000000000", "ms", undefined],
    ["soon", "ms", undefined],
  ])("shows %j of %s as %s", (text, unit, shown) => {
    expect(quantityText(text, unit)).toBe(shown);
  });

  it("takes less than nothing where that means something", () => {
    expect(quantityText("-1", "ms", -1)).toBe("-1");
    expect(quantityText("-2", "ms", -1)).toBeUndefined();
  });

  it("shows what means the same", () => {
    const same = fc.property(fc.nat(), (ms) => {
      const shown = quantityText(String(ms), "ms") ?? "";
      expect(limitMs(shown)).toBe(ms);
      expect(quantityText(shown, "ms")).toBe(shown);
    });
    fc.assert(same);
  });
});

describe("limitMs", () => {
  it.each([
    ["0", 0],
    ["5000", 5000],
    ["5s", 5000],
    ["1.5 min", 90_000],
    ["2h", 7_200_000],
    ["", 0],
    ["-1", 0],
    ["5 parsecs", 0],
    ["100d", 0],
    [" ".repeat(100_000) + "5", 0],
  ])("reads %j", (text, expected) => {
    expect(limitMs(text)).toBe(expected);
  });
});
