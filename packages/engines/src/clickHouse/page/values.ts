/** Columns whose values are not what the neutral type holds: widened, multiplied, or shown as text. */
import type { DataType } from "@gateway/core/type/type.ts";
import type { Vector } from "@gateway/core/type/vector.ts";
import type { Rule } from "../types.ts";

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

/** In words of 32 bits: an object per cell is what 64-bit numbers would cost. */
function integers(
  view: DataView,
  from: number,
  {
    rows,
    width,
    signed,
  }: { readonly rows: number; readonly width: 4 | 8 | 16; readonly signed: boolean },
): Uint8Array {
  const words = width / 4;
  const target = new Int32Array(rows * words);
  for (let row = 0; row < rows; row += 1) {
    const low = lowWord(view, row * from, from, signed);
    const sign = signed ? low >> 31 : 0;
    const high = from === 8 ? view.getInt32(row * 8 + 4, true) : sign;
    const at = row * words;
    target[at] = low;
    if (words === 1) continue;
    target[at + 1] = high;
    if (words === 2) continue;
    const rest = signed ? high >> 31 : 0;
    target[at + 2] = rest;
    target[at + 3] = rest;
  }
  return new Uint8Array(target.buffer);
}

function lowWord(view: DataView, at: number, width: number, signed: boolean): number {
  if (width > 2) return view.getInt32(at, true);
  return signed ? view.getInt16(at, true) : view.getUint16(at, true);
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
