/**
 * Takes single cells out of a vector as plain values: for parameters, tests and the little code that computes
 * with a cell. Results go through cell writers (text.ts), which make no object per cell.
 */
import type { DataType, Interval, Value } from "./type.ts";
import { isNull, type Vector } from "./vector.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The cell as `Value` documents it, exact and independent of the vector's buffers. The inverse of `vectorOf`. */
export function valueAt(vector: Vector, row: number): Value {
  if (isNull(vector, row)) return null;
  const { type, values } = vector;
  const index = vector.offset + row;
  switch (type.kind) {
    case "null":
      return null;
    case "boolean":
      return ((values[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
    case "integer":
      return integerAt(values, index, type.bits, type.signed);
    case "decimal":
      return integerAt(values, index, 128, true);
    case "date":
      return integerAt(values, index, 32, true);
    case "time":
    case "timestamp":
      return integerAt(values, index, 64, true);
    case "float":
      return floatAt(values, index, type.bits);
    case "interval":
      return intervalAt(values, index);
    case "uuid":
      return uuidAt(values, index);
    case "text":
    case "json":
      return decoder.decode(values.subarray(...rangeAt(vector, index)));
    case "binary":
      return values.slice(...rangeAt(vector, index));
    case "list":
      return itemsBetween(childOf(vector, 0), rangeAt(vector, index));
    case "struct":
      return vector.children.map((child) => valueAt(child, index));
    case "map":
      return pairsBetween(vector, rangeAt(vector, index));
  }
}

/** Bytes of a fixed-width cell as a view. */
function viewOf(values: Uint8Array): DataView {
  return new DataView(values.buffer, values.byteOffset, values.byteLength);
}

type Bits = Extract<DataType, { kind: "integer" }>["bits"];

function integerAt(values: Uint8Array, index: number, bits: Bits, signed: boolean): bigint {
  const view = viewOf(values);
  const at = index * (bits / 8);
  switch (bits) {
    case 8:
      return BigInt(signed ? view.getInt8(at) : view.getUint8(at));
    case 16:
      return BigInt(signed ? view.getInt16(at, true) : view.getUint16(at, true));
    case 32:
      return BigInt(signed ? view.getInt32(at, true) : view.getUint32(at, true));
    case 64:
      return signed ? view.getBigInt64(at, true) : view.getBigUint64(at, true);
    case 128: {
      const high = signed ? view.getBigInt64(at + 8, true) : view.getBigUint64(at + 8, true);
      return (high << 64n) | view.getBigUint64(at, true);
    }
  }
}

function floatAt(values: Uint8Array, index: number, bits: 32 | 64): number {
  const view = viewOf(values);
  return bits === 32 ? view.getFloat32(index * 4, true) : view.getFloat64(index * 8, true);
}

function intervalAt(values: Uint8Array, index: number): Interval {
  const view = viewOf(values);
  return {
    months: view.getInt32(index * 16, true),
    days: view.getInt32(index * 16 + 4, true),
    nanoseconds: view.getBigInt64(index * 16 + 8, true),
  };
}

function uuidAt(values: Uint8Array, index: number): string {
  let text = "";
  for (let part = 0; part < 16; part += 1) {
    if (part === 4 || part === 6 || part === 8 || part === 10) text += "-";
    text += (values[index * 16 + part] ?? 0).toString(16).padStart(2, "0");
  }
  return text;
}

function rangeAt(vector: Vector, index: number): readonly [start: number, end: number] {
  const start = vector.offsets?.[index];
  const end = vector.offsets?.[index + 1];
  if (start === undefined || end === undefined)
    throw new RangeError("a vector without its offsets");
  return [start, end];
}

function childOf(vector: Vector, index: number): Vector {
  const child = vector.children[index];
  if (child === undefined) throw new RangeError("a vector without its children");
  return child;
}

function itemsBetween(items: Vector, [start, end]: readonly [number, number]): Value[] {
  const list: Value[] = [];
  for (let row = start; row < end; row += 1) list.push(valueAt(items, row));
  return list;
}

function pairsBetween(vector: Vector, [start, end]: readonly [number, number]): Value[] {
  const keys = childOf(vector, 0);
  const values = childOf(vector, 1);
  const pairs: Value[] = [];
  for (let row = start; row < end; row += 1) {
    pairs.push([valueAt(keys, row), valueAt(values, row)]);
  }
  return pairs;
}
