import { columnarOf } from "@gateway/core/type/columnar.ts";
import { anyTextBatch, textBatchOf } from "@gateway/core/type/rig/textBatch.ts";
import type { TextBatch } from "@gateway/core/type/vector.ts";
import { utc, zoneOf } from "@gateway/core/type/zone.ts";
import { ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rowWriter, type RowShape, type RowWriter } from "./rows.ts";
import { textRowWriter } from "./textRows.ts";

describe("textRowWriter", () => {
  it("writes the bytes that the columns of the batch would be written as", () => {
    let passed = 0;
    fc.assert(
      fc.property(anyTextBatch, (batch) => {
        const writer = textRowWriter(batch, shape);
        if (writer === undefined) return;
        passed += 1;
        expect(hexOf(writer)).toBe(hexOf(rowWriter(columnarOf(batch), shape)));
      }),
    );
    expect(passed).toBeGreaterThan(0);
  });

  it("stops after the row that filled the buffer, and goes on with the next", () => {
    const batch = textBatchOf([{ kind: "text" }], [["a".repeat(300)], [null], ["b"]]);
    const writer = textRowWriter(batch, shape);
    const out = new ByteWriter();
    expect(writer?.write(out, 0, { end: 3, bytesMax: 100 })).toBe(1);
    expect(writer?.write(out, 1, { end: 2, bytesMax: 10_000 })).toBe(2);
    expect(writer?.write(out, 2, { end: 3, bytesMax: 10_000 })).toBe(3);
    expect(Buffer.from(out.take()).toString("hex")).toBe(
      hexOf(rowWriter(columnarOf(batch), shape)),
    );
  });

  it("leaves what looks different in PostgreSQL to the columns", () => {
    const asks = (batch: TextBatch, more: Partial<RowShape> = {}) =>
      textRowWriter(batch, { ...shape, ...more }) !== undefined;
    const instant = { kind: "timestamp", unit: "s", zoned: true } as const;
    const moment = textBatchOf([instant], [["2024-02-29 12:34:50"]]);
    expect(asks(moment)).toBe(true);
    expect(asks(moment, { zone: zoneOf("Europe/Berlin") ?? utc })).toBe(false);
    expect(asks(moment, { formats: [1] })).toBe(false);
    expect(asks(textBatchOf([{ kind: "binary" }], [["a"]]))).toBe(false);
    const wide = { kind: "float", bits: 64 } as const;
    for (const text of ["1e+300", "0.00001", "1000000000000000"]) {
      expect([text, asks(textBatchOf([wide], [[text]]))]).toEqual([text, false]);
    }
    expect(asks(textBatchOf([wide], [["0.0001"], ["-1234567"], ["NaN"], [null]]))).toBe(true);
    expect(asks(textBatchOf([{ kind: "float", bits: 32 }], [["1234567"]]))).toBe(false);
  });
});

const shape: RowShape = { formats: [], zone: utc };

function hexOf(writer: RowWriter): string {
  const out = new ByteWriter();
  writer.write(out, 0, { end: writer.rows, bytesMax: Number.POSITIVE_INFINITY });
  return Buffer.from(out.take()).toString("hex");
}
