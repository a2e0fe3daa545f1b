/** Columns whose values are not what the neutral type holds: widened, multiplied, or shown as text. */
import type { DataType } from "@gateway/core/type/type.ts";
import type { Vector } from "@gateway/core/type/vector.ts";
import type { Rule } from "./types.ts";

const noBytes = new Uint8Array(0);
const encoder = new TextEncoder();

/** The vector of `rows` values of `width` bytes each, from the start of `view`. */
export function convertedVector(
  type: DataType,
  rule: Rule,
  { view, width, rows }: { readonly view: DataView; readonly width: number; readonly rows: number },
): Vector {
  const plain = {
    type,
    length: rows,
    offset: 0,
    validity: undefined,
    values: noBytes,
    offsets: undefined,
    children: [],
  };
  if (type.kind === "null") return plain;
  switch (rule.to) {
    case "boolean":
      return { ...plain, values: booleans(view, rows) };
    case "integer":
      return { ...plain, values: integers(view, width, { rows, ...rule }) };
    case "count":
      return { ...plain, values: counts(view, rows, rule.factor) };
    case "uuid":
      return { ...plain, values: uuids(view, rows) };
    case "float32":
      return { ...plain, values: floats(view, rows) };
    case "interval":
      return { ...plain, values: intervals(view, rows, rule) };
    case "fixedBytes":
      return { ...plain, ...fixedBytes(view, width, rows) };
    case "text":
      return { ...plain, ...texts(rows, (row) => rule.show(view, row * width)) };
  }
}

function booleans(view: DataView, rows: number): Uint8Array {
  const bits = new Uint8Array((rows + 7) >> 3);
  for (let row = 0; row < rows; row += 1) {
    if (view.getUint8(row) !== 0) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
  }
  return bits;
}

function integers(
  view: DataView,
  from: number,
  to: { readonly rows: number; readonly width: 4 | 8 | 16; readonly signed: boolean },
): Uint8Array {
  const target = new DataView(new ArrayBuffer(to.rows * to.width));
  for (let row = 0; row < to.rows; row += 1) {
    const value = integerAt(view, row * from, from, to.signed);
    const at = row * to.width;
    if (to.width === 4) {
      target.setInt32(at, Number(value), true);
      continue;
    }
    const wide = BigInt(value);
    target.setBigInt64(at, BigInt.asIntN(64, wide), true);
    if (to.width === 16) target.setBigInt64(at + 8, wide >> 64n, true);
  }
  return new Uint8Array(target.buffer);
}

function integerAt(view: DataView, at: number, width: number, signed: boolean): number | bigint {
  if (width === 2) return signed ? view.getInt16(at, true) : view.getUint16(at, true);
  if (width === 4) return signed ? view.getInt32(at, true) : view.getUint32(at, true);
  return signed ? view.getBigInt64(at, true) : view.getBigUint64(at, true);
}

function counts(view: DataView, rows: number, factor: bigint): Uint8Array {
  const target = new DataView(new ArrayBuffer(rows * 8));
  for (let row = 0; row < rows; row += 1) {
    target.setBigInt64(row * 8, view.getBigInt64(row * 8, true) * factor, true);
  }
  return new Uint8Array(target.buffer);
}

/** ClickHouse keeps a UUID as two halves of 64 bits, each little-endian. */
function uuids(view: DataView, rows: number): Uint8Array {
  const target = new DataView(new ArrayBuffer(rows * 16));
  for (let at = 0; at < rows * 16; at += 8) {
    target.setBigUint64(at, view.getBigUint64(at, true));
  }
  return new Uint8Array(target.buffer);
}

/** BFloat16 is the upper half of a float. */
function floats(view: DataView, rows: number): Uint8Array {
  const target = new DataView(new ArrayBuffer(rows * 4));
  for (let row = 0; row < rows; row += 1) {
    target.setUint16(row * 4 + 2, view.getUint16(row * 2, true), true);
  }
  return new Uint8Array(target.buffer);
}

function intervals(
  view: DataView,
  rows: number,
  { part, factor }: Extract<Rule, { to: "interval" }>,
): Uint8Array {
  const target = new DataView(new ArrayBuffer(rows * 16));
  for (let row = 0; row < rows; row += 1) {
    const value = view.getBigInt64(row * 8, true) * factor;
    const at = row * 16;
    if (part === "nanoseconds") target.setBigInt64(at + 8, value, true);
    else target.setInt32(part === "months" ? at : at + 4, Number(value), true);
  }
  return new Uint8Array(target.buffer);
}

function fixedBytes(
  view: DataView,
  width: number,
  rows: number,
): Pick<Vector, "values" | "offsets"> {
  const offsets = Int32Array.from({ length: rows + 1 }, (_, row) => row * width);
  const bytes = new Uint8Array(view.buffer, view.byteOffset, rows * width);
  return { values: bytes.slice(), offsets };
}

/** Types without a neutral one of their own. They are rare, so a cell may cost a string. */
function texts(rows: number, show: (row: number) => string): Pick<Vector, "values" | "offsets"> {
  const cells = Array.from({ length: rows }, (_, row) => encoder.encode(show(row)));
  const offsets = new Int32Array(rows + 1);
  for (const [row, cell] of cells.entries()) offsets[row + 1] = (offsets[row] ?? 0) + cell.length;
  const values = new Uint8Array(offsets[rows] ?? 0);
  for (const [row, cell] of cells.entries()) values.set(cell, offsets[row]);
  return { values, offsets };
}
