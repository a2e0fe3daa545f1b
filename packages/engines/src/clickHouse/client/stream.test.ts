import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { settled } from "@gateway/core/query/course.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import { nativeBlock } from "../../../../../test/fake/clickHouseNative.ts";
import type { Block } from "../page/block.ts";
import type { BodyStep } from "./exchange.ts";
import { blocksOf, type StreamEnd } from "./stream.ts";

const columns: readonly Column[] = [
  { name: "n", type: { kind: "integer", bits: 64, signed: true }, nullable: true },
  { name: "text", type: { kind: "text" }, nullable: true },
  { name: "list", type: { kind: "list", item: { kind: "text" } }, nullable: true },
];
const rowOf = fc.tuple(
  fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  fc.option(fc.string({ unit: "grapheme", maxLength: 300 })),
  fc.array(fc.option(fc.string({ maxLength: 3 })), { maxLength: 4 }),
);
const answerOf = fc.array(fc.array(rowOf, { minLength: 1, maxLength: 20 }), { maxLength: 6 });

describe("blocksOf", () => {
  it("reads the same rows however the bytes are cut", async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 50 });
    await fc.assert(
      fc.asyncProperty(answerOf, sizes, async (answer, cuts) => {
        const bytes = Buffer.concat(answer.map((rows) => nativeBlock(columns, rows)));
        const read = await readAll(cut(bytes, cuts));
        expect(read.end).toEqual({ kind: "complete" });
        expect(read.rows).toEqual(answer.flat());
      }),
    );
  });

  it("never takes a part of an answer for the whole", async () => {
    await fc.assert(
      fc.asyncProperty(answerOf, fc.nat(), async (answer, at) => {
        const blocks = answer.map((rows) => nativeBlock(columns, rows));
        const bytes = Buffer.concat(blocks);
        const ends = new Set(
          blocks.map((_block, index) => Buffer.concat(blocks.slice(0, index)).length),
        );
        const length = bytes.length === 0 ? 0 : at % bytes.length;
        const { end, rows } = await readAll(cut(bytes.subarray(0, length), [64]));
        expect(end.kind).toBe(length === 0 || ends.has(length) ? "complete" : "broken");
        expect(answer.flat().slice(0, rows.length)).toEqual(rows);
      }),
    );
  });

  it("finds the exception behind whole blocks, and inside one", async () => {
    const text = "Code: 395. DB::Exception: Value is non-zero: 'throwIf'. (X) (version 26.7)\n";
    const block = nativeBlock(columns, [[1n, "a", []]]);
    for (const before of [block, block.subarray(0, block.length - 3), Buffer.alloc(0)]) {
      const { end } = await readAll(cut(Buffer.concat([before, Buffer.from(text)]), [7]));
      expect(end).toEqual({ kind: "exception", text });
    }
  });

  it("reads JSON behind the version that says it is text, and no other version of it", async () => {
    const json: Column = { name: "j", type: { kind: "json" }, nullable: false };
    const block = nativeBlock([json], [['{"a":1}'], ["[]"]]);
    expect(await readAll(cut(block, [3]))).toEqual({
      rows: [['{"a":1}'], ["[]"]],
      end: { kind: "complete" },
    });
    // Counts, a name of one byte, a name of 14, both with their lengths.
    block[2 + 2 + 15] = 0;
    expect((await readAll(cut(block, [64]))).end.kind).toBe("broken");
  });

  it("refuses rows without columns, of which a few bytes could claim millions", async () => {
    expect((await readAll(cut(Uint8Array.of(0, 128, 128, 8), [64]))).end.kind).toBe("broken");
  });

  it("ends for any bytes, and takes no memory for what they claim", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (bytes) => {
        const { end } = await readAll(cut(bytes, [100]));
        expect(["complete", "broken", "unsupported"]).toContain(end.kind);
      }),
      { numRuns: 2_000 },
    );
  });
});

async function readAll(
  pieces: Iterable<Uint8Array>,
): Promise<{ readonly rows: readonly (readonly Value[])[]; readonly end: StreamEnd }> {
  const rows: (readonly Value[])[] = [];
  const source = pieces[Symbol.iterator]();
  let count = 0;
  const blocks = blocksOf({
    next: () => {
      const { done, value } = source.next();
      const step: BodyStep = done === true ? { kind: "end" } : { kind: "bytes", bytes: value };
      count += 1;
      // Some are there and some are waited for.
      return count % 2 === 0 ? step : Promise.resolve(step);
    },
  });
  for (;;) {
    const step = await settled(blocks.next());
    if (step.done === true) return { rows, end: step.value };
    rows.push(...rowsOf(step.value));
  }
}

function rowsOf({ rows, vectors }: Block): readonly (readonly Value[])[] {
  return Array.from({ length: rows }, (_, row) => vectors.map((vector) => valueAt(vector, row)));
}

function* cut(bytes: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}
