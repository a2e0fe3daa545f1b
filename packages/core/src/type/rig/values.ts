/** Arbitrary neutral types and values for the property tests of this folder and of the frontends. */
import fc from "fast-check";
import type { DataType, TimeUnit, Value } from "../type.ts";
import type { Vector } from "../vector.ts";

const units = ["s", "ms", "us", "ns"] as const satisfies readonly TimeUnit[];
const perSecond = { s: 1n, ms: 1000n, us: 1_000_000n, ns: 1_000_000_000n } as const;

/** Every type that holds one value, with every width, unit and zone. */
export const scalarTypes: readonly DataType[] = [
  { kind: "boolean" },
  ...([8, 16, 32, 64, 128] as const).flatMap((bits): DataType[] => [
    { kind: "integer", bits, signed: true },
    { kind: "integer", bits, signed: false },
  ]),
  { kind: "float", bits: 32 },
  { kind: "float", bits: 64 },
  ...[
    [1, 0],
    [9, 2],
    [15, 15],
    [18, 4],
    [38, 0],
    [38, 10],
    [38, 38],
  ].map(([precision = 0, scale = 0]): DataType => ({ kind: "decimal", precision, scale })),
  { kind: "text" },
  { kind: "binary" },
  { kind: "date" },
  ...units.flatMap((unit): DataType[] => [
    { kind: "time", unit },
    { kind: "timestamp", unit, zoned: false },
    { kind: "timestamp", unit, zoned: true },
  ]),
  { kind: "interval" },
  { kind: "uuid" },
  { kind: "json" },
];

/** Any type, up to two levels of nesting. */
export const anyType: fc.Arbitrary<DataType> = nestedTypes(
  nestedTypes(fc.constantFrom(...scalarTypes)),
);

function nestedTypes(part: fc.Arbitrary<DataType>): fc.Arbitrary<DataType> {
  const fields = fc.array(fc.record({ name: fc.string({ maxLength: 5 }), type: part }), {
    minLength: 1,
    maxLength: 3,
  });
  return fc.oneof(
    { weight: 3, arbitrary: part },
    { weight: 1, arbitrary: part.map((item): DataType => ({ kind: "list", item })) },
    { weight: 1, arbitrary: fields.map((all): DataType => ({ kind: "struct", fields: all })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(part, part)
        .map(([key, value]): DataType => ({ kind: "map", key, value })),
    },
  );
}

/** Any value of the type but NULL at its top; NULLs appear inside. Integers and counts favour their limits. */
export function presentValue(type: DataType): fc.Arbitrary<Value> {
  switch (type.kind) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return integerOf(type.bits, type.signed);
    case "float":
      return type.bits === 64 ? floats64 : fc.float();
    case "decimal":
      return decimalOf(type.precision);
    case "text":
      return texts;
    case "binary":
      return fc.uint8Array({ maxLength: 20 }).map((bytes) => new Uint8Array(bytes));
    case "date":
      return integerOf(32, true);
    case "time":
      return fc.bigInt(0n, 86_400n * perSecond[type.unit]);
    case "timestamp":
      return fc.oneof(integerOf(64, true), recentOf(type.unit));
    case "interval":
      return intervals;
    case "uuid":
      return fc.uuid();
    case "json":
      return fc.json();
    case "list":
      return fc.array(anyValue(type.item), { maxLength: 4 });
    case "struct":
      return fc.tuple(...type.fields.map((field) => anyValue(field.type)));
    case "map":
      return fc.array(fc.tuple(presentValue(type.key), anyValue(type.value)), { maxLength: 3 });
  }
}

/** Any value of the type, NULL among them. */
export function anyValue(type: DataType): fc.Arbitrary<Value> {
  return fc.option(presentValue(type), { freq: 5 });
}

/** A type with a column of values. */
export const anyColumn = anyType.chain((type) =>
  fc.record({ type: fc.constant(type), values: fc.array(anyValue(type), { maxLength: 12 }) }),
);

/** The rows of a vector from `from` on, over the same buffers. */
export function sliceOf(vector: Vector, from: number, length = vector.length - from): Vector {
  return { ...vector, offset: vector.offset + from, length };
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes as text. */
export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

function integerOf(bits: 8 | 16 | 32 | 64 | 128, signed: boolean): fc.Arbitrary<bigint> {
  const end = 1n << BigInt(signed ? bits - 1 : bits);
  const start = signed ? -end : 0n;
  const limits = [start, start + 1n, end - 1n, 0n, 1n, -1n, 2n ** 32n, 2n ** 53n, -(2n ** 53n)];
  const held = limits.filter((limit) => limit >= start && limit < end);
  // Short numbers are as likely as long ones, so that every length of digits is met.
  const anyLength = fc
    .tuple(fc.nat(bits), fc.bigInt(start, end - 1n))
    .map(([shift, value]) => value >> BigInt(shift));
  return fc.oneof(fc.constantFrom(...held), anyLength);
}

function decimalOf(precision: number): fc.Arbitrary<bigint> {
  const end = 10n ** BigInt(precision);
  const anyLength = fc
    .tuple(fc.nat(precision), fc.bigInt(1n - end, end - 1n))
    .map(([shift, value]) => value / 10n ** BigInt(shift));
  return fc.oneof(fc.constantFrom(0n, 1n, -1n, end - 1n, 1n - end), anyLength);
}

function recentOf(unit: TimeUnit): fc.Arbitrary<bigint> {
  const seconds = fc.bigInt(-3_000_000_000n, 5_000_000_000n);
  const fraction = fc.oneof(fc.constant(0n), fc.bigInt(0n, perSecond[unit] - 1n));
  return fc.tuple(seconds, fraction).map(([whole, part]) => whole * perSecond[unit] + part);
}

const floats64 = fc.oneof(
  fc.double(),
  fc.integer().map((value) => value / 100),
  fc.constantFrom(0, -0, 0.1, 1e15, 1e14, 1e-4, 1e-5, 1e21, 1e-7, 5e-324, Number.MAX_VALUE),
);

const texts = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc.string({
    unit: fc.constantFrom(...Array.from(' ",\\{}()\n\t\u0000\u001f\u007fnulNUL')),
    maxLength: 12,
  }),
);

const intervals = fc.record({
  months: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  days: fc.oneof(fc.constant(0), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  nanoseconds: fc.oneof(fc.constant(0n), integerOf(64, true)),
});
