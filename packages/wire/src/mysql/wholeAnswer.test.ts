import { describe, expect, it } from "vitest";
import { wholeAnswer } from "./wholeAnswer.ts";

const count = [1];
const definition = [3, 100, 101, 102, 0, 0, 0];
const end = [0xfe, 3, 0, 2, 0];
const row = [1, 0x37];

describe("wholeAnswer", () => {
  it("finds the parts of a result", () => {
    const bytes = packets([count, definition, end, row, [0xfb], end]);
    const found = wholeAnswer(bytes);
    expect(found).toMatchObject({
      columns: 1,
      columnsStatus: 2,
      rows: { warnings: 3, status: 2 },
    });
    const { definitions, rows } = found ?? { definitions: undefined, rows: undefined };
    expect([...bytes.subarray(definitions?.start, definitions?.end)]).toEqual([
      ...packet(2, definition),
    ]);
    expect(rows?.count).toBe(2);
    expect([...bytes.subarray(rows?.start, rows?.end)]).toEqual([
      ...packet(4, row),
      ...packet(5, [0xfb]),
    ]);
  });

  it("finds one without rows, and one of more packets than they have numbers", () => {
    expect(wholeAnswer(packets([count, definition, end, end]))?.rows.count).toBe(0);
    const rows = Array.from({ length: 700 }, () => row);
    expect(wholeAnswer(packets([count, definition, end, ...rows, end]))?.rows.count).toBe(700);
  });

  it.each([
    ["nothing", []],
    ["that there is no result", [[0, 0, 0, 2, 0, 0, 0]]],
    ["an error", [[0xff, 1, 4, 35]]],
    ["a request for a file", [[0xfb, 97]]],
    ["an error behind the columns", [count, definition, [0xff, 1, 4, 35]]],
    ["an error behind a row", [count, definition, end, row, [0xff, 1, 4, 35]]],
    ["a result that another follows", [count, definition, end, row, [0xfe, 0, 0, 10, 0]]],
    ["a cursor", [count, definition, [0xfe, 0, 0, 66, 0], end]],
    ["what goes on behind its end", [count, definition, end, row, end, row]],
    ["what ends too early", [count, definition, end, row]],
    ["a definition too few", [[2], definition, end, row, end]],
    ["an empty row", [count, definition, end, [], end]],
  ])("leaves %s to who reads packets", (_what, payloads) => {
    expect(wholeAnswer(packets(payloads))).toBeUndefined();
  });

  it("finds nothing in any part of an answer, and none whose packets are out of order", () => {
    const bytes = packets([count, definition, end, row, end]);
    for (let cut = 0; cut < bytes.length; cut += 1)
      expect(wholeAnswer(bytes.subarray(0, cut))).toBeUndefined();
    for (const at of [3, 8, 19, 28, 34]) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) + 1;
      expect(wholeAnswer(changed)).toBeUndefined();
    }
  });
});

function packets(payloads: readonly (readonly number[])[]): Uint8Array {
  return Uint8Array.from(payloads.flatMap((payload, at) => packet(at + 1, payload)));
}

function packet(number: number, payload: readonly number[]): number[] {
  const { length } = payload;
  return [length & 255, length >> 8, 0, number & 255, ...payload];
}
