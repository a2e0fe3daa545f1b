import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { batchOf, columnOf } from "./build.ts";
import { columnarOf } from "./columnar.ts";
import { rowOf, textTypes, writtenAsText } from "./rig/textBatch.ts";
import type { Value } from "./type.ts";
import { valueAt } from "./value.ts";
import type { ColumnarBatch } from "./vector.ts";

describe("columnarOf", () => {
  it("reads back every cell of canonical text exactly", () => {
    fc.assert(
      fc.property(fc.array(rowOf(textTypes), { maxLength: 30 }), (rows) => {
        const columns = textTypes.map((type, index) => columnOf(`c${index}`, type));
        const batch = batchOf(columns, rows);
        const again = columnarOf(writtenAsText(batch));
        expect(valuesOf(again)).toEqual(valuesOf(batch));
      }),
    );
  });

  it("leaves columns as they are", () => {
    const batch = batchOf([columnOf("n", { kind: "boolean" })], [[true]]);
    expect(columnarOf(batch)).toBe(batch);
  });

  it("throws for rows in a form that nobody asked for", () => {
    const bytes = new Uint8Array(0);
    expect(() => columnarOf({ form: "native", format: "trinoData", rows: 0, bytes })).toThrow(
      "trinoData",
    );
  });
});

function valuesOf(batch: ColumnarBatch): readonly (readonly Value[])[] {
  return batch.columns.map((column) =>
    Array.from({ length: batch.rows }, (_, row) => valueAt(column, row)),
  );
}
