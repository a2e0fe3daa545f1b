/** Our messages as the reference library reads them, and as we read them back. */
import { batchOf } from "@gateway/core/type/build.ts";
import type { Column, DataType, Value } from "@gateway/core/type/type.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import type { Vector } from "@gateway/core/type/vector.ts";
import { tableFromIPC } from "apache-arrow";
import { describe, expect, it } from "vitest";
import {
  draftBatch,
  readBatchMessage,
  readSchemaMessage,
  schemaMessage,
  type MessageBytes,
} from "./ipc.ts";

const int32: DataType = { kind: "integer", bits: 32, signed: true };

/** One of each neutral type with two values and a NULL. */
const samples: readonly (readonly [DataType, Value, Value])[] = [
  [{ kind: "boolean" }, true, false],
  [{ kind: "integer", bits: 8, signed: false }, 255n, 0n],
  [{ kind: "integer", bits: 64, signed: true }, -(2n ** 63n), 1n],
  [{ kind: "integer", bits: 128, signed: true }, -(2n ** 127n), 1n],
  [{ kind: "integer", bits: 128, signed: false }, 2n ** 128n - 1n, 1n],
  [{ kind: "float", bits: 32 }, 1.5, -0.25],
  [{ kind: "float", bits: 64 }, 0.1, Infinity],
  [{ kind: "decimal", precision: 38, scale: 6 }, -(10n ** 38n) + 1n, 5n],
  [{ kind: "text" }, "h\u00e9", ""],
  [{ kind: "json" }, '{"a":1}', "null"],
  [{ kind: "binary" }, new Uint8Array([0, 255]), new Uint8Array(0)],
  [{ kind: "date" }, -1n, 20_000n],
  [{ kind: "time", unit: "us" }, 1n, 86_399_999_999n],
  [{ kind: "time", unit: "ns" }, 1n, 2n],
  [{ kind: "timestamp", unit: "s", zoned: false }, 1n, -1n],
  [{ kind: "timestamp", unit: "ns", zoned: true }, 1n, -1n],
  [
    { kind: "interval" },
    { months: 1, days: -2, nanoseconds: 3n },
    { months: 0, days: 0, nanoseconds: 0n },
  ],
  [
    { kind: "uuid" },
    "00112233-4455-6677-8899-aabbccddeeff",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
  ],
  [{ kind: "list", item: int32 }, [1n, null, 3n], []],
  [
    {
      kind: "struct",
      fields: [
        { name: "a", type: int32 },
        { name: "b", type: { kind: "text" } },
      ],
    },
    [1n, "x"],
    [null, null],
  ],
  [
    { kind: "map", key: { kind: "text" }, value: int32 },
    [
      ["k", 1n],
      ["l", null],
    ],
    [],
  ],
  [{ kind: "null" }, null, null],
];

const columns = samples.map(([type], index): Column => ({
  name: `c${index}`,
  type,
  nullable: true,
}));
const rows = [0, 1, 2].map((row) =>
  samples.map(([, first, second]) => [first, second, null][row] ?? null),
);

describe("schemaMessage", () => {
  it("is read back with every type and the driver's format", () => {
    const formats = columns.map((_, index) => `f${index}`);
    const expected = columns.map((column, index) => ({ ...column, engineType: `f${index}` }));
    expect(readSchemaMessage(schemaMessage(columns, formats))).toEqual(expected);
  });
});

describe("draftBatch and readBatchMessage", () => {
  it("give back every value of every type", () => {
    const batch = readBatchMessage(
      batchMessage(),
      columns.map(({ type }) => type),
    );
    expect(batch.rows).toBe(3);
    const read = [0, 1, 2].map((row) => batch.columns.map((vector) => valueAt(vector, row)));
    expect(read).toEqual(rows);
  });

  it("make messages that the reference library reads as a stream", () => {
    const stream = concatenated([schemaMessage(columns, []), batchMessage()]);
    const table = tableFromIPC(stream);
    expect(table.numRows).toBe(3);
    const at = (name: string, row: number): unknown => table.getChild(name)?.get(row);
    expect([at("c0", 0), at("c0", 1), at("c0", 2)]).toEqual([true, false, null]);
    expect([at("c2", 0), at("c8", 0), at("c8", 1), at("c8", 2)]).toEqual([
      -(2n ** 63n),
      "h\u00e9",
      "",
      null,
    ]);
    expect([...(at("c18", 0) as Iterable<unknown>)]).toEqual([1, null, 3]);
    expect(String(at("c19", 0))).toBe('{"a": 1, "b": "x"}');
  });

  it("begin each buffer at a multiple of eight bytes", () => {
    const shape = { rows: 3, nodes: [{ length: 3, nullCount: 1 }], bufferLengths: [1, 3, 0, 17] };
    const { message, offsets } = draftBatch(shape);
    expect(offsets.map((offset) => offset % 8)).toEqual([0, 0, 0, 0]);
    expect(message.byteLength % 8).toBe(0);
  });
});

/** The rows above as a message, laid out from plain vectors. */
function batchMessage(): MessageBytes {
  const nodes: { length: number; nullCount: number }[] = [];
  const buffers: Uint8Array[] = [];
  for (const vector of batchOf(columns, rows).columns) laidOut(vector, nodes, buffers);
  const bufferLengths = buffers.map(({ length }) => length);
  const { message, offsets } = draftBatch({ rows: 3, nodes, bufferLengths });
  for (const [index, bytes] of buffers.entries()) message.set(bytes, offsets[index]);
  return message;
}

function laidOut(
  vector: Vector,
  nodes: { length: number; nullCount: number }[],
  buffers: Uint8Array[],
): void {
  const { type, length, validity, values, offsets, children } = vector;
  const nulls = Array.from({ length }, (_, row) => valueAt(vector, row)).filter(
    (value) => value === null,
  );
  nodes.push({ length, nullCount: nulls.length });
  if (type.kind === "null") return;
  buffers.push(validity ?? new Uint8Array(0));
  if (offsets !== undefined)
    buffers.push(new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength));
  if (type.kind === "map") {
    nodes.push({ length: children[0]?.length ?? 0, nullCount: 0 });
    buffers.push(new Uint8Array(0));
  }
  if (children.length === 0 && type.kind !== "struct") buffers.push(values);
  for (const child of children) laidOut(child, nodes, buffers);
}

function concatenated(parts: readonly (ArrayBuffer | MessageBytes)[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(new Uint8Array(part), at);
    at += part.byteLength;
  }
  return bytes;
}
