/**
 * The rows of the answer that is being made: batches of any form go in, pages come out.
 *
 * A batch may be larger than a page and then fills several; small ones share one. Rows in Trino's own
 * form are passed on as they are, those of a large batch without being copied.
 */
import { columnarOf } from "@gateway/core/type/columnar.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { Batch } from "@gateway/core/type/vector.ts";
import type { TextStyle } from "@gateway/core/type/cellWriter.ts";
import { append, openBatch, rowBuffer, writeRows, type RowBuffer } from "../encode.ts";
import { pageTargetBytes } from "../machine.ts";
import { OpenText, textForms } from "../value/textRows.ts";

/** Writes on until the page is full or the batch has no more; true for the latter. */
type WriteOn = (page: RowBuffer) => boolean;

/** The rows of one page, without the brackets around them. */
export interface DraftRows {
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** One per statement. Takes one batch at a time. */
export class Draft {
  readonly #style: TextStyle;
  #page = rowBuffer(pageTargetBytes(0));
  #writeOn: WriteOn | undefined;
  #full = false;
  #pages = 0;
  /** What the client asked for; the growing size of machine.ts while it asked for none. */
  #wantedBytes: number | undefined;

  constructor(style: TextStyle) {
    this.#style = style;
  }

  /** Memory taken for the page. */
  get bytes(): number {
    return this.#page.bytes.length;
  }

  /** Rows at hand. */
  get rows(): number {
    return this.#page.rows;
  }

  /** No further row goes into this page. */
  get isFull(): boolean {
    return this.#full;
  }

  /** A batch has rows that stand in no page yet. */
  get hasMore(): boolean {
    return this.#writeOn !== undefined;
  }

  /** Asks for pages of about this size from the next one on. */
  want(bytes: number | undefined): void {
    if (bytes === this.#wantedBytes) return;
    this.#wantedBytes = bytes;
    if (this.#page.rows === 0 && !this.#full) this.#page = this.#fresh();
  }

  /** Takes a batch and writes what fits. Not called while the one before `hasMore`. A batch that lacks a column is a bug and throws. */
  put(batch: Batch, columns: readonly Column[]): void {
    this.#writeOn = this.#writerOf(batch, columns);
    this.writeMore();
  }

  /** Writes on from the batch at hand. */
  writeMore(): void {
    const done = this.#writeOn?.(this.#page) ?? true;
    if (done) this.#writeOn = undefined;
    this.#full = !done || this.#page.length >= this.#page.targetBytes;
  }

  /** Rows that are there already, as the whole of the last page. */
  replace(bytes: Uint8Array, count: number): void {
    this.#page = { bytes, length: bytes.length, rows: count, targetBytes: bytes.length };
  }

  /** The page's rows, and a fresh page behind them; undefined when there are none. `last`: no further page is expected. */
  take(last: boolean): DraftRows | undefined {
    const { bytes, length, rows } = this.#page;
    if (rows === 0) return undefined;
    this.#pages += 1;
    this.#page = last ? rowBuffer(0) : this.#fresh();
    this.#full = false;
    return { bytes: bytes.subarray(0, length), count: rows };
  }

  /** Throws away what is at hand. */
  clear(): void {
    this.#writeOn = undefined;
    this.#page = rowBuffer(pageTargetBytes(0));
    this.#full = false;
  }

  #fresh(): RowBuffer {
    return rowBuffer(this.#wantedBytes ?? pageTargetBytes(this.#pages));
  }

  #writerOf(batch: Batch, columns: readonly Column[]): WriteOn {
    if (batch.form === "native") {
      if (batch.format !== "trinoData") throw new TypeError(`rows in the form ${batch.format}`);
      const rows = rowsInside(batch.bytes);
      return (page) => append(page, rows, batch.rows);
    }
    const forms = batch.form === "text" ? textForms(batch.types, this.#style) : undefined;
    if (batch.form === "text" && forms?.length === columns.length) {
      const open = new OpenText(batch, forms);
      return (page) => open.write(page);
    }
    const open = openBatch(columnarOf(batch), columns, this.#style);
    return (page) => writeRows(open, page);
  }
}

const openBracket = 0x5b;
const closeBracket = 0x5d;

/** What stands between the brackets of a JSON array. */
function rowsInside(bytes: Uint8Array): Uint8Array {
  const start = bytes.indexOf(openBracket);
  const end = bytes.lastIndexOf(closeBracket);
  if (start < 0 || end < start) throw new TypeError("rows that are no JSON array");
  return bytes.subarray(start + 1, end);
}
