import { platform } from "node:process";
import { describe, expect, it } from "vitest";
import { addressOf, loadLibrary } from "./native.ts";
import { zeroPagesGiver } from "./zeroPages.ts";

declare const WebAssembly: {
  Memory: new (descriptor: { initial: number }) => { readonly buffer: ArrayBuffer };
};

/** A whole number of pages of any system. */
const partBytes = 64 << 10;

describe.skipIf(platform !== "linux")("zeroPagesGiver", () => {
  it("gives back what holds zeros, and leaves every byte as it is", () => {
    const memory = new WebAssembly.Memory({ initial: 3 }).buffer;
    const bytes = new Uint8Array(memory).fill(0xff);
    bytes.fill(0, partBytes, 2 * partBytes);
    const before = bytes.slice();

    expect(zeroPagesGiver()?.(memory)).toBe(partBytes);
    expect(pagesOf(memory)).toEqual([1, 0, 1]);
    expect(bytes).toEqual(before);
  });

  it("keeps a page whose last byte is none", () => {
    const memory = new WebAssembly.Memory({ initial: 1 }).buffer;
    const bytes = new Uint8Array(memory).fill(0xff).fill(0);
    bytes[bytes.length - 1] = 1;
    zeroPagesGiver()?.(memory);
    expect(bytes.at(-1)).toBe(1);
  });

  it("takes memory that begins in the middle of a page for somebody else's", () => {
    // The C library's own words stand before it.
    const memory = new ArrayBuffer(16 * partBytes);
    new Uint8Array(memory).fill(1).fill(0);
    const aligned = addressOf(memory) % 4096 === 0;
    expect(zeroPagesGiver()?.(memory) === 0).toBe(!aligned);
  });
});

/** For each part: whether its first page is there. */
function pagesOf(memory: ArrayBuffer): readonly number[] {
  const takes = ["pointer", "uint64", "pointer"] as const;
  const look = loadLibrary(null).get("mincore", { answer: "int32", takes });
  return Array.from({ length: memory.byteLength / partBytes }, (_, part) => {
    const there = new Uint8Array(partBytes / 4096);
    look(addressOf(memory) + part * partBytes, partBytes, addressOf(there.buffer));
    return (there[0] ?? 0) & 1;
  });
}
