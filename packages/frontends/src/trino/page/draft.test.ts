import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { Column, DataType, Value } from "@gateway/core/type/type.ts";
import type { Batch, NativeBatch, TextBatch } from "@gateway/core/type/vector.ts";
import { zoneOf } from "@gateway/core/type/zone.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Draft } from "./draft.ts";
import { trinoText } from "../value/types.ts";

describe("rows in Trino's own form", () => {
  it("are passed on as they are, those of a large batch without a copy", () => {
    const draft = new Draft(trinoText);
    const inside = `${"[1],".repeat(40_000)}[ 2 , "]" ]`;
    const native = nativeOf(`[${inside}]`, 40_001);
    draft.put(native, numbers);
    expect([draft.isFull, draft.hasMore]).toEqual([true, false]);
    const taken = draft.take(false);
    expect([textOf(taken?.bytes), taken?.count]).toEqual([inside, 40_001]);
    expect(taken?.bytes.buffer).toBe(native.bytes.buffer);
  });

  it("of small batches share an answer, and the batches stay as they were", () => {
    const draft = new Draft(trinoText);
    const [one, two] = [nativeOf(" [[1],[2]] ", 2), nativeOf("[[3]]", 1)];
    const kept = textOf(one.bytes);
    draft.put(one, numbers);
    draft.put(nativeOf("[]", 0), numbers);
    draft.put(two, numbers);
    expect(draft.rows).toBe(3);
    expect(textOf(draft.take(true)?.bytes)).toBe("[1],[2],[3]");
    expect(textOf(one.bytes)).toBe(kept);
  });

  it("that are too many for the answer that has some wait for the next one", () => {
    const draft = new Draft(trinoText);
    draft.put(nativeOf("[[1]]", 1), numbers);
    draft.put(nativeOf(`[${"[2],".repeat(60_000)}[3]]`, 60_001), numbers);
    expect([draft.isFull, draft.hasMore]).toEqual([true, true]);
    expect(draft.take(false)?.count).toBe(1);
    draft.writeMore();
    expect(draft.take(true)?.count).toBe(60_001);
  });

  it("that are none throw, because that is the engine's bug", () => {
    for (const text of ["", "null", "]["]) {
      expect(() => new Draft(trinoText).put(nativeOf(text, 1), numbers)).toThrow("no JSON array");
    }
  });
});

describe("rows as text", () => {
  const cases: readonly (readonly [DataType, string, string])[] = [
    [{ kind: "boolean" }, "true", "true"],
    [{ kind: "integer", bits: 64, signed: true }, "-9223372036854775808", "-9223372036854775808"],
    [
      { kind: "integer", bits: 64, signed: false },
      "18446744073709551615",
      '"18446744073709551615"',
    ],
    [{ kind: "integer", bits: 128, signed: true }, "1", '"1"'],
    [{ kind: "float", bits: 64 }, "1", "1.0"],
    [{ kind: "float", bits: 64 }, "1e+21", "1e+21"],
    [{ kind: "float", bits: 32 }, "0.1", "0.1"],
    [{ kind: "float", bits: 64 }, "-Infinity", '"-Infinity"'],
    [{ kind: "float", bits: 64 }, "NaN", '"NaN"'],
    [{ kind: "decimal", precision: 4, scale: 2 }, "-0.50", '"-0.50"'],
    [{ kind: "text" }, 'a"b\\c\n\u0001é😀', '"a\\"b\\\\c\\n\\u0001é😀"'],
    [{ kind: "text" }, "", '""'],
    [{ kind: "json" }, '{"a":1}', '"{\\"a\\":1}"'],
    [{ kind: "date" }, "2024-02-29", '"2024-02-29"'],
    [{ kind: "time", unit: "us" }, "23:59:59.999999", '"23:59:59.999999"'],
    [
      { kind: "timestamp", unit: "ms", zoned: true },
      "2024-02-29 12:00:00.500",
      '"2024-02-29 12:00:00.500 UTC"',
    ],
    [{ kind: "binary" }, "\u0000A", '"AEE="'],
    [
      { kind: "uuid" },
      "0190163d-8694-739b-aea5-966c26f8ad91",
      '"0190163d-8694-739b-aea5-966c26f8ad91"',
    ],
  ];
  it.each(cases)("write %j %s", (type, cell, wanted) => {
    expect(written(textBatchOf([type], [[cell], [null]]), [columnOf("a", type)])).toBe(
      `[${wanted}],[null]`,
    );
  });

  it("are the same as the same values in columns", () => {
    const types: readonly DataType[] = [
      { kind: "integer", bits: 32, signed: true },
      { kind: "text" },
      { kind: "boolean" },
    ];
    const columns = types.map((type, index) => columnOf(`c${index}`, type));
    const row = fc.tuple(
      fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
      fc.option(fc.string({ unit: "binary", maxLength: 400 })),
      fc.option(fc.boolean()),
    );
    fc.assert(
      fc.property(fc.array(row, { maxLength: 60 }), (rows) => {
        const values = rows.map(([a, b, c]): readonly Value[] => [
          a === null ? null : BigInt(a),
          b,
          c,
        ]);
        const cells = rows.map((cell) => cell.map((one) => (one === null ? null : String(one))));
        expect(written(textBatchOf(types, cells), columns)).toBe(
          written(batchOf(columns, values), columns),
        );
      }),
    );
  });

  it("show instants in the session's zone", () => {
    const zone = zoneOf("Asia/Tokyo");
    if (zone === undefined) throw new Error("no such zone");
    const type: DataType = { kind: "timestamp", unit: "ms", zoned: true };
    const draft = new Draft({ ...trinoText, zone });
    draft.put(textBatchOf([type], [["2024-02-29 12:00:00.500"]]), [columnOf("a", type)]);
    expect(textOf(draft.take(true)?.bytes)).toBe('["2024-02-29 21:00:00.500 Asia/Tokyo"]');
  });

  it("fill answers of the wanted size and lose none", () => {
    const cells = Array.from({ length: 5000 }, (_, index) => [`${index}`.padStart(1000, "x")]);
    const draft = new Draft(trinoText);
    draft.want(1_000_000);
    draft.put(textBatchOf([{ kind: "text" }], cells), [columnOf("a", { kind: "text" })]);
    const sizes: number[] = [];
    let rows = 0;
    for (let more = true; more;) {
      more = draft.hasMore;
      const taken = draft.take(!more);
      sizes.push(taken?.bytes.length ?? 0);
      rows += taken?.count ?? 0;
      draft.writeMore();
    }
    expect(rows).toBe(5000);
    for (const size of sizes) expect(size).toBeLessThan(1_010_000);
    expect(sizes.length).toBeGreaterThan(4);
  });
});

const numbers: readonly Column[] = [columnOf("n", { kind: "integer", bits: 64, signed: true })];

function nativeOf(text: string, rows: number): NativeBatch {
  return { form: "native", format: "trinoData", rows, bytes: new Uint8Array(Buffer.from(text)) };
}

function textBatchOf(
  types: readonly DataType[],
  rows: readonly (readonly (string | null)[])[],
): TextBatch {
  const cells = rows.flat().map((cell) => (cell === null ? undefined : Buffer.from(cell)));
  const starts = new Int32Array(cells.length);
  const lengths = new Int32Array(cells.length);
  let at = 0;
  cells.forEach((cell, index) => {
    starts[index] = at;
    lengths[index] = cell === undefined ? -1 : cell.length;
    at += cell?.length ?? 0;
  });
  const bytes = new Uint8Array(Buffer.concat(cells.filter((cell) => cell !== undefined)));
  return { form: "text", rows: rows.length, types, bytes, starts, lengths };
}

function written(batch: Batch, columns: readonly Column[]): string {
  const draft = new Draft(trinoText);
  draft.put(batch, columns);
  const pages: string[] = [];
  for (;;) {
    const taken = draft.take(false);
    if (taken !== undefined) pages.push(textOf(taken.bytes));
    if (!draft.hasMore) return pages.join(",");
    draft.writeMore();
  }
}

function textOf(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes);
}
