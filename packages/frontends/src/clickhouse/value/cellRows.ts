/** Rows as text, cell by cell, with what stands between them: tab-separated, comma-separated, JSON and `VALUES`. */
import type { CellWriter } from "@gateway/core/type/cellWriter.ts";
import { isNull, type ColumnarBatch, type Vector } from "@gateway/core/type/vector.ts";
import type { Output } from "./output.ts";

/** What stands around the cells of a row. */
export interface RowForm {
  /** Before the first cell, between two, and behind the last one. */
  readonly open: string;
  readonly comma: string;
  readonly close: string;
  /** Between two rows; behind the last one there is none. */
  readonly between: string;
  readonly nulls: string;
  /** Before each cell, such as `"name":`. Absent where cells have no names. */
  readonly names?: readonly string[];
  writer(vector: Vector): CellWriter;
}

interface Cells {
  readonly vector: Vector;
  readonly writer: CellWriter;
  readonly before: Uint8Array;
}

/** Writes the rows of batches into an output, a piece at a time. */
export class CellRows {
  readonly #form: RowForm;
  readonly #open: Uint8Array;
  readonly #comma: Uint8Array;
  readonly #close: Uint8Array;
  readonly #between: Uint8Array;
  readonly #nulls: Uint8Array;
  /** Bytes around a row, and around a cell. */
  readonly #room: number;
  readonly #cellRoom: number;
  #rows = 0;

  constructor(form: RowForm) {
    this.#form = form;
    this.#open = Buffer.from(form.open);
    this.#comma = Buffer.from(form.comma);
    this.#close = Buffer.from(form.close);
    this.#between = Buffer.from(form.between);
    this.#nulls = Buffer.from(form.nulls);
    this.#room = this.#open.length + this.#close.length;
    this.#cellRoom = this.#comma.length + this.#nulls.length;
  }

  /** Rows written so far. */
  get rows(): number {
    return this.#rows;
  }

  /** The writers of a batch, made once for all its pieces. */
  cellsOf(batch: ColumnarBatch): readonly Cells[] {
    return batch.columns.map((vector, index) => ({
      vector,
      writer: this.#form.writer(vector),
      before: Buffer.from(this.#form.names?.[index] ?? ""),
    }));
  }

  /** Writes rows from `from` on until the output holds `bytesMax` or the batch has no more; answers the next row. */
  write(cells: readonly Cells[], span: Span, out: Output, bytesMax: number): number {
    let row = span.from;
    for (; row < span.to && out.length < bytesMax; row += 1) {
      if (this.#rows > 0) out.put(this.#between);
      this.#row(cells, row, out);
      this.#rows += 1;
    }
    return row;
  }

  /** Room for the whole row is made first, so that nothing is looked at between two cells. */
  #row(cells: readonly Cells[], row: number, out: Output): void {
    const nulls = this.#nulls;
    let room = this.#room + cells.length * this.#cellRoom;
    for (const cell of cells) {
      room += cell.before.length + (isNull(cell.vector, row) ? 0 : cell.writer.bound(row));
    }
    out.reserve(room);
    const { bytes } = out;
    let at = putShort(bytes, out.length, this.#open);
    for (let index = 0; index < cells.length; index += 1) {
      const { vector, writer, before } = cells[index] as Cells;
      if (index > 0) at = putShort(bytes, at, this.#comma);
      at = putShort(bytes, at, before);
      at = isNull(vector, row) ? putShort(bytes, at, nulls) : writer.write(bytes, at, row);
    }
    out.length = putShort(bytes, at, this.#close);
  }
}

/** A few bytes; for those a loop is faster than a call that copies. */
function putShort(out: Uint8Array, start: number, bytes: Uint8Array): number {
  for (let index = 0; index < bytes.length; index += 1) out[start + index] = bytes[index] ?? 0;
  return start + bytes.length;
}

/** Rows of a batch that are still to be written. */
export interface Span {
  readonly from: number;
  readonly to: number;
}
