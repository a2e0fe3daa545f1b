import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import { anyValue, scalarTypes, sliceOf } from "@gateway/core/type/rig/values.ts";
import type { DataType, Value } from "@gateway/core/type/type.ts";
import type { ColumnarBatch } from "@gateway/core/type/vector.ts";
import { utc, zoneOf } from "@gateway/core/type/zone.ts";
import { ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rowWriter, type RowShape, type RowWriter } from "../rows.ts";
import { kernelRowWriter } from "./kernelRows.ts";
import { kernelColumns } from "./load.ts";

const shape: RowShape = { formats: [], zone: utc };
const taken = [...scalarTypes, { kind: "null" } as const].filter(
  (type) => kernelColumns(batchOf([columnOf("x", type)], []), shape) !== undefined,
);

describe("kernelRowWriter", () => {
  it("writes the bytes that plain code writes, of every type it takes", () => {
    const kinds = new Set(taken.map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual([
      "boolean",
      "date",
      "decimal",
      "float",
      "integer",
      "json",
      "null",
      "text",
      "timestamp",
    ]);
    for (const type of taken) {
      const same = fc.property(fc.array(anyValue(type), { minLength: 1, maxLength: 20 }), (few) => {
        const batch = batchOf(
          [columnOf("x", type)],
          repeated(
            few.map((value) => [value]),
            70,
          ),
        );
        expect(hexOf(written(batch))).toBe(hexOf(plainly(batch)));
      });
      fc.assert(same, { numRuns: 30 });
    }
  });

  it("writes several columns from any row of the vectors on, in pieces of any size", () => {
    const types = fc.array(fc.constantFrom(...taken), { minLength: 1, maxLength: 6 });
    const batches = types.chain((found) =>
      fc.record({
        types: fc.constant(found),
        few: fc.array(fc.tuple(...found.map((type) => anyValue(type))), {
          minLength: 1,
          maxLength: 9,
        }),
        rows: fc.integer({ min: 64, max: 300 }),
        skipped: fc.nat(40),
        bytesMax: fc.integer({ min: 1, max: 3_000 }),
      }),
    );
    const same = fc.property(batches, ({ types: found, few, rows, skipped, bytesMax }) => {
      const columns = found.map((type, index) => columnOf(`c${index}`, type));
      const whole = batchOf(columns, repeated(few, rows + skipped));
      const batch = {
        ...whole,
        rows,
        columns: whole.columns.map((vector) => sliceOf(vector, skipped)),
      };
      const stepwise = new ByteWriter();
      const other = new ByteWriter();
      const pair = [written(batch), plainly(batch)] as const;
      for (let row = 0; row < rows;) {
        const limit = { end: Math.min(rows, row + 50), bytesMax: stepwise.length + bytesMax };
        const next = pair[0].write(stepwise, row, limit);
        expect(pair[1].write(other, row, limit)).toBe(next);
        row = next;
      }
      expect(hexOfBytes(stepwise)).toBe(hexOfBytes(other));
    });
    fc.assert(same, { numRuns: 200 });
  });

  it("writes every number of digits, and every day of four centuries", () => {
    const days = Array.from({ length: 146_100 }, (_, index) => [BigInt(index - 100_000)]);
    const numbers = Array.from({ length: 2_000 }, (_, index): readonly Value[] => {
      const number = 10n ** BigInt(index % 20) - (index % 40 < 20 ? 1n : 0n);
      return [number % 2n ** 63n, number, BigInt(index) * 86_243_000_000n - 9n];
    });
    const batches = [
      batchOf([columnOf("day", { kind: "date" })], days),
      batchOf(
        [
          columnOf("n", { kind: "integer", bits: 64, signed: true }),
          columnOf("d", { kind: "decimal", precision: 38, scale: 3 }),
          columnOf("at", { kind: "timestamp", unit: "us", zoned: false }),
        ],
        numbers,
      ),
    ];
    for (const batch of batches) expect(hexOf(written(batch)) === hexOf(plainly(batch))).toBe(true);
  });

  it("holds the rows of one result while another is written", () => {
    const text = [columnOf("t", { kind: "text" })];
    const [one, two] = ["a", "b"].map((letter) =>
      batchOf(
        text,
        Array.from({ length: 100 }, (_, row) => [`${letter}${row}`]),
      ),
    );
    if (!one || !two) throw new Error("two batches");
    const turns = [one, two].map((batch) => ({
      batch,
      writer: written(batch),
      out: new ByteWriter(),
    }));
    for (let row = 0; row < 100; row += 10) {
      for (const { writer, out } of turns) {
        writer.write(out, row, { end: row + 10, bytesMax: Number.POSITIVE_INFINITY });
      }
    }
    for (const { batch, out } of turns) expect(hexOfBytes(out)).toBe(hexOf(plainly(batch)));
  });

  it("writes texts longer than its memory among short ones", () => {
    const lengths = [0, 7, 8, 9, 256, 257, 70_000, 131_072, 131_073, 400_000, 3];
    const rows = Array.from({ length: 80 }, (_, row) => [
      "x".repeat(lengths[row % lengths.length] ?? 0),
      "é".repeat(row),
    ]);
    const columns = [columnOf("long", { kind: "text" }), columnOf("t", { kind: "text" })];
    const batch = batchOf(columns, rows);
    expect(hexOf(written(batch)) === hexOf(plainly(batch))).toBe(true);
  });

  it("leaves the rest of a batch to plain code when most of its rows have cells for that", () => {
    const days = Array.from({ length: 200 }, (_, row) => [
      row < 100 ? BigInt(row) : 2n ** 31n - 1n,
    ]);
    const batch = batchOf([columnOf("day", { kind: "date" })], days);
    expect(hexOf(written(batch))).toBe(hexOf(plainly(batch)));
  });

  it("takes no batch that is short, wide, in binary, or whose cells have another text", () => {
    const takes = (type: DataType, more: Partial<RowShape> = {}, rows = 64): boolean => {
      const batch = batchOf(
        [columnOf("x", type)],
        Array.from({ length: rows }, () => [null]),
      );
      return kernelRowWriter(batch, { ...shape, ...more }) !== undefined;
    };
    const zoned = { kind: "timestamp", unit: "us", zoned: true } as const;
    expect(takes(zoned)).toBe(true);
    expect(takes(zoned, { zone: zoneOf("Europe/Berlin") ?? utc })).toBe(false);
    expect(takes({ kind: "text" }, { formats: [1] })).toBe(false);
    expect(takes({ kind: "text" }, {}, 63)).toBe(false);
    expect(takes({ kind: "binary" })).toBe(false);
    expect(takes({ kind: "decimal", precision: 38, scale: 19 })).toBe(false);
    const wide = Array.from({ length: 65 }, (_, index) => columnOf(`c${index}`, { kind: "date" }));
    const row = wide.map(() => 0n);
    expect(
      kernelRowWriter(
        batchOf(
          wide,
          Array.from({ length: 64 }, () => row),
        ),
        shape,
      ),
    ).toBe(undefined);
  });
});

function written(batch: ColumnarBatch): RowWriter {
  const writer = kernelRowWriter(batch, shape);
  if (writer === undefined) throw new Error("the kernel does not take it");
  return writer;
}

function plainly(batch: ColumnarBatch): RowWriter {
  return rowWriter(batch, shape);
}

function repeated<Row>(few: readonly Row[], rows: number): Row[] {
  return Array.from({ length: rows }, (_, index) => few[index % few.length]).filter(
    (row) => row !== undefined,
  );
}

function hexOf(writer: RowWriter): string {
  const out = new ByteWriter();
  writer.write(out, 0, { end: writer.rows, bytesMax: Number.POSITIVE_INFINITY });
  return hexOfBytes(out);
}

function hexOfBytes(out: ByteWriter): string {
  return Buffer.from(out.take()).toString("hex");
}
