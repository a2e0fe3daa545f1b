/**
 * Makes vectors and batches from plain values: for results that the gateway makes itself, and for tests.
 *
 * Not a hot path. Engines fill buffers directly and never come here. A value that does not fit its
 * type is a bug of the caller and throws.
 */
import type { Column, DataType, Interval, Value } from "./type.ts";
import type { ColumnarBatch, Vector } from "./vector.ts";

const encoder = new TextEncoder();
const noBytes = new Uint8Array(0);

/** A column by name and type; nullable unless said otherwise. */
export function columnOf(name: string, type: DataType, nullable = true): Column {
  return { name, type, nullable };
}

/** A batch of rows, each with one value per column in the order of `columns`. */
export function batchOf(
  columns: readonly Column[],
  rows: readonly (readonly Value[])[],
): ColumnarBatch {
  const vectors = columns.map((column, index) =>
    vectorOf(
      column.type,
      rows.map((row) => row[index] ?? null),
    ),
  );
  return { form: "columnar", rows: rows.length, columns: vectors };
}

/** A vector whose row `r` is `values[r]`, by the forms that `Value` documents. The inverse of `valueAt`. */
export function vectorOf(type: DataType, values: readonly Value[]): Vector {
  const plain = {
    type,
    length: values.length,
    offset: 0,
    validity: validityOf(values),
    values: noBytes,
    offsets: undefined,
    children: [],
  };
  switch (type.kind) {
    case "null":
      return { ...plain, validity: undefined };
    case "boolean":
      return { ...plain, values: bitmapOf(values.map((value) => value === true)) };
    case "integer":
      return { ...plain, values: integersOf(type.bits, type.signed, values) };
    case "float":
      return { ...plain, values: floatsOf(type.bits, values) };
    case "decimal":
      return { ...plain, values: integersOf(128, true, values) };
    case "date":
      return { ...plain, values: integersOf(32, true, values) };
    case "time":
    case "timestamp":
      return { ...plain, values: integersOf(64, true, values) };
    case "interval":
      return { ...plain, values: intervalsOf(values) };
    case "uuid":
      return { ...plain, values: uuidsOf(values) };
    case "text":
    case "json":
    case "binary":
      return { ...plain, ...bytesOf(values.map(cellBytes)) };
    case "list":
      return { ...plain, ...listOf(type.item, values) };
    case "struct":
      return {
        ...plain,
        children: type.fields.map((field, index) =>
          vectorOf(
            field.type,
            values.map((value) => itemAt(value, index)),
          ),
        ),
      };
    case "map":
      return { ...plain, ...mapOf(type.key, type.value, values) };
  }
}

function validityOf(values: readonly Value[]): Uint8Array | undefined {
  return values.includes(null) ? bitmapOf(values.map((value) => value !== null)) : undefined;
}

function bitmapOf(bits: readonly boolean[]): Uint8Array {
  const bytes = new Uint8Array((bits.length + 7) >> 3);
  for (const [index, bit] of bits.entries()) {
    if (bit) bytes[index >> 3] = (bytes[index >> 3] ?? 0) | (1 << (index & 7));
  }
  return bytes;
}

function integersOf(
  bits: 8 | 16 | 32 | 64 | 128,
  signed: boolean,
  values: readonly Value[],
): Uint8Array {
  const width = bits / 8;
  const bytes = new Uint8Array(values.length * width);
  const view = new DataView(bytes.buffer);
  for (const [row, value] of values.entries()) {
    if (value === null) continue;
    if (typeof value !== "bigint") throw wrongValue(value, `integer of ${bits} bits`);
    const fits = signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
    if (fits !== value) throw new RangeError(`${value} does not fit ${bits} bits`);
    putInteger(view, row * width, bits, value);
  }
  return bytes;
}

function putInteger(view: DataView, at: number, bits: 8 | 16 | 32 | 64 | 128, value: bigint): void {
  switch (bits) {
    case 8:
      return view.setInt8(at, Number(BigInt.asIntN(8, value)));
    case 16:
      return view.setInt16(at, Number(BigInt.asIntN(16, value)), true);
    case 32:
      return view.setInt32(at, Number(BigInt.asIntN(32, value)), true);
    case 64:
      return view.setBigUint64(at, BigInt.asUintN(64, value), true);
    case 128:
      view.setBigUint64(at, BigInt.asUintN(64, value), true);
      return view.setBigUint64(at + 8, BigInt.asUintN(64, value >> 64n), true);
  }
}

function floatsOf(bits: 32 | 64, values: readonly Value[]): Uint8Array {
  const numbers = values.map((value) => {
    if (value === null) return 0;
    if (typeof value !== "number") throw wrongValue(value, "float");
    return value;
  });
  const array = bits === 32 ? Float32Array.from(numbers) : Float64Array.from(numbers);
  return new Uint8Array(array.buffer);
}

function intervalsOf(values: readonly Value[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 16);
  const view = new DataView(bytes.buffer);
  for (const [row, value] of values.entries()) {
    if (value === null) continue;
    const { months, days, nanoseconds } = intervalFrom(value);
    view.setInt32(row * 16, months, true);
    view.setInt32(row * 16 + 4, days, true);
    view.setBigInt64(row * 16 + 8, nanoseconds, true);
  }
  return bytes;
}

function intervalFrom(value: Value): Interval {
  if (typeof value === "object" && value !== null && "months" in value) return value;
  throw wrongValue(value, "interval");
}

function uuidsOf(values: readonly Value[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 16);
  for (const [row, value] of values.entries()) {
    if (value === null) continue;
    const digits = typeof value === "string" ? value.replaceAll("-", "") : "";
    if (!/^[0-9a-f]{32}$/.test(digits)) throw wrongValue(value, "uuid");
    for (let index = 0; index < 16; index += 1) {
      bytes[row * 16 + index] = Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16);
    }
  }
  return bytes;
}

function cellBytes(value: Value): Uint8Array {
  if (value === null) return noBytes;
  if (typeof value === "string") return encoder.encode(value);
  if (value instanceof Uint8Array) return value;
  throw wrongValue(value, "text or bytes");
}

function bytesOf(cells: readonly Uint8Array[]): {
  readonly values: Uint8Array;
  readonly offsets: Int32Array;
} {
  const offsets = offsetsOf(cells.map((cell) => cell.length));
  const values = new Uint8Array(offsets[cells.length] ?? 0);
  for (const [row, cell] of cells.entries()) values.set(cell, offsets[row]);
  return { values, offsets };
}

function offsetsOf(lengths: readonly number[]): Int32Array {
  const offsets = new Int32Array(lengths.length + 1);
  let end = 0;
  for (const [row, length] of lengths.entries()) {
    end += length;
    if (end > 0x7fffffff) throw new RangeError("a vector holds at most 2 GiB");
    offsets[row + 1] = end;
  }
  return offsets;
}

function listOf(item: DataType, values: readonly Value[]) {
  const lists = values.map(itemsOf);
  return {
    offsets: offsetsOf(lists.map((list) => list.length)),
    children: [vectorOf(item, lists.flat(1))],
  };
}

function mapOf(key: DataType, value: DataType, values: readonly Value[]) {
  const pairs = values.map(itemsOf);
  const all = pairs.flatMap((list) => list.map(itemsOf));
  return {
    offsets: offsetsOf(pairs.map((list) => list.length)),
    children: [
      vectorOf(
        key,
        all.map((pair) => pair[0] ?? null),
      ),
      vectorOf(
        value,
        all.map((pair) => pair[1] ?? null),
      ),
    ],
  };
}

function itemsOf(value: Value): readonly Value[] {
  if (value === null) return [];
  if (Array.isArray(value)) return value as readonly Value[];
  throw wrongValue(value, "list");
}

function itemAt(value: Value, index: number): Value {
  return itemsOf(value)[index] ?? null;
}

function wrongValue(value: Value, wanted: string): TypeError {
  return new TypeError(`a ${typeof value} is no value of type ${wanted}`);
}
