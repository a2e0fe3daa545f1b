import { closeSync } from "node:fs";
import { platform } from "node:process";
import { describe, expect, it } from "vitest";
import { ReadableBlocks, SharedMemory, WritableBlocks } from "./sharedBlocks.ts";

const bytes = 1 << 20;
const line = 1;

describe.skipIf(platform !== "linux")("blocks that a driver's thread and the gateway share", () => {
  it("show the gateway what the thread wrote, and are its own until it gives them back", () => {
    const { writable, readable, returned } = linesOf();
    const first = written(writable, 1);
    const second = written(writable, 2);
    const read = [first, second].map((number) => readable.read(number, bytes));
    expect(read.map(({ message }) => allOf(message))).toEqual([1, 2]);
    expect(() => readable.read(first, bytes)).toThrow(/block/);
    read[1]?.release();
    read[1]?.release();
    expect(returned).toEqual([second]);
    // The one that came back, and not the one that is being read.
    writable.returned(second);
    expect(written(writable, 3)).toBe(second);
    expect(allOf(read[0]?.message)).toBe(1);
    expect(allOf(readable.read(second, bytes).message)).toBe(3);
    readable.close();
  });

  it("run out, and then a message goes another way after one wait", () => {
    const { writable, readable, returned } = linesOf();
    const numbers = Array.from({ length: 8 }, (_, fill) => written(writable, fill));
    expect(new Set(numbers).size).toBe(8);
    const waits: number[] = [];
    const never = { within: (ms: number) => (waits.push(ms), undefined) };
    expect([writable.take(bytes, never), writable.take(bytes, never)]).toEqual([
      undefined,
      undefined,
    ]);
    expect(waits.filter((ms) => ms > 0)).toHaveLength(1);
    readable.read(numbers[5] ?? 0, bytes).release();
    expect(written(writable, 9, returned)).toBe(numbers[5]);
    readable.close();
  });

  it("hold nothing of one answer in the next", () => {
    const { writable, readable, returned } = linesOf();
    const [early, late] = [written(writable, 1), written(writable, 2)];
    const reading = readable.read(late, bytes);
    readable.read(early, bytes).release();
    writable.returned(returned.shift() ?? -1);
    writable.answered();
    expect(allOf(reading.message)).toBe(2);
    reading.release();
    writable.returned(returned.shift() ?? -1);
    const taken = Array.from({ length: 8 }, () => writable.take(bytes, nothing));
    expect(taken.map(allOf)).toEqual(taken.map(() => 0));
    readable.close();
  });

  it("are for large messages, and believe no number of a broken process", () => {
    const { writable, readable } = linesOf();
    expect(writable.take(1_000, nothing)).toBeUndefined();
    expect(writable.take(3 << 20, nothing)).toBeUndefined();
    for (const [number, length] of [
      [-1, bytes],
      [8, bytes],
      [0, (2 << 20) + 1],
    ] as const) {
      expect(() => readable.read(number, length)).toThrow(RangeError);
    }
    readable.close();
  });

  it("stay readable behind the end of their process", () => {
    const memory = SharedMemory.of(1);
    if (memory === undefined) throw new Error("no shared memory");
    const readable = new ReadableBlocks(memory, 0, () => {
      throw new Error("given back to nobody");
    });
    const writable = new WritableBlocks(memory.descriptor, 0);
    const { message, release } = readable.read(written(writable, 7), bytes);
    readable.close();
    // Its last line is closed, so the descriptor is as well.
    expect(() => closeSync(memory.descriptor)).toThrow(/EBADF/);
    expect(allOf(message)).toBe(7);
    release();
  });
});

const nothing = { within: () => undefined };

function linesOf() {
  const memory = SharedMemory.of(line + 1);
  if (memory === undefined) throw new Error("no shared memory");
  const returned: number[] = [];
  return {
    writable: new WritableBlocks(memory.descriptor, line),
    readable: new ReadableBlocks(memory, line, (number) => returned.push(number)),
    returned,
  };
}

/** Fills a block and hands it over; answers its number. */
function written(writable: WritableBlocks, fill: number, returned: number[] = []): number {
  const message = writable.take(bytes, { within: () => returned.shift() });
  const number = message && writable.numberOf(message.buffer);
  if (number === undefined) throw new Error("no block");
  message?.fill(fill);
  writable.sent(number);
  return number;
}

/** The byte that all of it is; undefined where there are several. */
function allOf(message: Uint8Array | undefined): number | undefined {
  const [first] = message ?? [];
  return message?.every((byte) => byte === first) === true ? first : undefined;
}
