import { describe, expect, it } from "vitest";
import { spansOf } from "./cells.ts";
import { signalledFields, SignalledRows } from "./signalled.ts";

const encoder = new TextEncoder();

describe("SignalledRows", () => {
  it.each([
    ["text", 0, ["7", "8", null, "x", "2147483647"], ["t", "f", null, "f", "f"]],
    [
      "binary",
      1,
      [[0, 0, 0, 7], [0, 0, 0, 8], null, [7], [0x7f, 0xff, 0xff, 0xff]],
      [1, 0, null, 0, 0],
    ],
  ] as const)(
    "says of each number in %s whether it was signalled",
    async (_form, format, cells, told) => {
      const asked: number[] = [];
      const rows = new SignalledRows(fieldsOf(format), {
        column: -2,
        signal: (process) => {
          asked.push(process);
          return process === 7 ? Promise.resolve(true) : false;
        },
      });
      const run = runOf(cells.map((cell) => ["before", cell, "behind"]));
      const { bytes, count } = await rows.read(run);
      const expected = told.map((cell) => [
        "before",
        typeof cell === "number" ? [cell] : cell,
        "behind",
      ]);
      expect([cellsOf(bytes, count), bytes.length]).toEqual([
        expected.map((row) => row.map(bytesOf)),
        runOf(expected).bytes.length,
      ]);
      expect(asked).toEqual([7, 8, 0, 0x7fff_ffff]);
      expect(rows.warning).toMatchObject({ kind: "notice", text: expect.stringContaining("3 of") });
    },
  );

  it("warns of nothing where all were signalled, and leaves rows without numbers as they are", async () => {
    const rows = new SignalledRows(fieldsOf(0), { column: 1, signal: () => true });
    const run = runOf([["a", null, "b"]]);
    expect(await rows.read(run)).toEqual({ ...run, bytes: Buffer.from(run.bytes) });
    expect(rows.warning).toBeUndefined();
  });

  it("asks of no more processes than a server may have", async () => {
    let asked = 0;
    const rows = new SignalledRows(fieldsOf(0), { column: 1, signal: () => (asked += 1) > 0 });
    await rows.read(runOf(Array.from({ length: 10_002 }, (_row, at) => ["a", `${at + 1}`, "b"])));
    expect([asked, rows.warning]).toEqual([
      10_000,
      expect.objectContaining({ text: expect.stringMatching(/^2 of/) as unknown }),
    ]);
  });

  it("has a boolean where its client asked for one", () => {
    const fields = fieldsOf(1);
    expect(signalledFields(fields, undefined)).toBe(fields);
    const told = signalledFields(fields, { column: -2, signal: () => true });
    expect(told.map(({ type, size }) => [type, size])).toEqual([
      [25, -1],
      [16, 1],
      [25, -1],
    ]);
  });
});

type Cell = string | readonly number[] | null;

function bytesOf(cell: Cell | undefined): Uint8Array | null {
  if (cell === null || cell === undefined) return null;
  return typeof cell === "string" ? encoder.encode(cell) : Uint8Array.from(cell);
}

function fieldsOf(format: 0 | 1) {
  const text = { name: "t", table: 0, column: 0, type: 25, size: -1, modifier: -1, format };
  return [text, { ...text, name: "k", type: 23, size: 4 }, text];
}

function runOf(rows: readonly (readonly (Cell | undefined)[])[]) {
  const parts = rows.map((row) => {
    const cells = row.flatMap((cell) => {
      const bytes = bytesOf(cell);
      const length = Buffer.alloc(4);
      length.writeInt32BE(bytes?.length ?? -1);
      return bytes === null ? [length] : [length, bytes];
    });
    const body = Buffer.concat(cells);
    const head = Buffer.alloc(7);
    head.write("D");
    head.writeInt32BE(body.length + 6, 1);
    head.writeInt16BE(row.length, 5);
    return Buffer.concat([head, body]);
  });
  return { bytes: Buffer.concat(parts), count: rows.length, sound: true };
}

function cellsOf(bytes: Uint8Array, count: number) {
  const { starts, lengths, width } = spansOf(bytes, count, 3);
  return Array.from({ length: count }, (_row, row) =>
    Array.from({ length: width }, (_cell, at) => {
      const [start = 0, length = 0] = [starts[row * width + at], lengths[row * width + at]];
      return length < 0 ? null : Uint8Array.from(bytes.subarray(start, start + length));
    }),
  );
}
