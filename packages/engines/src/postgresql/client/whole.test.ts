import { describe, expect, it } from "vitest";
import { readWhole } from "./whole.ts";

describe("readWhole", () => {
  it("reads answers with the head of the one before as it reads any other", () => {
    const read = ["n", "m", "n", "n", "nn", "n"].map((name, at) =>
      shownOf(answer(name, Array.from({ length: at }, String)), true),
    );
    expect(read).toEqual([
      "n: SELECT 0 of 0",
      "m: SELECT 1 of 1",
      "n: SELECT 2 of 2",
      "n: SELECT 3 of 3",
      "nn: SELECT 4 of 4",
      "n: SELECT 5 of 5",
    ]);
  });

  it("passes on no answer to a Parse and a Bind, whichever protocol was before", () => {
    const prepared = Buffer.concat([message("1", []), message("2", [])]);
    for (const simple of [true, false, false, true, true]) {
      const bytes = answer("n", ["7"]);
      const whole = readWhole(simple ? bytes : Buffer.concat([prepared, bytes]), simple);
      expect(Buffer.from(whole?.written ?? []).equals(bytes.subarray(0, -readyBytes))).toBe(true);
    }
    expect(readWhole(answer("n", ["7"]), false)).toBeUndefined();
  });

  it("leaves whatever goes wrong behind a known head to who reads messages", () => {
    const bytes = answer("n", ["7"]);
    expect(shownOf(bytes, true)).toBe("n: SELECT 1 of 1");
    for (let length = 0; length < bytes.length; length += 1)
      expect(readWhole(bytes.subarray(0, length), true)).toBeUndefined();
    expect(readWhole(Buffer.concat([bytes, bytes]), true)).toBeUndefined();
    // A row of two cells behind a description of one column.
    const wide = message("D", [0, 2, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(readWhole(Buffer.concat([head("n"), wide, end(1)]), true)).toBeUndefined();
  });

  it("keeps nothing of the bytes that it read", () => {
    const bytes = answer("kept", ["7"]);
    expect(shownOf(bytes, true)).toBe("kept: SELECT 1 of 1");
    bytes.fill(0);
    expect(shownOf(answer("kept", ["8"]), true)).toBe("kept: SELECT 1 of 1");
  });
});

const readyBytes = 6;

function shownOf(bytes: Uint8Array, simple: boolean): string | undefined {
  const whole = readWhole(bytes, simple);
  return whole && `${whole.fields.map(({ name }) => name).join()}: ${whole.tag} of ${whole.count}`;
}

function answer(name: string, values: readonly string[]): Buffer {
  const rows = values.map((value) => message("D", [0, 1, 0, 0, 0, value.length, ...text(value)]));
  return Buffer.concat([head(name), ...rows, end(values.length)]);
}

function head(name: string): Buffer {
  const field = [0, 0, 0, 0, 0, 0, 0, 0, 0, 23, 0, 4, 255, 255, 255, 255, 0, 0];
  return message("T", [0, 1, ...text(name), 0, ...field]);
}

function end(count: number): Buffer {
  return Buffer.concat([message("C", [...text(`SELECT ${count}`), 0]), message("Z", [0x49])]);
}

function message(letter: string, body: readonly number[]): Buffer {
  const bytes = Buffer.from([letter.charCodeAt(0), 0, 0, 0, 0, ...body]);
  bytes.writeInt32BE(4 + body.length, 1);
  return bytes;
}

function text(value: string): readonly number[] {
  return [...Buffer.from(value)];
}
