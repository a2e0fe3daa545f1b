/**
 * Rows of PostgreSQL as columns: where the cells of each row lie, then one buffer for each column.
 *
 * Cells come in the binary format where the neutral type has a layout of its own, which is exact and needs no
 * text to be read. What has no neutral form (an infinite date, NaN in a decimal) fails with its own error.
 */
import { vectorOf } from "@gateway/core/type/build.ts";
import type { Vector } from "@gateway/core/type/vector.ts";
import { getInt32 } from "@gateway/wire/postgres/bytes.ts";
import type { CellForm, ColumnRule } from "../types.ts";
import { readValue } from "./values.ts";

/** Where the cells of some rows lie. Row `r` and column `c` at `r * width + c`; a length of -1 is NULL. */
export interface CellSpans {
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly width: number;
  readonly starts: Int32Array;
  readonly lengths: Int32Array;
}

/** Finds the cells of whole DataRow messages, of which each was judged by `rowFits`. */
export function spansOf(bytes: Uint8Array, rows: number, width: number): CellSpans {
  const starts = new Int32Array(rows * width);
  const lengths = new Int32Array(rows * width);
  let at = 0;
  for (let cell = 0; cell < rows * width;) {
    at += rowHeadBytes;
    for (const end = cell + width; cell < end; cell += 1) {
      const length = getInt32(bytes, at);
      starts[cell] = at + 4;
      lengths[cell] = length;
      at += 4 + Math.max(0, length);
    }
  }
  return { bytes, rows, width, starts, lengths };
}

/** Letter, length and count of columns. */
const rowHeadBytes = 7;

/** Why a cell has no neutral form, in words for the client. */
export interface Unfit {
  readonly unfit: string;
}

/** One column of these rows, or why a cell of it can not be had. */
export function columnOf(spans: CellSpans, column: number, rule: ColumnRule): Vector | Unfit {
  const width = fixedWidths[rule.form];
  const validity = validityOf(spans, column);
  if (rule.form === "text" || rule.form === "bytes")
    return bytesColumn(spans, column, rule, validity);
  if (width !== undefined) return fixedColumn(spans, column, rule, { width, validity });
  return valuesColumn(spans, column, rule);
}

/** Bytes of a cell of each form whose neutral layout is the same number, turned around. */
const fixedWidths: Partial<Record<CellForm, 2 | 4 | 8>> = {
  int2: 2,
  int4: 4,
  int8: 8,
  float4: 4,
  float8: 8,
  time: 8,
  date: 4,
  timestamp: 8,
};

function validityOf({ rows, width, lengths }: CellSpans, column: number): Uint8Array | undefined {
  let bits: Uint8Array | undefined;
  for (let row = 0, cell = column; row < rows; row += 1, cell += width) {
    if (lengths[cell] !== -1) continue;
    if (bits === undefined) bits = new Uint8Array((rows + 7) >> 3).fill(0xff);
    bits[row >> 3] = (bits[row >> 3] ?? 0) & ~(1 << (row & 7));
  }
  return bits;
}

function bytesColumn(
  { bytes, rows, width, starts, lengths }: CellSpans,
  column: number,
  { type }: ColumnRule,
  validity: Uint8Array | undefined,
): Vector {
  const offsets = new Int32Array(rows + 1);
  let end = 0;
  for (let row = 0, cell = column; row < rows; row += 1, cell += width) {
    end += Math.max(0, lengths[cell] ?? 0);
    offsets[row + 1] = end;
  }
  const values = new Uint8Array(end);
  for (let row = 0, cell = column; row < rows; row += 1, cell += width) {
    const length = lengths[cell] ?? 0;
    const start = starts[cell] ?? 0;
    if (length > 0) values.set(bytes.subarray(start, start + length), offsets[row]);
  }
  return { type, length: rows, offset: 0, validity, values, offsets, children: [] };
}

interface Fixed {
  readonly width: 2 | 4 | 8;
  readonly validity: Uint8Array | undefined;
}

function fixedColumn(
  { bytes, rows, width: columns, starts, lengths }: CellSpans,
  column: number,
  { type, form }: ColumnRule,
  { width, validity }: Fixed,
): Vector | Unfit {
  const values = new Uint8Array(rows * width);
  const view = new DataView(values.buffer);
  for (let row = 0, cell = column; row < rows; row += 1, cell += columns) {
    const length = lengths[cell];
    if (length === -1) continue;
    if (length !== width) return { unfit: wrongLength };
    const start = starts[cell] ?? 0;
    for (let byte = 0; byte < width; byte += 1)
      values[row * width + byte] = bytes[start + width - 1 - byte] ?? 0;
    if (form === "date" && !moveDate(view, row * 4)) return { unfit: infinite };
    if (form === "timestamp" && !moveTimestamp(view, row * 8)) return { unfit: infinite };
  }
  return { type, length: rows, offset: 0, validity, values, offsets: undefined, children: [] };
}

/** A server that answers in another form than it said. */
const wrongLength = "a cell is not as long as its type";
const infinite = "an infinite date or timestamp has no form here; cast it to text";

/** Days from 1970 to 2000, which PostgreSQL counts from, and the same in microseconds. */
const epochDays = 10_957;
const epochMicros = 946_684_800_000_000n;

function moveDate(view: DataView, at: number): boolean {
  const days = view.getInt32(at, true);
  if (days === 0x7fff_ffff || days === -0x8000_0000) return false;
  view.setInt32(at, days + epochDays, true);
  return true;
}

function moveTimestamp(view: DataView, at: number): boolean {
  const micros = view.getBigInt64(at, true);
  if (micros === 0x7fff_ffff_ffff_ffffn || micros === -0x8000_0000_0000_0000n) return false;
  view.setBigInt64(at, micros + epochMicros, true);
  return true;
}

/** Forms that are read cell by cell. */
function valuesColumn(
  { bytes, rows, width, starts, lengths }: CellSpans,
  column: number,
  rule: ColumnRule,
): Vector | Unfit {
  const values = [];
  for (let row = 0, cell = column; row < rows; row += 1, cell += width) {
    const length = lengths[cell] ?? -1;
    const start = starts[cell] ?? 0;
    const read =
      length === -1 ? { value: null } : readValue(rule, bytes.subarray(start, start + length));
    if ("unfit" in read) return read;
    values.push(read.value);
  }
  return vectorOf(rule.type, values);
}
