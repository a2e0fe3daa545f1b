/**
 * Turns any batch into columns, for readers that know columns only.
 *
 * Text cells are read in the form that `TextBatch` promises: an engine hands over canonical text or columns
 * of its own. A cell that breaks the promise is a bug of that engine and throws.
 */
import { daysOf } from "./calendar.ts";
import { fractionDigits } from "./name.ts";
import type { DataType } from "./type.ts";
import type { Batch, ColumnarBatch, TextBatch, Vector } from "./vector.ts";

const noBytes = new Uint8Array(0);
const zero = 0x30;
const minus = 0x2d;
const point = 0x2e;
/** Most digits that a number holds exactly. */
const exactDigits = 15;
const decoder = new TextDecoder();

/** The batch itself when it has columns. A native batch throws: it is made for a reader that asked for it. */
export function columnarOf(batch: Batch): ColumnarBatch {
  switch (batch.form) {
    case "columnar":
      return batch;
    case "text": {
      const columns = batch.types.map((type, index) =>
        vectorOfText(new TextColumn(batch, index), type),
      );
      return { form: "columnar", rows: batch.rows, columns };
    }
    case "native":
      throw new TypeError(`rows in the form ${batch.format} for a reader of columns`);
  }
}

/** One column of a text batch: where its cells are. */
class TextColumn {
  readonly rows: number;
  readonly bytes: Uint8Array;
  readonly #batch: TextBatch;
  readonly #index: number;

  constructor(batch: TextBatch, index: number) {
    this.rows = batch.rows;
    this.bytes = batch.bytes;
    this.#batch = batch;
    this.#index = index;
  }

  start(row: number): number {
    return this.#batch.starts[row * this.#batch.types.length + this.#index] ?? 0;
  }

  /** Bytes of the cell; -1 for NULL. */
  size(row: number): number {
    return this.#batch.lengths[row * this.#batch.types.length + this.#index] ?? -1;
  }
}

function vectorOfText(column: TextColumn, type: DataType): Vector {
  const plain = {
    type,
    length: column.rows,
    offset: 0,
    validity: validityOf(column),
    values: noBytes,
    offsets: undefined,
    children: [],
  };
  switch (type.kind) {
    case "null":
      return { ...plain, validity: undefined };
    case "text":
    case "json":
    case "binary":
      return { ...plain, ...copied(column) };
    case "boolean":
      return { ...plain, values: booleans(column) };
    case "integer":
      return { ...plain, values: integers(column, type.bits) };
    case "decimal":
      return { ...plain, values: integers(column, 128) };
    case "float":
      return { ...plain, values: floats(column, type.bits) };
    case "date":
      return { ...plain, values: dates(column) };
    case "time":
    case "timestamp":
      return { ...plain, values: moments(column, type.kind, fractionDigits[type.unit]) };
    case "uuid":
      return { ...plain, values: uuids(column) };
    case "interval":
    case "list":
    case "struct":
    case "map":
      throw new TypeError(`a text batch holds no ${type.kind}`);
  }
}

function validityOf(column: TextColumn): Uint8Array | undefined {
  let bits: Uint8Array | undefined;
  for (let row = 0; row < column.rows; row += 1) {
    if (column.size(row) >= 0) continue;
    bits ??= new Uint8Array((column.rows + 7) >> 3).fill(0xff);
    bits[row >> 3] = (bits[row >> 3] ?? 0) & ~(1 << (row & 7));
  }
  return bits;
}

function copied(column: TextColumn): Pick<Vector, "values" | "offsets"> {
  const offsets = new Int32Array(column.rows + 1);
  let end = 0;
  for (let row = 0; row < column.rows; row += 1) {
    end += Math.max(column.size(row), 0);
    offsets[row + 1] = end;
  }
  const values = new Uint8Array(end);
  for (let row = 0; row < column.rows; row += 1) {
    const size = column.size(row);
    if (size <= 0) continue;
    const start = column.start(row);
    values.set(column.bytes.subarray(start, start + size), offsets[row]);
  }
  return { values, offsets };
}

function booleans(column: TextColumn): Uint8Array {
  const bits = new Uint8Array((column.rows + 7) >> 3);
  for (let row = 0; row < column.rows; row += 1) {
    // "true" and "false" differ in length.
    if (column.size(row) === 4) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
  }
  return bits;
}

function integers(column: TextColumn, bits: 8 | 16 | 32 | 64 | 128): Uint8Array {
  const width = bits / 8;
  const bytes = new Uint8Array(column.rows * width);
  const view = new DataView(bytes.buffer);
  for (let row = 0; row < column.rows; row += 1) {
    const size = column.size(row);
    if (size < 0) continue;
    const start = column.start(row);
    if (bits <= 32) putSmall(view, row * width, bits, digitsAt(column.bytes, start, size));
    else if (size <= exactDigits)
      putWide(view, row * width, BigInt(digitsAt(column.bytes, start, size)), bits);
    else putWide(view, row * width, longAt(column.bytes, start, size), bits);
  }
  return bytes;
}

/** The digits of a cell as a number, its point left out. */
function digitsAt(bytes: Uint8Array, start: number, size: number): number {
  let value = 0;
  const negative = bytes[start] === minus;
  for (let at = negative ? start + 1 : start; at < start + size; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === point) continue;
    if (byte < zero || byte > zero + 9) throw new TypeError("a number with something else in it");
    value = value * 10 + byte - zero;
  }
  return negative ? -value : value;
}

function longAt(bytes: Uint8Array, start: number, size: number): bigint {
  return BigInt(decoder.decode(bytes.subarray(start, start + size)).replace(".", ""));
}

function putSmall(view: DataView, at: number, bits: 8 | 16 | 32 | 64 | 128, value: number): void {
  if (bits === 8) view.setInt8(at, value);
  else if (bits === 16) view.setInt16(at, value, true);
  else view.setInt32(at, value, true);
}

function putWide(view: DataView, at: number, value: bigint, bits: number): void {
  view.setBigUint64(at, BigInt.asUintN(64, value), true);
  if (bits === 128) view.setBigUint64(at + 8, BigInt.asUintN(64, value >> 64n), true);
}

function floats(column: TextColumn, bits: 32 | 64): Uint8Array {
  const array = bits === 32 ? new Float32Array(column.rows) : new Float64Array(column.rows);
  for (let row = 0; row < column.rows; row += 1) {
    const size = column.size(row);
    if (size < 0) continue;
    const start = column.start(row);
    array[row] = Number(decoder.decode(column.bytes.subarray(start, start + size)));
  }
  return new Uint8Array(array.buffer);
}

function dates(column: TextColumn): Uint8Array {
  const days = new Int32Array(column.rows);
  for (let row = 0; row < column.rows; row += 1) {
    if (column.size(row) >= 0) days[row] = daysAt(column.bytes, column.start(row));
  }
  return new Uint8Array(days.buffer);
}

/** `2024-02-29` at `start`. */
function daysAt(bytes: Uint8Array, start: number): number {
  const year = digitsAt(bytes, start, 4);
  return daysOf(year, digitsAt(bytes, start + 5, 2), digitsAt(bytes, start + 8, 2));
}

const dateSize = "2024-02-29 ".length;
const clockSize = "12:34:56.".length;

function moments(column: TextColumn, kind: "time" | "timestamp", digits: number): Uint8Array {
  const bytes = new Uint8Array(column.rows * 8);
  const view = new DataView(bytes.buffer);
  const perSecond = 10n ** BigInt(digits);
  for (let row = 0; row < column.rows; row += 1) {
    if (column.size(row) < 0) continue;
    const start = column.start(row);
    const days = kind === "time" ? 0 : daysAt(column.bytes, start);
    const at = kind === "time" ? start : start + dateSize;
    const fraction = digits === 0 ? 0 : digitsAt(column.bytes, at + clockSize, digits);
    const seconds = days * 86_400 + secondsAt(column.bytes, at);
    view.setBigInt64(row * 8, BigInt(seconds) * perSecond + BigInt(fraction), true);
  }
  return bytes;
}

/** `12:34:56` at `start`. */
function secondsAt(bytes: Uint8Array, start: number): number {
  const minutes = digitsAt(bytes, start, 2) * 60 + digitsAt(bytes, start + 3, 2);
  return minutes * 60 + digitsAt(bytes, start + 6, 2);
}

function uuids(column: TextColumn): Uint8Array {
  const values = new Uint8Array(column.rows * 16);
  for (let row = 0; row < column.rows; row += 1) {
    if (column.size(row) < 0) continue;
    const start = column.start(row);
    const digits = decoder.decode(column.bytes.subarray(start, start + 36)).replaceAll("-", "");
    for (let index = 0; index < 16; index += 1) {
      values[row * 16 + index] = Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16);
    }
  }
  return values;
}
