import { describe, expect, it } from "vitest";
import { Pieces } from "./pieces.ts";

describe("pieces", () => {
  it("are one text at the end, however many they were", () => {
    const pieces = new Pieces();
    expect({ empty: pieces.isEmpty, last: pieces.last }).toEqual({ empty: true, last: "" });
    const all = Array.from({ length: 2_000 }, (_, index) => `${index},`);
    for (const piece of all) {
      pieces.push(piece);
      expect(pieces.last.endsWith(piece)).toBe(true);
    }
    expect(pieces.isEmpty).toBe(false);
    expect(pieces.toString()).toBe(all.join(""));
    pieces.push("end");
    expect(pieces.toString()).toBe(`${all.join("")}end`);
  });

  it("fall out from a mark on, unless it was taken back", () => {
    const pieces = new Pieces();
    for (let count = 0; count < 600; count += 1) pieces.push("a");
    pieces.mark(true);
    for (let count = 0; count < 600; count += 1) pieces.push("b");
    pieces.dropMarked();
    expect({ text: pieces.last, marked: pieces.isMarked }).toEqual({ text: "a", marked: true });
    pieces.push("c");
    pieces.mark(false);
    pieces.dropMarked();
    expect(pieces.toString()).toBe(`${"a".repeat(600)}c`);
  });
});
