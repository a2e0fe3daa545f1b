/**
 * Columns as the rows of Trino's JSON answers: `[1,"x"],[2,null]`, bytes only, one growing buffer per
 * page, no object per cell.
 *
 * A batch is written piece by piece, because a page ends in the middle of one. What surrounds the
 * rows in an answer is in page.ts.
 */
import type { CellWriter, TextStyle } from "@gateway/core/type/cellWriter.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { ColumnarBatch, Vector } from "@gateway/core/type/vector.ts";
import { pureIntervalWriter, trinoWriter } from "./value/cells.ts";
import { pureInterval, trinoText } from "./value/types.ts";

const comma = 0x2c;
const open = 0x5b;
const close = 0x5d;
/** `null` as four bytes, written one by one: shorter than a call. */
const [n, u, l] = [0x6e, 0x75, 0x6c];
/** Room for one cell's comma and `null`. */
const cellRoom = 5;

/** Memory a page begins with. Up to half of Node's pool it is a piece of the pool, which is cheaper than memory of its own. */
const capacityMin = 512;
const pooledMax = Buffer.poolSize >>> 1;

/** The rows of one page: bytes so far and how many are wanted. */
export interface RowBuffer {
  bytes: Uint8Array;
  length: number;
  rows: number;
  /** The page is full from here on; its last row may reach beyond. */
  readonly targetBytes: number;
}

/** An empty page. Its memory grows as rows come, so that a small answer costs little. */
export function rowBuffer(targetBytes: number): RowBuffer {
  return { bytes: emptyBytes, length: 0, rows: 0, targetBytes };
}

const emptyBytes = new Uint8Array(0);

/** True when no further row goes into this page. */
export function isFull(page: RowBuffer): boolean {
  return page.length >= page.targetBytes;
}

/** A batch that is being written, and the row to go on with. */
export interface OpenBatch {
  readonly rows: number;
  readonly cells: readonly Cells[];
  row: number;
}

/** One column of the batch. `validity` and `offset` are the vector's, at hand for the loop. */
interface Cells {
  readonly writer: CellWriter;
  readonly validity: Uint8Array | undefined;
  readonly offset: number;
  /** The bound of every cell where the type has a fixed width; otherwise undefined and asked per row. */
  readonly bound: number | undefined;
}

/** Chooses the writers of a batch, once. Columns that the batch lacks are a bug of the engine. */
export function openBatch(
  batch: ColumnarBatch,
  columns: readonly Column[],
  style: TextStyle = trinoText,
): OpenBatch {
  const cells = columns.map((column, index) => {
    const vector = batch.columns[index];
    if (vector === undefined) throw new RangeError("a batch without one of its columns");
    return cellsOf(vector, column, style);
  });
  return { rows: batch.rows, cells, row: 0 };
}

function cellsOf(vector: Vector, column: Column, style: TextStyle): Cells {
  const pure = pureInterval(column);
  const writer = pure === undefined ? trinoWriter(vector, style) : pureIntervalWriter(vector, pure);
  const { validity, offset } = vector;
  const bound = isFixedWidth(vector) && vector.length > 0 ? writer.bound(0) : undefined;
  return { writer, validity, offset, bound };
}

/** Types whose cells all have one bound. */
function isFixedWidth(vector: Vector): boolean {
  switch (vector.type.kind) {
    case "text":
    case "json":
    case "binary":
    case "list":
    case "struct":
    case "map":
      return false;
    case "null":
    case "boolean":
    case "integer":
    case "float":
    case "decimal":
    case "date":
    case "time":
    case "timestamp":
    case "interval":
    case "uuid":
      return true;
  }
}

/** Writes rows until the page is full or the batch has no more. True when the batch is done. */
export function writeRows(batch: OpenBatch, page: RowBuffer): boolean {
  const { cells, rows } = batch;
  const varying = cells.filter((column) => column.bound === undefined);
  const fixed = cells.reduce((sum, column) => sum + (column.bound ?? 0) + cellRoom, 3);
  let { row } = batch;
  while (row < rows && page.length < page.targetBytes) {
    let room = fixed;
    for (const column of varying) room += column.writer.bound(row);
    reserve(page, room);
    writeRow(cells, row, page);
    row += 1;
  }
  batch.row = row;
  return row >= rows;
}

function writeRow(cells: readonly Cells[], row: number, page: RowBuffer): void {
  const out = page.bytes;
  let at = page.length;
  if (page.rows > 0) {
    out[at] = comma;
    at += 1;
  }
  out[at] = open;
  at += 1;
  for (let index = 0; index < cells.length; index += 1) {
    const column = cells[index] as Cells;
    if (index > 0) {
      out[at] = comma;
      at += 1;
    }
    at = isPresent(column, row) ? column.writer.write(out, at, row) : writeNull(out, at);
  }
  out[at] = close;
  page.length = at + 1;
  page.rows += 1;
}

function isPresent({ validity, offset }: Cells, row: number): boolean {
  if (validity === undefined) return true;
  const index = offset + row;
  return ((validity[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
}

function writeNull(out: Uint8Array, at: number): number {
  out[at] = n;
  out[at + 1] = u;
  out[at + 2] = l;
  out[at + 3] = l;
  return at + 4;
}

/** Makes room for so many bytes more. */
export function reserve(page: RowBuffer, room: number): void {
  if (page.length + room > page.bytes.length) grow(page, room);
}

/**
 * Rows that are written already, without the brackets around them. The first ones of a page are taken
 * as they are and not copied, so nobody may write to them afterwards. False when they are too many for
 * a page that has some: the next one takes them.
 */
export function append(page: RowBuffer, rows: Uint8Array, count: number): boolean {
  if (count === 0) return true;
  if (page.rows === 0) {
    page.bytes = rows;
    page.length = rows.length;
    page.rows = count;
    return true;
  }
  if (page.length + rows.length > page.targetBytes * 2) return false;
  reserve(page, rows.length + 1);
  page.bytes[page.length] = comma;
  page.bytes.set(rows, page.length + 1);
  page.length += rows.length + 1;
  page.rows += count;
  return true;
}

/** Doubles the page's memory, up to what it is meant to hold, or to what the next row may need. */
function grow(page: RowBuffer, room: number): void {
  const wanted = page.length + room;
  const doubled = Math.max(capacityMin, Math.min(page.bytes.length * 2, page.targetBytes * 2));
  const size = Math.max(wanted, doubled);
  const bytes = size < pooledMax ? Buffer.allocUnsafe(size) : Buffer.allocUnsafeSlow(size);
  bytes.set(page.bytes.subarray(0, page.length));
  page.bytes = bytes;
}
