import type { CellWriter } from "@gateway/core/type/cellWriter.ts";
import { batchOf, columnOf, vectorOf } from "@gateway/core/type/build.ts";
import type { Column, DataType, Value } from "@gateway/core/type/type.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { samples, type SampleName } from "../rig/samples.ts";
import { pureIntervalWriter, trinoWriter } from "./value/cells.ts";
import { isFull, openBatch, rowBuffer, writeRows } from "./encode.ts";

/** The JSON of each sample, as Trino 476 writes values of the types they become. */
const texts: Readonly<Record<SampleName, string>> = {
  boolean: "true",
  int8: "-128",
  int16: "32767",
  int32: "-2147483648",
  int64: "9223372036854775807",
  int128: '"-170141183460469231731687303715884105728"',
  uint8: "255",
  uint16: "65535",
  uint32: "4294967295",
  uint64: '"18446744073709551615"',
  float32: "0.1",
  float64: "0.30000000000000004",
  decimal: '"-1234567890.12"',
  wideDecimal: '"1234567890123456789012345678.9012345678"',
  text: '"né \\"q\\" \\\\ \\n😀"',
  binary: '"AP9cQQ=="',
  date: '"2024-02-29"',
  time: '"23:59:59.999999"',
  timestamp: '"2024-02-29 12:34:56.123456"',
  timestampNs: '"2024-02-29 12:34:56.123456789"',
  instant: '"2024-02-29 12:34:56.500000 UTC"',
  interval: '"P1Y2M3DT4H5M6.789S"',
  uuid: '"0190163d-8694-739b-aea5-966c26f8ad91"',
  json: '"{\\"a\\":[1,null]}"',
  list: '["a b",null,""]',
  struct: '[1,"x"]',
  map: '{"k":1}',
};

describe("trinoWriter", () => {
  it.each(Object.entries(texts))("writes %s as Trino does", (name, text) => {
    const { type, value } = samples[name as SampleName];
    expect(written(trinoWriter(vectorOf(type, [value])))).toBe(text);
  });

  it("gives every float a point or an exponent, because Java's clients refuse one without", () => {
    const float: DataType = { kind: "float", bits: 64 };
    const text = (value: Value, type: DataType = float) =>
      written(trinoWriter(vectorOf(type, [value])));
    expect(
      [0, -1, 1e21, 1e-7, 1.5, Number.NaN, Number.NEGATIVE_INFINITY].map((v) => text(v)),
    ).toEqual(["0.0", "-1.0", "1e+21", "1e-7", "1.5", '"NaN"', '"-Infinity"']);
    expect(text([1, null, 2.5], { kind: "list", item: float })).toBe("[1.0,null,2.5]");
    const nested: DataType = { kind: "struct", fields: [{ name: "x", type: float }] };
    expect(text([[true, [3]]], { kind: "map", key: { kind: "boolean" }, value: nested })).toBe(
      '{"true":[3.0]}',
    );
  });
});

describe("pureIntervalWriter", () => {
  const text = (months: number, days: number, nanoseconds: bigint, pure: "day" | "year") =>
    written(
      pureIntervalWriter(
        vectorOf({ kind: "interval" }, [{ months, days, nanoseconds }]),
        pure === "day" ? "interval day to second" : "interval year to month",
      ),
    );

  it("writes days with milliseconds and years with months, as Trino 476 does", () => {
    expect(text(0, 2, 0n, "day")).toBe('"2 00:00:00.000"');
    expect(text(0, 0, -3_600_000_000_000n, "day")).toBe('"-0 01:00:00.000"');
    expect(text(0, 1, 90_061_123_000_000n, "day")).toBe('"2 01:01:01.123"');
    expect(text(14, 0, 0n, "year")).toBe('"1-2"');
    expect(text(-14, 0, 0n, "year")).toBe('"-1-2"');
  });
});

describe("writeRows", () => {
  it("writes every row once, however small the pages are", () => {
    const table = fc.array(
      fc.tuple(
        fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
        fc.option(fc.string({ unit: "grapheme" })),
        fc.array(fc.option(fc.boolean()), { maxLength: 3 }),
      ),
      { maxLength: 40 },
    );
    const columns: readonly Column[] = [
      columnOf("n", { kind: "integer", bits: 64, signed: true }),
      columnOf("t", { kind: "text" }),
      columnOf("l", { kind: "list", item: { kind: "boolean" } }),
    ];
    fc.assert(
      fc.property(table, fc.integer({ min: 1, max: 500 }), (rows, targetBytes) => {
        const pages = pagesOf(columns, rows, targetBytes);
        const read = pages.flatMap((page) => JSON.parse(`[${page}]`) as unknown[]);
        const wanted = rows.map(([n, t, l]) => [n === null ? null : Number(n), t, l]);
        expect(read).toEqual(wanted);
      }),
    );
  });

  it("ends a page with the row that fills it", () => {
    const columns = [columnOf("t", { kind: "text" })];
    const rows = Array.from({ length: 100 }, () => ["x".repeat(96)]);
    const pages = pagesOf(columns, rows, 1000);
    expect(pages.map((page) => page.length)).toEqual(
      Array.from({ length: 10 }, () => 10 * 100 + 9).with(9, 1009),
    );
  });

  it("holds a row that is larger than its page", () => {
    const columns = [columnOf("t", { kind: "text" })];
    const [page] = pagesOf(columns, [["€".repeat(100_000)]], 10);
    expect(JSON.parse(page ?? "")).toEqual(["€".repeat(100_000)]);
  });

  it("reads vectors that begin in the middle of their buffers", () => {
    const columns = [columnOf("n", { kind: "integer", bits: 32, signed: true })];
    const whole = vectorOf({ kind: "integer", bits: 32, signed: true }, [1n, null, 3n, null, 5n]);
    const part = { ...whole, offset: 1, length: 3 };
    const open = openBatch({ form: "columnar", rows: 3, columns: [part] }, columns);
    const page = rowBuffer(1000);
    expect(writeRows(open, page)).toBe(true);
    expect(textOf(page)).toBe("[null],[3],[null]");
  });

  it("takes a little memory for a little answer", () => {
    const columns = [columnOf("n", { kind: "integer", bits: 32, signed: true })];
    const page = rowBuffer(1024 * 1024);
    writeRows(openBatch(batchOf(columns, [[1n]]), columns), page);
    expect(page.bytes.length).toBeLessThanOrEqual(1024);
  });
});

describe("openBatch", () => {
  it("throws when the batch lacks a column, because that is the engine's bug", () => {
    const columns = [columnOf("a", { kind: "text" }), columnOf("b", { kind: "text" })];
    const [first] = columns;
    expect(() => openBatch(batchOf(first === undefined ? [] : [first], [["x"]]), columns)).toThrow(
      "without one of its columns",
    );
  });
});

function written(writer: CellWriter): string {
  const out = new Uint8Array(writer.bound(0) + 8);
  const end = writer.write(out, 4, 0);
  expect(end - 4).toBeLessThanOrEqual(writer.bound(0));
  return new TextDecoder().decode(out.subarray(4, end));
}

function textOf(page: ReturnType<typeof rowBuffer>): string {
  return new TextDecoder().decode(page.bytes.subarray(0, page.length));
}

function pagesOf(
  columns: readonly Column[],
  rows: readonly (readonly Value[])[],
  targetBytes: number,
): readonly string[] {
  const open = openBatch(batchOf(columns, rows), columns);
  const pages: string[] = [];
  for (let over = false; !over;) {
    const page = rowBuffer(targetBytes);
    over = writeRows(open, page);
    expect(over || isFull(page)).toBe(true);
    pages.push(textOf(page));
  }
  return pages;
}
