/**
 * Writes batches as DataRow frames in text format by the kernel. A row with a cell that it leaves is written by
 * `rows.ts`, and so is a batch that has many of them, or too few rows to be handed over.
 */
import type { ColumnarBatch } from "@gateway/core/type/vector.ts";
import { dataRow } from "@gateway/wire/postgres/backend.ts";
import type { ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import { rowWriter, type RowLimit, type RowShape, type RowWriter } from "../rows.ts";
import { entriesAt, entry, rowsAt, rowsBytes } from "./layout.ts";
import {
  kernelColumns,
  loadPiece,
  pieceRows,
  type KernelColumn,
  type KernelMemory,
} from "./load.ts";
import { rowProgram } from "./program.ts";

/** For so few rows plain code is faster than handing them over. */
const rowsMin = 64;
/** Rows that may be left in any batch, and the share of those written that may be. */
const leftMin = 16;
const leftShare = 8;

interface Shared {
  value: number;
}

/** What the module exports. */
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly letter: Shared;
  readonly width: Shared;
  readonly entriesEnd: Shared;
  readonly place: Shared;
  writeRows(row: number, end: number, at: number, stop: number): number;
}

/** WebAssembly, as far as this file uses it. Node may run without it, so nothing takes it for granted. */
declare const WebAssembly:
  | {
      readonly Module: new (bytes: Uint8Array) => object;
      readonly Instance: new (module: object) => { readonly exports: unknown };
    }
  | undefined;

interface Kernel extends KernelMemory {
  readonly exports: Exports;
  /** The writer whose piece it holds. */
  owner: number;
}

/** Made with the first large result, and used within one turn of the loop only, so one serves all. */
let kernel: Kernel | undefined;
let writers = 0;

/** Undefined for a batch that is better written by `rowWriter`. */
export function kernelRowWriter(batch: ColumnarBatch, shape: RowShape): RowWriter | undefined {
  if (batch.rows < rowsMin || typeof WebAssembly === "undefined") return undefined;
  const columns = kernelColumns(batch, shape);
  if (columns === undefined) return undefined;
  kernel ??= kernelOf();
  return new KernelRows(kernel, columns, batch, shape);
}

function kernelOf(): Kernel {
  if (typeof WebAssembly === "undefined") throw new Error("this Node has no WebAssembly");
  const instance = new WebAssembly.Instance(new WebAssembly.Module(rowProgram()));
  const exports = instance.exports as Exports;
  const { buffer } = exports.memory;
  return { exports, bytes: new Uint8Array(buffer), view: new DataView(buffer), owner: 0 };
}

class KernelRows implements RowWriter {
  readonly rows: number;
  readonly #kernel: Kernel;
  readonly #columns: readonly KernelColumn[];
  readonly #batch: ColumnarBatch;
  readonly #shape: RowShape;
  readonly #number: number;
  readonly #pieceRows: number;
  /** The rows that the kernel holds while it is this writer's. */
  #first = 0;
  #behind = 0;
  #left = 0;
  #plain: RowWriter | undefined;

  constructor(
    kernelOfAll: Kernel,
    columns: readonly KernelColumn[],
    batch: ColumnarBatch,
    shape: RowShape,
  ) {
    this.rows = batch.rows;
    this.#kernel = kernelOfAll;
    this.#columns = columns;
    this.#batch = batch;
    this.#shape = shape;
    this.#pieceRows = pieceRows(columns);
    writers += 1;
    this.#number = writers;
  }

  write(out: ByteWriter, first: number, limit: RowLimit): number {
    let row = first;
    while (row < limit.end) {
      if (this.#left > leftMin + row / leftShare) return this.#writePlain(out, row, limit);
      const next = this.#writeSome(out, row, limit);
      // None: the first of them has a cell that is left.
      if (next === row) {
        this.#left += 1;
        this.#writePlain(out, row, { end: row + 1, bytesMax: limit.bytesMax });
        row += 1;
      } else row = next;
      if (out.length >= limit.bytesMax) break;
    }
    return row;
  }

  #writePlain(out: ByteWriter, row: number, limit: RowLimit): number {
    this.#plain ??= rowWriter(this.#batch, this.#shape);
    return this.#plain.write(out, row, limit);
  }

  /** Writes rows of one piece; answers the next row. */
  #writeSome(out: ByteWriter, row: number, { end, bytesMax }: RowLimit): number {
    const { exports, bytes } = this.#kernel;
    if (!this.#holds(row)) this.#load(row);
    const first = this.#first;
    const stop = rowsAt + Math.max(0, Math.min(rowsBytes, bytesMax - out.length));
    const last = Math.min(end, this.#behind) - first;
    const next = exports.writeRows(row - first, last, rowsAt, stop);
    const size = exports.place.value - rowsAt;
    out.room(size);
    out.buffer.set(bytes.subarray(rowsAt, rowsAt + size), out.length);
    out.length += size;
    return first + next;
  }

  #holds(row: number): boolean {
    return this.#kernel.owner === this.#number && row >= this.#first && row < this.#behind;
  }

  #load(row: number): void {
    const { exports } = this.#kernel;
    const width = this.#columns.length;
    this.#kernel.owner = this.#number;
    exports.letter.value = this.#shape.letter ?? dataRow;
    exports.width.value = ((width & 0xff) << 8) | (width >> 8);
    exports.entriesEnd.value = entriesAt + width * entry.bytes;
    const most = Math.min(this.#pieceRows, this.rows - row);
    this.#first = row;
    this.#behind = row + loadPiece(this.#kernel, this.#columns, row, most);
  }
}
