import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { Column, DataType, Value } from "@gateway/core/type/type.ts";
import type { ColumnarBatch, Vector } from "@gateway/core/type/vector.ts";
import { readMessage } from "@gateway/wire/flight/arrowRead.ts";
import { schemaMetadata } from "@gateway/wire/flight/arrowWrite.ts";
import { RecordBatchReader } from "apache-arrow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { samples } from "../../rig/samples.ts";
import { FlightDataSchema, type FlightData } from "../proto/Flight_pb.js";
import { bodyOf, type Body } from "../../arrow/body.ts";
import { BatchMessage, headerMessage } from "./message.ts";
import { messageBytesMax, Packer } from "../../arrow/packer.ts";
import { parameterFields, parameterRows } from "./parameters.ts";
import { fieldOf } from "./types.ts";
import { casesOf } from "../../../../../test/cases.ts";

/** Types that a client may send back as parameters, so that what was written can be read. */
const columns: readonly Column[] = Object.entries(samples)
  .filter(([, { type }]) => !["list", "struct", "map"].includes(type.kind))
  .filter(([name]) => name !== "int128")
  .map(([name, { type }]) => columnOf(name, type));
const sampleRow: readonly Value[] = columns.map(
  ({ name }) => samples[name as keyof typeof samples].value,
);

describe("bodyOf", () => {
  it("gives back every cell, however its rows are cut, joined and offset", () => {
    const row = fc.array(fc.boolean(), { minLength: columns.length, maxLength: columns.length });
    const batch = fc.record({
      rows: fc.array(row, { maxLength: 20 }),
      before: fc.nat(9),
      behind: fc.nat(3),
    });
    fc.assert(
      fc.property(fc.array(batch, { minLength: 1, maxLength: 4 }), (batches) => {
        const made = batches.map(({ rows, before, behind }) => {
          const values = rows.map((present) => cellsOf(present));
          return { values, batch: offsetBatch(values, before, behind) };
        });
        const slices = made.map((one) => ({ batch: one.batch, from: 0, count: one.batch.rows }));
        const wanted = made.flatMap(({ values }) => values);
        expect(readBack(bodyOf(slices))).toEqual(wanted);
        for (const { batch: whole, values } of made) {
          const half = whole.rows >> 1;
          const cut = bodyOf([{ batch: whole, from: half, count: whole.rows - half }]);
          expect(readBack(cut)).toEqual(values.slice(half));
        }
      }),
      { numRuns: casesOf(25, 250) },
    );
  });

  it("keeps lists, structs and maps together where their rows are cut", () => {
    const nested: DataType = {
      kind: "struct",
      fields: [
        { name: "l", type: { kind: "list", item: { kind: "text" } } },
        { name: "m", type: samples.map.type },
        { name: "b", type: { kind: "boolean" } },
      ],
    };
    const lists = Array.from({ length: 20 }, (_, row) =>
      row % 3 === 0 ? null : Array.from({ length: row % 4 }, (_item, at) => `${row}/${at}`),
    );
    const isNull = (row: number): boolean => row % 5 === 4;
    const rows = lists.map((list, row): readonly Value[] => [
      isNull(row) ? null : [list, [[`k${row}`, BigInt(row)]], row % 2 === 0],
    ]);
    const column = columnOf("s", nested);
    const batch = batchOf([column], rows);
    const slices = [
      { batch, from: 3, count: 9 },
      { batch, from: 13, count: 7 },
    ];
    const reader = RecordBatchReader.from(ipcOf([column], bodyOf(slices)));
    const decoded = [...reader].flatMap((one) =>
      Array.from({ length: one.numRows }, (_, row) => JSON.parse(textOf(one.get(row)))),
    );
    const wanted = lists.map((list, row) => ({
      s: isNull(row) ? null : { l: list, m: { [`k${row}`]: row }, b: row % 2 === 0 },
    }));
    expect(decoded).toEqual([...wanted.slice(3, 12), ...wanted.slice(13)]);
  });
});

describe("Packer", () => {
  it("makes messages that clients take of batches of any size, and loses no row", () => {
    const text = columnOf("t", { kind: "text" });
    const sizes = fc.array(fc.integer({ min: 0, max: 400_000 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(fc.array(sizes, { minLength: 1, maxLength: 4 }), (batches) => {
        const packer = new Packer();
        const bodies: Body[] = [];
        for (const lengths of batches) {
          const rows = lengths.map((length) => ["x".repeat(length)]);
          bodies.push(...packer.add(batchOf([text], rows)));
        }
        if (packer.waits) bodies.push(packer.take());
        const rows = bodies.reduce((sum, body) => sum + body.rows, 0);
        expect(rows).toBe(batches.flat().length);
        for (const body of bodies) {
          const { byteLength } = new BatchMessage(body);
          expect(body.rows === 1 || byteLength < messageBytesMax * 3).toBe(true);
        }
      }),
      { numRuns: 10 },
    );
  });
});

describe("parameterRows", () => {
  it("refuses or reads whatever bytes come, and never throws", () => {
    const batch = batchOf(columns, [sampleRow]);
    const { dataHeader, dataBody } = dataOf(bodyOf([{ batch, from: 0, count: 1 }]));
    const fields = columns.map(fieldOf);
    const broken = fc.record({
      at: fc.nat(dataHeader.length - 1),
      byte: fc.nat(255),
      cut: fc.nat(dataBody.length),
      schemaAt: fc.nat(schemaMetadata(fields).length - 1),
    });
    fc.assert(
      fc.property(broken, ({ at, byte, cut, schemaAt }) => {
        const header = dataHeader.slice();
        header[at] = byte;
        expect(typeof parameterRows(fields, header, dataBody).ok).toBe("boolean");
        expect(typeof parameterRows(fields, dataHeader, dataBody.subarray(0, cut)).ok).toBe(
          "boolean",
        );
        const schema = schemaMetadata(fields).slice();
        schema[schemaAt] = byte;
        const read = parameterFields(schema);
        if (read.ok) parameterRows(read.value, dataHeader, dataBody);
      }),
      { numRuns: 500 },
    );
    expect(readMessage(new Uint8Array(0)).kind).toBe("bad");
  });
});

function cellsOf(present: readonly boolean[]): readonly Value[] {
  return sampleRow.map((value, index) => (present[index] === true ? value : null));
}

/** The rows between others that do not count. */
function offsetBatch(
  rows: readonly (readonly Value[])[],
  before: number,
  behind: number,
): ColumnarBatch {
  const others = (count: number) => Array.from({ length: count }, () => sampleRow);
  const whole = batchOf(columns, [...others(before), ...rows, ...others(behind)]);
  const cut = (vector: Vector): Vector => ({ ...vector, offset: before, length: rows.length });
  return { form: "columnar", rows: rows.length, columns: whole.columns.map(cut) };
}

function dataOf(body: Body): FlightData {
  const message = new BatchMessage(body);
  const bytes = Buffer.alloc(message.byteLength + 5);
  message.copy(bytes, 5);
  return fromBinary(FlightDataSchema, bytes.subarray(5));
}

function readBack(body: Body): readonly (readonly Value[])[] {
  const schema = fromBinary(FlightDataSchema, headerMessage(schemaMetadata(columns.map(fieldOf))));
  // What we write by hand is what the generated code writes.
  expect(toBinary(FlightDataSchema, create(FlightDataSchema, schema))).toEqual(
    Uint8Array.from(headerMessage(schema.dataHeader)),
  );
  const fields = parameterFields(schema.dataHeader);
  if (!fields.ok) throw new Error(fields.error.message);
  const { dataHeader, dataBody } = dataOf(body);
  const rows = parameterRows(fields.value, dataHeader, dataBody);
  if (!rows.ok) throw new Error(rows.error.message);
  return rows.value.map((row) => row.map(({ value }) => value));
}

function ipcOf(own: readonly Column[], body: Body): Uint8Array {
  const framed = (header: Uint8Array, rest: Uint8Array): Buffer => {
    const prefix = Buffer.alloc(8);
    prefix.writeUInt32LE(0xffff_ffff, 0);
    prefix.writeInt32LE(header.length, 4);
    return Buffer.concat([prefix, header, rest]);
  };
  const schema = schemaMetadata(own.map(fieldOf));
  const { dataHeader, dataBody } = dataOf(body);
  return Buffer.concat([framed(schema, new Uint8Array(0)), framed(dataHeader, dataBody)]);
}

function textOf(row: unknown): string {
  return JSON.stringify(row, (_key, value: unknown) =>
    typeof value === "bigint" ? Number(value) : value,
  );
}
