import { describe, expect, it } from "vitest";
import { hashText } from "./hash.ts";

describe("hashText", () => {
  it("never changes, because records of older releases hold it", () => {
    expect(hashText("")).toBe("1d70125522b52320de6e56844dd4a0d5");
    expect(hashText("select 1")).toBe("5ed15fb43bb144c41269346650f6c505");
  });

  it("tells texts apart that differ in one character, in order or in length", () => {
    const texts = new Set<string>();
    for (let index = 0; index < 50_000; index += 1) texts.add(`select ${index} from t${index % 7}`);
    for (let length = 0; length < 2_000; length += 1) texts.add("\0".repeat(length));
    const hashes = new Set([...texts].map(hashText));
    expect(hashes.size).toBe(texts.size);
  });

  it("spreads over all its bits", () => {
    const counts = Array.from({ length: 128 }, () => 0);
    const total = 4_000;
    for (let index = 0; index < total; index += 1) {
      const bits = BigInt(`0x${hashText(`a${index}`)}`);
      for (let bit = 0; bit < 128; bit += 1)
        counts[bit] = (counts[bit] ?? 0) + Number((bits >> BigInt(bit)) & 1n);
    }
    for (const count of counts) expect(Math.abs(count / total - 0.5)).toBeLessThan(0.05);
  });
});
