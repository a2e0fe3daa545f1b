/**
 * Row packets of a MySQL text result as a text batch: the cells stay where they arrived, and only those
 * whose text is not the canonical one are written anew.
 */
import type { DataType } from "@gateway/core/type/type.ts";
import type { TextBatch } from "@gateway/core/type/vector.ts";
import type { CellRule, TextColumn } from "./columns.ts";

/** Where the payload of each row lies in the window. */
export interface RowSpans {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly rows: number;
}

const nullCell = 0xfb;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The batch of these rows; undefined when a row does not hold exactly its columns. */
export function textBatch(
  window: Uint8Array,
  { starts: rowStarts, ends, rows }: RowSpans,
  columns: readonly TextColumn[],
): TextBatch | undefined {
  const width = columns.length;
  const starts = new Int32Array(rows * width);
  const lengths = new Int32Array(rows * width);
  for (let row = 0; row < rows; row += 1) {
    const spans = { starts, lengths, cell: row * width };
    const end = ends[row] ?? 0;
    if (readRow(window, { at: rowStarts[row] ?? 0, end, width }, spans) !== end) return undefined;
  }
  const types = columns.map(({ column }): DataType => column.type);
  return canonical({ form: "text", rows, types, bytes: window, starts, lengths }, columns);
}

/** Notes where the cells of a row lie, and answers where the last one ends; -1 for cells that run over. */
function readRow(
  window: Uint8Array,
  { at: begin, end, width }: { readonly at: number; readonly end: number; readonly width: number },
  {
    starts,
    lengths,
    cell,
  }: { readonly starts: Int32Array; readonly lengths: Int32Array; readonly cell: number },
): number {
  let at = begin;
  for (let index = cell; index < cell + width; index += 1) {
    if (at >= end) return -1;
    const first = window[at] ?? nullCell;
    let prefix = 1;
    let length = first;
    if (first === nullCell) length = 0;
    else if (first > nullCell) {
      prefix = first === 0xfc ? 3 : first === 0xfd ? 4 : 9;
      if (first === 0xff || at + prefix > end) return -1;
      length = longLength(window, at, prefix);
    }
    starts[index] = at + prefix;
    lengths[index] = first === nullCell ? -1 : length;
    at += prefix + length;
    if (at > end) return -1;
  }
  return at;
}

function longLength(window: Uint8Array, at: number, prefix: number): number {
  const low = (window[at + 1] ?? 0) | ((window[at + 2] ?? 0) << 8);
  if (prefix === 3) return low;
  const third = low + (window[at + 3] ?? 0) * 0x1_0000;
  if (prefix === 4) return third;
  // Eight bytes; one that needs more than four of them is longer than any packet.
  const high = [5, 6, 7, 8].some((byte) => window[at + byte] !== 0);
  return high ? 0x7fff_ffff : third + (window[at + 4] ?? 0) * 0x100_0000;
}

/** Replaces the cells of columns whose text may differ from the canonical one. */
export function canonical(batch: TextBatch, columns: readonly TextColumn[]): TextBatch {
  const written = new Rewritten(batch);
  for (const [index, { rule }] of columns.entries()) {
    if (rule.kind === "none") continue;
    for (let row = 0; row < batch.rows; row += 1) {
      const cell = row * columns.length + index;
      if ((batch.lengths[cell] ?? -1) >= 0) written.apply(rule, cell);
    }
  }
  return written.batch();
}

/** A batch whose cells may be replaced; new text goes behind the old. */
class Rewritten {
  readonly #batch: TextBatch;
  readonly #parts: Uint8Array[] = [];
  #end: number;

  constructor(batch: TextBatch) {
    this.#batch = batch;
    this.#end = batch.bytes.length;
  }

  batch(): TextBatch {
    if (this.#parts.length === 0) return this.#batch;
    return { ...this.#batch, bytes: Buffer.concat([this.#batch.bytes, ...this.#parts], this.#end) };
  }

  apply(rule: Exclude<CellRule, { kind: "none" }>, cell: number): void {
    const { bytes, starts, lengths } = this.#batch;
    const start = starts[cell] ?? 0;
    const length = lengths[cell] ?? 0;
    switch (rule.kind) {
      case "integer": {
        let at = start;
        while (bytes[at] === 0x30 && at < start + length - 1) at += 1;
        starts[cell] = at;
        lengths[cell] = length - (at - start);
        return;
      }
      case "decimal": {
        const point = rule.scale === 0 ? -1 : bytes[start + length - rule.scale - 1];
        const whole = bytes[start] === 0x2d ? bytes[start + 1] : bytes[start];
        if (rule.scale > 0 ? point !== 0x2e || whole === 0x2e : false) {
          this.#put(cell, decimalText(this.#text(cell), rule.scale));
        }
        return;
      }
      case "float": {
        const text = this.#text(cell);
        const shown = String(Number(text));
        if (shown !== text) this.#put(cell, shown);
        return;
      }
      case "date":
        if (isZeroDate(bytes, start)) lengths[cell] = -1;
        return;
      case "moment":
        if (isZeroDate(bytes, start)) lengths[cell] = -1;
        else if (length !== momentLength)
          this.#put(cell, this.#text(cell).slice(0, momentLength - 7) + fraction(this.#text(cell)));
    }
  }

  #text(cell: number): string {
    const { bytes, starts, lengths } = this.#batch;
    const start = starts[cell] ?? 0;
    return decoder.decode(bytes.subarray(start, start + (lengths[cell] ?? 0)));
  }

  #put(cell: number, text: string): void {
    const part = encoder.encode(text);
    this.#batch.starts[cell] = this.#end;
    this.#batch.lengths[cell] = part.length;
    this.#parts.push(part);
    this.#end += part.length;
  }
}

const momentLength = "2024-02-29 12:34:56.789000".length;

function fraction(moment: string): string {
  return `.${moment.slice(momentLength - 6).padEnd(6, "0")}`;
}

function decimalText(text: string, scale: number): string {
  const [whole = "0", digits = ""] = text.split(".");
  const before = whole === "" || whole === "-" ? `${whole}0` : whole;
  return `${before}.${digits.padEnd(scale, "0")}`;
}

/** Month or day 00: MySQL's family can hold dates that are none. */
function isZeroDate(bytes: Uint8Array, start: number): boolean {
  const two = (at: number): boolean => bytes[start + at] === 0x30 && bytes[start + at + 1] === 0x30;
  return two(5) || two(8);
}
