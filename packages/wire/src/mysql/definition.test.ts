import { describe, expect, it } from "vitest";
import { blockPlaceOf, withBlocks, withoutBlock } from "./definition.ts";

/** `t.a`, an integer, as every client reads it: the names, and what has fixed places. */
const names = "03646566000174017401610161";
const fixed = "0c3f0002000000088100000000";
const plain = `${names}${fixed}`;
/** With the block of a text that is JSON (`format`), and with an empty one. */
const json = `${names}0601046a736f6e${fixed}`;
const empty = `${names}00${fixed}`;

describe("the block in a column definition", () => {
  it("is found where it is, with its length", () => {
    const at = names.length / 2;
    expect(blockPlaceOf(bytesOf(plain))).toEqual({ from: at, to: at });
    expect(blockPlaceOf(bytesOf(empty))).toEqual({ from: at, to: at + 1 });
    expect(blockPlaceOf(bytesOf(json))).toEqual({ from: at, to: at + 7 });
  });

  it("is none where its length is another, and nothing is read of what is no definition", () => {
    for (const other of [
      `${names}0501046a736f6e${fixed}`,
      `${names}0701046a736f6e${fixed}`,
      `${names}fe01${fixed}`,
      plain.slice(2),
      plain.slice(0, -2),
      "",
      "ff1704",
    ])
      expect(blockPlaceOf(bytesOf(other))).toBeUndefined();
  });

  it("is taken out, with a new length in the header", () => {
    const place = blockPlaceOf(bytesOf(json));
    if (place === undefined) throw new Error("no definition");
    expect(hexOf(withoutBlock(bytesOf(json), place))).toBe(packetOf(plain));
  });

  it("stands empty in every definition that has none, and the others stay as they are", () => {
    const before = packetOf(plain) + packetOf(json) + packetOf(empty) + packetOf(plain);
    const after = packetOf(empty) + packetOf(json) + packetOf(empty) + packetOf(empty);
    expect(hexOf(withBlocks(bytesOf(before)))).toBe(after);
  });
});

function packetOf(hex: string): string {
  return `${(hex.length / 2).toString(16).padStart(2, "0")}000000${hex}`;
}

function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex, "hex");
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
