/** Text batches for the property tests of whoever reads them. */
import fc from "fast-check";
import { batchOf, columnOf } from "../build.ts";
import type { TextStyle } from "../cellWriter.ts";
import { cellWriter, postgresText } from "../text.ts";
import type { DataType, TimeUnit, Value } from "../type.ts";
import { isNull, type ColumnarBatch, type TextBatch } from "../vector.ts";

const units: readonly TimeUnit[] = ["s", "ms", "us", "ns"];
/** Every kind of column that a text batch may have. */
export const textTypes: readonly DataType[] = [
  { kind: "null" },
  { kind: "boolean" },
  { kind: "integer", bits: 8, signed: true },
  { kind: "integer", bits: 16, signed: false },
  { kind: "integer", bits: 32, signed: false },
  { kind: "integer", bits: 64, signed: true },
  { kind: "integer", bits: 64, signed: false },
  { kind: "integer", bits: 128, signed: true },
  { kind: "decimal", precision: 38, scale: 0 },
  { kind: "decimal", precision: 38, scale: 9 },
  { kind: "float", bits: 32 },
  { kind: "float", bits: 64 },
  { kind: "text" },
  { kind: "json" },
  { kind: "binary" },
  { kind: "date" },
  ...units.map((unit): DataType => ({ kind: "time", unit })),
  ...units.map((unit): DataType => ({ kind: "timestamp", unit, zoned: true })),
  { kind: "uuid" },
];

/** As `TextBatch` has it. */
const canonical: TextStyle = {
  ...postgresText,
  booleans: "true/false",
  binary: "raw",
  fraction: "fixed",
  zoneSuffix: "none",
  exponents: "ecmascript",
};

const unitsPerSecond = { s: 1n, ms: 1_000n, us: 1_000_000n, ns: 1_000_000_000n };
/** 0001-01-01 and 9999-12-31, and the years that nanoseconds reach. */
const seconds = {
  far: [-62_135_596_800n, 253_402_300_799n],
  near: [-9_000_000_000n, 9_000_000_000n],
} as const;

/** A row of values whose text is canonical, NULLs among them. */
export function rowOf(types: readonly DataType[]): fc.Arbitrary<Value[]> {
  return fc.tuple(...types.map((type) => fc.option(valueOf(type), { nil: null })));
}

function valueOf(type: DataType): fc.Arbitrary<Value> {
  switch (type.kind) {
    case "boolean":
      return fc.boolean();
    case "integer": {
      const top = 2n ** BigInt(type.signed ? type.bits - 1 : type.bits);
      return fc.bigInt({ min: type.signed ? -top : 0n, max: top - 1n });
    }
    case "decimal":
      return fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n });
    case "float":
      return fc.oneof(plainNumber, type.bits === 32 ? fc.float() : fc.double());
    case "text":
      return fc.string({ unit: "binary" });
    case "json":
      return fc.json();
    case "binary":
      return fc.uint8Array();
    case "date":
      return fc.bigInt({ min: -719_162n, max: 2_932_896n });
    case "time":
      return fc.bigInt({ min: 0n, max: 86_400n * unitsPerSecond[type.unit] - 1n });
    case "timestamp": {
      const [min, max] = type.unit === "ns" ? seconds.near : seconds.far;
      const per = unitsPerSecond[type.unit];
      return fc.bigInt({ min: min * per, max: max * per });
    }
    case "uuid":
      return fc.uuid();
    default:
      return fc.constant(null);
  }
}

/** The batch as an engine that speaks text would hand it over. */
export function writtenAsText(batch: ColumnarBatch): TextBatch {
  const cells = batch.rows * batch.columns.length;
  const starts = new Int32Array(cells);
  const lengths = new Int32Array(cells).fill(-1);
  const bytes = new Uint8Array(1 << 20);
  let end = 0;
  for (const [index, column] of batch.columns.entries()) {
    const writer = cellWriter(column, canonical);
    for (let row = 0; row < batch.rows; row += 1) {
      if (isNull(column, row)) continue;
      const cell = row * batch.columns.length + index;
      starts[cell] = end;
      end = writer.write(bytes, end, row);
      lengths[cell] = end - (starts[cell] ?? 0);
    }
  }
  const types = batch.columns.map(({ type }) => type);
  return { form: "text", rows: batch.rows, types, bytes: bytes.subarray(0, end), starts, lengths };
}

/** As most floats are. */
const plainNumber = fc.integer({ min: -99_999, max: 99_999 }).map((value) => value / 100);

/** Any text batch of a few columns. */
export const anyTextBatch: fc.Arbitrary<TextBatch> = fc
  .array(fc.constantFrom(...textTypes), { minLength: 1, maxLength: 5 })
  .chain((types) =>
    fc.array(rowOf(types), { maxLength: 12 }).map((rows) => {
      const columns = types.map((type, index) => columnOf(`c${index}`, type));
      return writtenAsText(batchOf(columns, rows));
    }),
  );

/** A batch of these cells as they stand. */
export function textBatchOf(
  types: readonly DataType[],
  rows: readonly (readonly (string | null)[])[],
): TextBatch {
  const cells = rows.flat().map((cell) => (cell === null ? undefined : Buffer.from(cell)));
  const lengths = Int32Array.from(cells, (cell) => cell?.length ?? -1);
  let end = 0;
  const starts = Int32Array.from(cells, (cell) => {
    end += cell?.length ?? 0;
    return end - (cell?.length ?? 0);
  });
  const bytes = Buffer.concat(cells.filter((cell) => cell !== undefined));
  return { form: "text", rows: rows.length, types, bytes, starts, lengths };
}
