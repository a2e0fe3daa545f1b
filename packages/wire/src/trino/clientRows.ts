/**
 * The rows of an answer as offsets of cells in its bytes, without decoding a value: a cell is a string, a
 * bare word or number, or NULL. The reader interprets a cell's text.
 *
 * A page comes from another process, so every byte between the rows is checked, and a page whose rows do not
 * end where it says is refused. Rows with arrays and objects in them are not read here.
 */
import { skipSpace, type Span } from "./clientPage.ts";

/** Cells of `rows` rows, row by row. */
export interface Cells {
  readonly rows: number;
  /** First byte of each cell; behind the quote of a string. */
  readonly starts: Int32Array;
  /** Bytes of each cell; -1 is NULL. */
  readonly lengths: Int32Array;
  /** Indexes of the cells that hold escapes, ascending. */
  readonly escaped: readonly number[];
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const open = 0x5b;
const close = 0x5d;
const openObject = 0x7b;
const letterN = 0x6e;
const nullSize = 4;
/** Cells that a page is expected to hold when nothing is known. */
const cellsAtFirst = 4_096;

/** 1 for bytes that stand for themselves inside a string. */
const plain = tableOf((byte) => byte >= 0x20 && byte !== quote && byte !== backslash);
/** 1 for bytes of numbers and words. */
const bare = tableOf((byte) => /[\w.+-]/.test(String.fromCharCode(byte)) && byte < 0x80);

function tableOf(holds: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (holds(byte) ? 1 : 0));
}

/** The cells of `columns` columns. `nested` when a cell is an array or object; undefined when the span holds no such rows. `expected` guesses the number of cells; there is never room for more cells than bytes in the span. */
export function readCells(
  bytes: Uint8Array,
  { start, end }: Span,
  columns: number,
  expected = cellsAtFirst,
): Cells | "nested" | undefined {
  const table = new CellTable(Math.min(expected, end - start), bytes, end);
  if (bytes[start] !== open || columns < 1) return undefined;
  let at = behindSpace(bytes, start + 1);
  if (bytes[at] === close) return at + 1 === end ? table.cells(0) : undefined;
  let rows = 0;
  for (;;) {
    if (bytes[at] !== open) return undefined;
    at = table.row(at + 1, columns);
    if (at < 0) return table.nested ? "nested" : undefined;
    rows += 1;
    at = behindSpace(bytes, at);
    if (bytes[at] !== comma) break;
    at = behindSpace(bytes, at + 1);
  }
  return bytes[at] === close && at + 1 === end ? table.cells(rows) : undefined;
}

class CellTable {
  nested = false;
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #escaped: number[] = [];
  #starts: Int32Array;
  #lengths: Int32Array;
  #used = 0;

  constructor(expected: number, bytes: Uint8Array, end: number) {
    const capacity = Math.max(16, expected);
    this.#bytes = bytes;
    this.#end = end;
    this.#starts = new Int32Array(capacity);
    this.#lengths = new Int32Array(capacity);
  }

  cells(rows: number): Cells {
    return {
      rows,
      starts: this.#starts.subarray(0, this.#used),
      lengths: this.#lengths.subarray(0, this.#used),
      escaped: this.#escaped,
    };
  }

  /** Reads the cells of a row whose first begins at `from`. Returns the offset behind the row, or -1. */
  row(from: number, columns: number): number {
    const bytes = this.#bytes;
    const first = this.#used;
    const last = first + columns;
    if (last > this.#starts.length) this.#grow(last);
    const starts = this.#starts;
    const lengths = this.#lengths;
    let at = from;
    for (let cell = first; cell < last; cell += 1) {
      at = behindSpace(bytes, at);
      const byte = bytes[at];
      if (byte === quote) {
        const to = this.#stringEnd(at + 1, cell);
        if (to < 0) return -1;
        starts[cell] = at + 1;
        lengths[cell] = to - at - 1;
        at = to + 1;
      } else if (byte === letterN) {
        if (!isNull(bytes, at)) return -1;
        lengths[cell] = -1;
        at += nullSize;
      } else {
        const to = bareEnd(bytes, at);
        if (to === at) return this.#refuse(byte);
        starts[cell] = at;
        lengths[cell] = to - at;
        at = to;
      }
      at = behindSpace(bytes, at);
      if (bytes[at] !== (cell === last - 1 ? close : comma)) return -1;
      at += 1;
    }
    this.#used = last;
    return at > this.#end ? -1 : at;
  }

  #refuse(byte: number | undefined): number {
    this.nested = byte === open || byte === openObject;
    return -1;
  }

  #stringEnd(from: number, cell: number): number {
    const at = plainEnd(this.#bytes, from);
    if (this.#bytes[at] === quote) return at;
    const end = escapedEnd(this.#bytes, at);
    if (end >= 0) this.#escaped.push(cell);
    return end;
  }

  #grow(atLeast: number): void {
    const capacity = Math.max(atLeast, this.#starts.length * 2);
    const starts = new Int32Array(capacity);
    const lengths = new Int32Array(capacity);
    starts.set(this.#starts);
    lengths.set(this.#lengths);
    this.#starts = starts;
    this.#lengths = lengths;
  }
}

/** Skips white space. Trino writes none, but a page may be any JSON. Costs nearly every byte one comparison. */
function behindSpace(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) > 0x20 ? at : skipSpace(bytes, at);
}

function isNull(bytes: Uint8Array, at: number): boolean {
  return bytes[at + 1] === 0x75 && bytes[at + 2] === 0x6c && bytes[at + 3] === 0x6c;
}

function plainEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  // Behind the last byte there is nothing, which is not plain.
  while (plain[bytes[at] ?? quote] === 1) at += 1;
  return at;
}

function bareEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bare[bytes[at] ?? quote] === 1) at += 1;
  return at;
}

/** The quote behind a string that goes on at `from` with an escape or something that no string holds; -1. */
function escapedEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === backslash) at = plainEnd(bytes, at + 2);
  return bytes[at] === quote ? at : -1;
}

/**
 * How many rows an array of them holds, whatever is in them; -1 when it does not end where the span does.
 * Cost: one look at each byte.
 */
export function countRows(bytes: Uint8Array, { start, end }: Span): number {
  if (bytes[start] !== open || bytes[end - 1] !== close) return -1;
  let depth = 0;
  let rows = 0;
  for (let at = start; at < end; at += 1) {
    const mark = marks[bytes[at] ?? 0] ?? 0;
    if (mark === 0) continue;
    if (mark === markQuote) {
      at = plainEnd(bytes, at + 1);
      if (bytes[at] !== quote) at = escapedEnd(bytes, at);
      if (at < 0) return -1;
      continue;
    }
    if (mark === markOpen) {
      rows += depth === 1 ? 1 : 0;
      depth += 1;
      continue;
    }
    depth -= 1;
    if (depth <= 0) return depth === 0 && at === end - 1 ? rows : -1;
  }
  return -1;
}

const markQuote = 1;
const markOpen = 2;
const markClose = 3;
const marks = new Uint8Array(256);
marks[quote] = markQuote;
marks[open] = markOpen;
marks[openObject] = markOpen;
marks[close] = markClose;
marks[0x7d] = markClose;
