import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { Column, DataType, Value } from "@gateway/core/type/type.ts";
import type { ColumnarBatch } from "@gateway/core/type/vector.ts";
import { utc } from "@gateway/core/type/zone.ts";
import { ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import { FrameReader } from "@gateway/wire/postgres/frame.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cellsOf } from "../rig/rawClient.ts";
import { formatsFor, rowFields, rowWriter } from "./rows.ts";

const text: DataType = { kind: "text" };
const int32: DataType = { kind: "integer", bits: 32, signed: true };
const columns = [columnOf("n", int32), columnOf("t", text), columnOf("nothing", { kind: "null" })];

describe("rowWriter", () => {
  it("writes every row as a frame of its own, NULLs told apart from empty texts", () => {
    const rows = [
      [1n, "a", null],
      [null, "", null],
      [-3n, null, null],
    ] as const;
    expect(framesOf(batchOf(columns, rows))).toEqual([
      ["1", "a", null],
      [null, "", null],
      ["-3", null, null],
    ]);
  });

  it("begins where the vector's offset says, in values and in the bitmap", () => {
    const rows = Array.from({ length: 20 }, (_, row) => [
      row % 3 === 0 ? null : BigInt(row),
      `t${row}`,
      null,
    ]);
    const batch = batchOf(columns, rows);
    const shifted = {
      ...batch,
      rows: 11,
      columns: batch.columns.map((vector) => ({ ...vector, offset: 9, length: 11 })),
    };
    expect(framesOf(shifted)).toEqual(
      rows.slice(9).map(([n, t]) => [n === null ? null : String(n), t, null]),
    );
  });

  it("stops when enough was written and goes on at the row it answered", () => {
    const batch = batchOf(
      [columnOf("t", text)],
      Array.from({ length: 10 }, () => ["x".repeat(100)]),
    );
    const writer = rowWriter(batch, { formats: [0], zone: utc });
    const out = new ByteWriter();
    const next = writer.write(out, 0, { end: 10, bytesMax: 250 });
    expect(next).toBe(3);
    expect(writer.write(out, next, { end: 5, bytesMax: 1_000_000 })).toBe(5);
  });

  it("writes a row that is larger than any buffer", () => {
    const long = "x".repeat(3_000_000);
    expect(framesOf(batchOf([columnOf("t", text)], [[long], ["y"]]))).toEqual([[long], ["y"]]);
  });

  it("writes an empty batch and one without columns", () => {
    expect(framesOf(batchOf(columns, []))).toEqual([]);
    expect(framesOf(batchOf([], [[], []]))).toEqual([[], []]);
  });

  it("writes whatever texts and numbers there are so that they read back", () => {
    const row = fc.tuple(
      fc.option(fc.bigInt({ min: -(2n ** 31n), max: 2n ** 31n - 1n })),
      fc.option(fc.string({ unit: "grapheme", maxLength: 80 })),
    );
    const readsBack = fc.property(fc.array(row, { maxLength: 40 }), (rows) => {
      const expected = rows.map(([n, t]) => [n === null ? null : String(n), t]);
      expect(framesOf(batchOf(columns.slice(0, 2), rows))).toEqual(expected);
    });
    fc.assert(readsBack);
  });

  it("writes nested values as JSON, instants in ISO form", () => {
    const nested: readonly (readonly [DataType, Value, string])[] = [
      [
        {
          kind: "struct",
          fields: [
            { name: "at", type: { kind: "timestamp", unit: "us", zoned: true } },
            { name: "raw", type: { kind: "binary" } },
          ],
        },
        [0n, Uint8Array.of(1)],
        String.raw`{"at":"1970-01-01T00:00:00Z","raw":"\\x01"}`,
      ],
      [{ kind: "map", key: text, value: int32 }, [["k", 1n]], '{"k":1}'],
      [{ kind: "list", item: { kind: "list", item: int32 } }, [[1n], [2n, null]], "[[1],[2,null]]"],
    ];
    for (const [type, value, expected] of nested) {
      expect(framesOf(batchOf([columnOf("x", type)], [[value]]))).toEqual([[expected]]);
    }
  });
});

describe("formatsFor", () => {
  it("applies none, one, or one for each", () => {
    expect(formatsFor([], columns)).toEqual([0, 0, 0]);
    expect(formatsFor([1], columns)).toEqual([1, 1, 1]);
    expect(formatsFor([0, 1, 0], columns)).toEqual([0, 1, 0]);
    expect(formatsFor([0, 1], columns)).toBeUndefined();
  });
});

describe("rowFields", () => {
  it("announces names, types and formats", () => {
    const [first] = rowFields([columnOf("n", int32)] satisfies Column[], [1]);
    expect(first).toEqual({ name: "n", type: 23, size: 4, modifier: -1, format: 1 });
  });

  it("announces texts of numbers as numeric, with their digits where these are known", () => {
    const price = columnOf("n", { kind: "text" });
    const digits = { precision: 12, scale: 2 };
    const found = rowFields(
      [
        { ...price, numeric: "any" },
        { ...price, numeric: digits },
      ],
      [],
    );
    expect(found.map(({ type, modifier }) => [type, modifier])).toEqual([
      [1700, -1],
      [1700, ((12 << 16) | 2) + 4],
    ]);
  });
});

/** Rows as a client reads them. */
function framesOf(batch: ColumnarBatch): readonly (readonly (string | null)[])[] {
  const writer = rowWriter(batch, { formats: [], zone: utc });
  const out = new ByteWriter();
  let row = 0;
  while (row < writer.rows) row = writer.write(out, row, { end: writer.rows, bytesMax: 100 });
  const reader = new FrameReader();
  reader.push(out.take());
  const rows: (readonly (string | null)[])[] = [];
  for (;;) {
    const step = reader.next({ types: new Set([0x44]), maxBytes: 1 << 30 });
    if (step.kind !== "frame") return rows;
    rows.push(cellsOf({ type: "D", body: Buffer.from(step.frame.body) }));
  }
}
