import { readBlock } from "@gateway/engines/clickHouse/page/block.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { QueryStats } from "@gateway/core/query/event.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import { tableFromIPC } from "apache-arrow";
import { describe, expect, it } from "vitest";
import { sampleColumns, sampleNames, sampleRows, samples } from "../rig/samples.ts";
import { formatOf, type FormatLook } from "./encode.ts";
import { Output } from "./value/output.ts";

const look: FormatLook = {
  quotes64: true,
  quotesDecimals: false,
  quotesDenormals: false,
  nativeRevision: 0,
};
const stats: QueryStats = { queueMs: 0, executionMs: 1, rows: 1, bytes: 1 };

describe("Native", () => {
  it("reads back as every value that it was written from", () => {
    const written = bytesIn("Native", sampleColumns, [sampleRows[0] ?? []]);
    const read = readBlock(written);
    if (read.kind !== "block") throw new Error(read.kind);
    expect(read.bytes).toBe(written.length);
    const textual = new Set(["time", "interval", "json", "binary"]);
    for (const [index, name] of sampleNames.entries()) {
      const vector = read.block.vectors[index];
      if (vector === undefined || textual.has(samples[name].type.kind)) continue;
      expect([name, valueAt(vector, 0)]).toEqual([name, samples[name].value]);
    }
  });

  it("names the columns of a result without rows, and begins with a block's mark where that is asked for", () => {
    const columns = [columnOf("n", { kind: "integer", bits: 32, signed: true })];
    expect(readBlock(bytesIn("Native", columns, []))).toMatchObject({
      kind: "block",
      block: { rows: 0, columns: [{ name: "n", engineType: "Nullable(Int32)" }] },
    });
    const marked = bytesIn("Native", columns, [[1n]], { nativeRevision: 54_405 });
    expect([...marked.subarray(0, 10)]).toEqual([1, 0, 2, 255, 255, 255, 255, 0, 1, 1]);
  });

  it("refuses a NULL array, for which it has no place, and so does RowBinary", () => {
    const columns = [columnOf("l", samples.list.type)];
    for (const format of ["Native", "RowBinary"]) {
      const writer = formatOf(format)?.writer(columns, look);
      expect(writer?.refuses(batchOf(columns, [[null]]))?.code).toBe("query.data");
      expect(writer?.refuses(batchOf(columns, [[["a"]]]))).toBeUndefined();
    }
  });
});

describe("Arrow", () => {
  it.each(["ArrowStream", "Arrow"])("%s reads back in Arrow's own library", (format) => {
    const written = bytesIn(format, sampleColumns, [...sampleRows, ...sampleRows]);
    const table = tableFromIPC(written);
    expect(table.numRows).toBe(sampleRows.length * 2);
    expect(table.schema.fields.map(({ name }) => name)).toEqual(
      sampleColumns.map(({ name }) => name),
    );
    const text = sampleNames.indexOf("text");
    expect(table.getChildAt(text)?.get(0)).toBe(samples.text.value);
  });

  it("is several messages where it is long, in a file as in a stream", () => {
    const columns = [columnOf("n", { kind: "integer", bits: 32, signed: true })];
    const rows = Array.from({ length: 400_000 }, (_, row) => [BigInt(row)]);
    for (const format of ["ArrowStream", "Arrow"]) {
      const table = tableFromIPC(bytesIn(format, columns, rows));
      expect(table.batches.length).toBeGreaterThan(1);
      expect(table.numRows).toBe(rows.length);
      expect(table.getChildAt(0)?.get(399_999)).toBe(399_999);
    }
  });

  it("without rows is a schema", () => {
    for (const format of ["ArrowStream", "Arrow"]) {
      const table = tableFromIPC(bytesIn(format, sampleColumns, []));
      expect([table.numRows, table.schema.fields.length]).toEqual([0, sampleColumns.length]);
    }
  });
});

describe("RowBinaryWithNamesAndTypes", () => {
  it("is names, types, and a mark before each value that may be NULL", () => {
    const columns = [
      columnOf("a", { kind: "integer", bits: 16, signed: true }, false),
      columnOf("b", { kind: "text" }),
    ];
    const written = bytesIn("RowBinaryWithNamesAndTypes", columns, [
      [258n, "x"],
      [-1n, null],
    ]);
    expect(Buffer.from(written).toString("latin1")).toBe(
      "\x02\x01a\x01b\x05Int16\x10Nullable(String)\x02\x01\x00\x01x\xff\xff\x01",
    );
  });
});

describe("rows of text", () => {
  const columns = [columnOf("n", { kind: "float", bits: 64 }), columnOf("t", { kind: "text" })];
  const rows = [
    [1.5, 'it\'s\ta "q"\n'],
    [Number.NaN, null],
    [Number.NEGATIVE_INFINITY, "\\"],
  ];

  it.each([
    ["TSV", '1.5\tit\\\'s\\ta "q"\\n\nnan\t\\N\n-inf\t\\\\\n'],
    ["TabSeparatedWithNames", 'n\tt\n1.5\tit\\\'s\\ta "q"\\n\nnan\t\\N\n-inf\t\\\\\n'],
    ["CSV", '1.5,"it\'s\ta ""q""\n"\nnan,\\N\n-inf,"\\"\n'],
    ["Values", "(1.5,'it\\'s\\ta \"q\"\\n'),(nan,NULL),(-inf,'\\\\')"],
    [
      "JSONEachRow",
      '{"n":1.5,"t":"it\'s\\ta \\"q\\"\\n"}\n{"n":null,"t":null}\n{"n":null,"t":"\\\\"}\n',
    ],
    [
      "JSONCompactStringsEachRow",
      '["1.5", "it\'s\\ta \\"q\\"\\n"]\n["nan", null]\n["-inf", "\\\\"]\n',
    ],
    ["Null", ""],
  ])("%s", (format, text) => {
    expect(Buffer.from(bytesIn(format, columns, rows)).toString()).toBe(text);
  });

  it("is one document in JSON, whose integers beyond 2^53 are in quotes unless told otherwise", () => {
    const wide = [columnOf("n", { kind: "integer", bits: 64, signed: true })];
    const document = (more: Partial<FormatLook>): unknown =>
      JSON.parse(Buffer.from(bytesIn("JSON", wide, [[7n]], more)).toString());
    expect(document({})).toMatchObject({
      meta: [{ name: "n", type: "Nullable(Int64)" }],
      data: [{ n: "7" }],
      rows: 1,
    });
    expect(document({ quotes64: false })).toMatchObject({ data: [{ n: 7 }] });
  });

  it("is the same whatever the size of its pieces", () => {
    const many = Array.from({ length: 100 }, (_, row) => [row, `row ${row}`] as const);
    const whole = bytesIn("JSONCompact", columns, many);
    expect(bytesIn("JSONCompact", columns, many, { pieceBytes: 10 })).toEqual(whole);
  });
});

function bytesIn(
  name: string,
  columns: readonly Column[],
  rows: readonly (readonly Value[])[],
  { pieceBytes = 1 << 20, ...how }: Partial<FormatLook> & { readonly pieceBytes?: number } = {},
): Uint8Array {
  const writer = formatOf(name)?.writer(columns, { ...look, ...how });
  if (writer === undefined) throw new Error(`no format ${name}`);
  const out = new Output();
  const pieces: Uint8Array[] = [];
  writer.head(out);
  pieces.push(Uint8Array.from(out.take()));
  const batch = batchOf(columns, rows);
  for (let row = 0; row < batch.rows;) {
    row = writer.rows(batch, row, out, pieceBytes);
    pieces.push(Uint8Array.from(out.take()));
  }
  writer.tail(out, stats);
  pieces.push(Uint8Array.from(out.take()));
  return Uint8Array.from(Buffer.concat(pieces));
}
