import { describe, expect, it } from "vitest";
import { repeatedText } from "./text.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("repeatedText", () => {
  it("reads what comes, again and anew, and keeps no bytes of who gave them", () => {
    const first = bytesOf("SELECT 1");
    expect(repeatedText(first)).toBe("SELECT 1");
    first[7] = 0x32;
    expect(repeatedText(first)).toBe("SELECT 2");
    for (const text of ["", "\uFEFFé", "SELECT 2", "x".repeat(1_000), "SELECT 2"])
      expect(repeatedText(bytesOf(text))).toBe(text);
  });

  it("refuses what is not UTF-8, each time, and forgets nothing by that", () => {
    expect(repeatedText(bytesOf("a"))).toBe("a");
    for (let turn = 0; turn < 2; turn += 1) {
      expect(repeatedText(Uint8Array.of(0xff))).toBeUndefined();
      expect(repeatedText(Uint8Array.of(0xc3))).toBeUndefined();
    }
    expect(repeatedText(bytesOf("a"))).toBe("a");
  });

  it("tells texts apart that share a place", () => {
    for (let turn = 0; turn < 3; turn += 1)
      for (let n = 0; n < 5_000; n += 1) {
        const text = `select ${n * 7_919}`;
        expect(repeatedText(bytesOf(text))).toBe(text);
      }
  });
});
