import { tableFromIPC, UnionMode } from "apache-arrow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readMessage } from "./arrowRead.ts";
import type { ArrowField, ArrowType } from "./arrowType.ts";
import { batchMetadata, encapsulatedSchema, schemaMetadata } from "./arrowWrite.ts";

const units = ["s", "ms", "us", "ns"] as const;
const plainKinds = ["null", "bool", "utf8", "largeUtf8", "binary", "largeBinary"] as const;

/** The types that are read as well as written. */
const types: fc.Arbitrary<ArrowType> = fc.oneof(
  fc.constantFrom(...plainKinds).map((kind): ArrowType => ({ kind })),
  fc
    .tuple(fc.constantFrom(8, 16, 32, 64), fc.boolean())
    .map(([bits, signed]): ArrowType => ({ kind: "int", bits, signed })),
  fc.constantFrom(16, 32, 64).map((bits): ArrowType => ({ kind: "float", bits })),
  fc
    .tuple(fc.integer({ min: 1, max: 76 }), fc.nat(76), fc.constantFrom(128, 256))
    .map(([precision, scale, bits]): ArrowType => ({ kind: "decimal", precision, scale, bits })),
  fc.constantFrom("day", "ms").map((unit): ArrowType => ({ kind: "date", unit })),
  fc.constantFrom(...units).map((unit): ArrowType => ({ kind: "time", unit })),
  fc
    .tuple(fc.constantFrom(...units), fc.constantFrom(undefined, "UTC", "Europe/Zürich"))
    .map(([unit, zone]): ArrowType => ({ kind: "timestamp", unit, zone })),
  fc.constant<ArrowType>({ kind: "interval" }),
  fc.nat(1_000).map((width): ArrowType => ({ kind: "fixedBinary", width })),
);

const fields: fc.Arbitrary<readonly ArrowField[]> = fc.array(
  fc.record({
    name: fc.string({ unit: "grapheme" }),
    type: types,
    nullable: fc.boolean(),
    children: fc.constant([]),
    metadata: fc
      .dictionary(fc.string({ minLength: 1 }), fc.string())
      .map((all): ReadonlyMap<string, string> => new Map(Object.entries(all))),
  }),
  { maxLength: 40 },
);

describe("schemaMetadata", () => {
  it("writes what readMessage reads", () => {
    fc.assert(
      fc.property(fields, (wanted) => {
        const metadata = schemaMetadata(wanted);
        expect(metadata.length % 8).toBe(0);
        expect(readMessage(metadata)).toEqual({ kind: "schema", fields: wanted });
      }),
    );
  });

  it("writes what Arrow's own library reads", () => {
    const field = (name: string, type: ArrowType, children: readonly ArrowField[] = []) => ({
      name,
      type,
      nullable: true,
      children,
      metadata: new Map([["k", "v"]]),
    });
    const { schema } = tableFromIPC(
      encapsulatedSchema([
        field("a", { kind: "int", bits: 64, signed: false }),
        field("b", { kind: "decimal", precision: 39, scale: 4, bits: 256 }),
        field("c", { kind: "list" }, [field("item", { kind: "utf8" })]),
        field("d", { kind: "union" }, [
          field("x", { kind: "bool" }),
          field("y", { kind: "timestamp", unit: "ns", zone: "UTC" }),
        ]),
      ]),
    );
    expect(schema.fields.map(({ name, type }) => `${name}: ${String(type)}`)).toEqual([
      "a: Uint64",
      "b: Decimal[39e+4]",
      "c: List<Utf8>",
      "d: Union<Bool | Timestamp<NANOSECOND, UTC>>",
    ]);
    expect(schema.fields[3]?.type).toMatchObject({ mode: UnionMode.Dense });
    expect(schema.fields[0]?.metadata.get("k")).toBe("v");
  });
});

describe("batchMetadata", () => {
  it("lays each buffer to a multiple of 8", () => {
    const shape = fc.record({
      rows: fc.nat(1_000_000),
      nodes: fc.array(fc.record({ length: fc.nat(1_000_000), nullCount: fc.nat(1_000) })),
      bufferLengths: fc.array(fc.nat(1_000_000)),
    });
    fc.assert(
      fc.property(shape, (wanted) => {
        const { metadata, bodyBytes } = batchMetadata(wanted);
        const read = readMessage(metadata);
        if (read.kind !== "batch") throw new Error(read.kind);
        expect(read.rows).toBe(wanted.rows);
        expect(read.nodes).toEqual(
          wanted.nodes.map(({ length, nullCount }) => [length, nullCount]),
        );
        expect(read.buffers.map(([, length]) => length)).toEqual(wanted.bufferLengths);
        const ends = read.buffers.map(([offset, length]) => Math.ceil((offset + length) / 8) * 8);
        expect(read.buffers.map(([offset]) => offset)).toEqual([0, ...ends].slice(0, ends.length));
        expect(bodyBytes).toBe(ends.at(-1) ?? 0);
      }),
    );
  });
});

describe("readMessage", () => {
  it("answers whatever bytes come", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(["bad", "schema", "batch"]).toContain(readMessage(bytes).kind);
      }),
      { numRuns: 1_000 },
    );
    const whole = schemaMetadata([]);
    const broken = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) });
    fc.assert(
      fc.property(fields, broken, (made, { at, byte }) => {
        const bytes = schemaMetadata(made).slice();
        bytes[at] = byte;
        expect(["bad", "schema", "batch"]).toContain(readMessage(bytes).kind);
      }),
      { numRuns: 500 },
    );
  });
});
