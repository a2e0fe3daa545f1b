import { describe, expect, it } from "vitest";
import { RepeatedText } from "./repeated.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("RepeatedText", () => {
  it("reads what comes, again and anew, and keeps no bytes of who gave them", () => {
    const texts = new RepeatedText();
    const first = bytesOf("SELECT 1");
    expect(texts.of(first)).toBe("SELECT 1");
    first[7] = 0x32;
    expect(texts.of(first)).toBe("SELECT 2");
    for (const text of ["", "é", "SELECT 2", "x".repeat(1_000), "SELECT 2"])
      expect(texts.of(bytesOf(text))).toBe(text);
  });

  it("refuses what is not UTF-8, and forgets nothing by that", () => {
    const texts = new RepeatedText();
    expect(texts.of(bytesOf("a"))).toBe("a");
    expect(texts.of(Uint8Array.of(0xff))).toBeUndefined();
    expect(texts.of(bytesOf("a"))).toBe("a");
  });
});
