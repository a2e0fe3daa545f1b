import { giveBack } from "@gateway/core/tool/socket/lent.ts";
import { afterEach, describe, expect, it } from "vitest";
import { lentBytes, ReadBuffer } from "./readBuffer.ts";

const least = 64 * 1024;
const most = 1024 * 1024;
const opened: ReadBuffer[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

describe("a read buffer", () => {
  it("copies short pieces, and goes on in the same memory", () => {
    const reading = opening();
    const before = reading.free;
    before.fill(1, 0, 10);
    const piece = reading.take(10);
    expect(reading.free).toBe(before);
    before.fill(2, 0, 10);
    expect(piece).toEqual(Buffer.alloc(10, 1));
  });

  it("never reads again into what was not given back", () => {
    const reading = opening();
    const memory = new Set<ArrayBufferLike>();
    for (let count = 0; count < 50; count += 1) memory.add(filled(reading).buffer);
    expect(memory.size).toBe(50);
    expect(reading.free.length).toBe(least);
  });

  it("reads again into what was given back, and more at once", () => {
    const reading = opening();
    const sizes = new Set<number>();
    for (let count = 0; count < 20; count += 1) {
      sizes.add(reading.free.length);
      giveBack(filled(reading));
    }
    expect([...sizes]).toEqual([least, 4 * least, most]);
    const memory = new Set<ArrayBufferLike>();
    for (let count = 0; count < 50; count += 1) {
      const piece = filled(reading);
      memory.add(piece.buffer);
      giveBack(piece);
    }
    expect(memory.size).toBe(2);
  });

  it("reads no more at once than is there to be read", () => {
    const reading = opening();
    for (let count = 0; count < 20; count += 1) giveBack(reading.take(lentBytes));
    expect(reading.free.length).toBe(least);
  });

  it("copies what would hold much more memory than it fills", () => {
    const reading = widened();
    const before = reading.free;
    for (const count of [lentBytes, most / 8 - 1]) {
      const piece = reading.take(count);
      expect(piece.buffer.byteLength).toBe(count);
      expect(reading.free).toBe(before);
    }
    expect(reading.take(most / 8).buffer).toBe(before.buffer);
  });

  it("is as small as before once the result is over", () => {
    const reading = widened();
    const last = filled(reading);
    reading.rest();
    giveBack(last);
    expect(reading.free.length).toBe(most);
    // Somebody may be reading into it already.
    reading.free.fill(7, 0, 5);
    expect(reading.take(5)).toEqual(Buffer.alloc(5, 7));
    expect(reading.free.length).toBe(least);
  });

  it("leaves more at once to sixteen of a process", () => {
    const wide = Array.from({ length: 16 }, widened);
    expect(wide.every(({ free }) => free.length === most)).toBe(true);
    const late = widened();
    expect(late.free.length).toBe(least);
    wide[3]?.close();
    wide[3]?.close();
    for (let count = 0; count < 20; count += 1) giveBack(filled(late));
    expect(late.free.length).toBe(most);
    expect(widened().free.length).toBe(least);
  });
});

function opening(): ReadBuffer {
  const reading = new ReadBuffer();
  opened.push(reading);
  return reading;
}

function widened(): ReadBuffer {
  const reading = opening();
  for (let count = 0; count < 20; count += 1) giveBack(filled(reading));
  return reading;
}

function filled(reading: ReadBuffer): Buffer {
  return reading.take(reading.free.length);
}
