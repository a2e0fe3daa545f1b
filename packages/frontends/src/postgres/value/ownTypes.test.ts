import { batchOf } from "@gateway/core/type/build.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { ColumnarBatch, Vector } from "@gateway/core/type/vector.ts";
import { describe, expect, it } from "vitest";
import { binaryForms, ownColumns, withBinary } from "./ownTypes.ts";
import { rowFields } from "./rows.ts";

const text: Column = { name: "t", type: { kind: "text" }, nullable: true };
const oid: Column = { ...text, name: "o", engineType: "OID" };

describe("an oid of a PostgreSQL", () => {
  it("is told as one, beside a name, and a text that is told as text", () => {
    const name = { ...text, engineType: "NAME" };
    const fields = rowFields(ownColumns([oid, name, text]), []);
    expect(fields.map(({ type, size }) => [type, size])).toEqual([
      [26, 4],
      [19, 64],
      [25, -1],
    ]);
  });

  it("has four bytes in binary, whatever its sign would be", () => {
    const batch = batchOf(
      [oid, text],
      [
        ["16388", "16388"],
        [null, "x"],
        ["4294967295", null],
      ],
    );
    const forms = binaryForms([oid, text], [1, 1]) ?? [];
    const [numbers, untouched] = columnsOf(withBinary(batch, forms));
    expect(numbers && cellsOf(numbers, 3)).toEqual(["00004004", "00000000", "ffffffff"]);
    expect(numbers?.validity).toEqual(columnsOf(batch)[0]?.validity);
    expect(untouched).toBe(columnsOf(batch)[1]);
  });

  it("has four bytes in a part of a batch too", () => {
    const [vector] = columnsOf(batchOf([oid], [["1"], ["2"], ["3"]]));
    if (vector === undefined) throw new Error("a batch has its columns");
    const part = { ...vector, offset: 1, length: 2 };
    const [numbers] = columnsOf(
      withBinary({ form: "columnar", rows: 2, columns: [part] }, binaryForms([oid], [1]) ?? []),
    );
    expect(numbers && cellsOf(numbers, 2)).toEqual(["00000002", "00000003"]);
  });

  it("stays as it is where the client wants text", () => {
    expect(binaryForms([oid, text], [0, 1])).toBeUndefined();
  });
});

describe("a time with a zone", () => {
  const zoned: Column = { ...text, engineType: "TIMETZ" };

  it.each([
    ["12:34:56.789+00", "0000000a8be6260800000000"],
    ["00:00:00-08", "000000000000000000007080"],
    ["24:00:00+15:59:59", "000000141dd76000ffff1f01"],
  ])("has %s in twelve bytes", (written, bytes) => {
    const batch = batchOf([zoned], [[written]]);
    const [vector] = columnsOf(withBinary(batch, binaryForms([zoned], [1]) ?? []));
    expect(vector && cellsOf(vector, 1)).toEqual([bytes]);
  });
});

function columnsOf(batch: { readonly form: string }): readonly Vector[] {
  if (batch.form !== "columnar") throw new Error("it is made of columns");
  return (batch as ColumnarBatch).columns;
}

function cellsOf({ values, offset, offsets }: Vector, rows: number): readonly string[] {
  return Array.from({ length: rows }, (_, row) => {
    const at = offset + row;
    return Buffer.from(values.subarray(offsets?.[at], offsets?.[at + 1])).toString("hex");
  });
}
