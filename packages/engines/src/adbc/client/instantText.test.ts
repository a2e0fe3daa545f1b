import { describe, expect, it } from "vitest";
import { instantText } from "./instantText.ts";

describe("instantText", () => {
  it.each([
    ["us", 1_350_305_838_000_000n, "2012-10-15 12:57:18+00"],
    ["us", 1_709_210_096_789_000n, "2024-02-29 12:34:56.789+00"],
    ["s", -62_135_596_801n, "0001-12-31 23:59:59+00 BC"],
    ["us", 253_402_300_800_000_000n, "10000-01-01 00:00:00+00"],
  ] as const)("writes a count of %s, %s, as %s", (unit, value, text) => {
    expect(instantText({ type: { kind: "timestamp", unit, zoned: true }, value })).toBe(text);
  });

  it("leaves a NULL one", () => {
    const type = { kind: "timestamp", unit: "us", zoned: true } as const;
    expect(instantText({ type, value: null })).toBeNull();
  });
});
