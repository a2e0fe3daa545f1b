import { describe, expect, it } from "vitest";
import { CountedText } from "./countedText.ts";

describe("CountedText", () => {
  it("counts as numbers are written, and gets longer where it has to", () => {
    const texts = new CountedText("before/", "0", "", 36);
    const numbers = Array.from({ length: 50_000 }, (_, n) => n + 1);
    expect(numbers.filter((n) => texts.next() !== `before/${n.toString(36)}`)).toEqual([]);
  });

  it("keeps zeros in front and what is behind", () => {
    const texts = new CountedText("x_", "00997", "_y9", 10);
    expect([texts.next(), texts.next(), texts.next()]).toEqual([
      "x_00998_y9",
      "x_00999_y9",
      "x_01000_y9",
    ]);
    const last = new CountedText("9", "9", "9", 10);
    expect([last.next(), last.next()]).toEqual(["9109", "9119"]);
  });
});
