/**
 * Finds the rows and cells of a page with vectors of sixteen bytes. Plain code is ten times slower: it
 * judges every page that the vectors can not read, and does all the work where the processor has no vectors.
 */
import type { Span } from "@gateway/wire/trino/clientPage.ts";
import {
  countRows as countPlainly,
  readCells as readPlainly,
  type Cells,
} from "@gateway/wire/trino/clientRows.ts";
import { unread } from "./pageBlock.ts";
import { chunkBytes, escapedAt, lengthsAt, rowKernel, startsAt } from "./rowKernel.ts";

const open = 0x5b;
const close = 0x5d;
/** Cells that a page is expected to hold when nothing is known. */
const cellsAtFirst = 4_096;
/** For so few bytes of rows plain code is faster than handing over a chunk. */
const plainMax = 64;

interface Shared<T> {
  value: T;
}

/** What the module exports. */
interface Kernel {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly inString: Shared<bigint>;
  readonly escapeCarry: Shared<bigint>;
  readonly depth: Shared<number>;
  readonly rows: Shared<number>;
  readonly cells: Shared<number>;
  readonly escapes: Shared<number>;
  readonly consumed: Shared<number>;
  readonly done: Shared<number>;
  countRows(size: number): number;
  readCells(size: number, columns: number, base: number): number;
}

/** WebAssembly, as far as this file uses it. Node may run without it, so nothing takes it for granted. */
declare const WebAssembly:
  | {
      readonly Module: new (bytes: Uint8Array) => object;
      readonly Instance: new (module: object) => { readonly exports: unknown };
    }
  | undefined;

/** Everything that reading a page needs. It is used within one turn of the loop only, so one serves all. */
class Scanner {
  readonly #kernel: Kernel;
  readonly #chunk: Uint8Array;
  readonly #starts: Int32Array;
  readonly #lengths: Int32Array;
  readonly #escaped: Int32Array;

  constructor(kernel: Kernel) {
    const { buffer } = kernel.memory;
    this.#kernel = kernel;
    this.#chunk = new Uint8Array(buffer, 0, chunkBytes);
    this.#starts = new Int32Array(buffer, startsAt, (lengthsAt - startsAt) / 4);
    this.#lengths = new Int32Array(buffer, lengthsAt, (escapedAt - lengthsAt) / 4);
    this.#escaped = new Int32Array(buffer, escapedAt);
  }

  countRows(bytes: Uint8Array, { start, end }: Span): number {
    if (bytes[start] !== open || bytes[end - 1] !== close) return unread;
    const kernel = this.#kernel;
    kernel.inString.value = 0n;
    kernel.escapeCarry.value = 0n;
    kernel.depth.value = 0;
    kernel.rows.value = 0;
    for (let at = start; at < end; at += chunkBytes) {
      const size = this.#take(bytes, at, end);
      const ended = kernel.countRows(size);
      if (ended === 0) continue;
      return at + ended === end ? kernel.rows.value : unread;
    }
    return unread;
  }

  /** Undefined for a page that plain code has to judge: damaged, nested, or with a row longer than a chunk. */
  readCells(
    bytes: Uint8Array,
    { start, end }: Span,
    columns: number,
    expected: number,
  ): Cells | undefined {
    if (bytes[start] !== open) return undefined;
    const kernel = this.#kernel;
    const found = new CellTable(Math.min(expected, end - start));
    for (let at = start + 1; at < end; at += kernel.consumed.value) {
      const size = this.#take(bytes, at, end);
      const rows = kernel.readCells(size, columns, at);
      if (rows < 0) return undefined;
      const count = kernel.cells.value;
      const escaped = this.#escaped.subarray(0, kernel.escapes.value);
      found.add(rows, this.#starts.subarray(0, count), this.#lengths.subarray(0, count), escaped);
      if (kernel.done.value === 1) {
        return at + kernel.consumed.value === end ? found.cells() : undefined;
      }
      if (rows === 0) return undefined;
    }
    return undefined;
  }

  #take(bytes: Uint8Array, at: number, end: number): number {
    const size = Math.min(chunkBytes, end - at);
    this.#chunk.set(bytes.subarray(at, at + size));
    return size;
  }
}

/** Cells of all chunks. */
class CellTable {
  #rows = 0;
  #used = 0;
  #starts: Int32Array;
  #lengths: Int32Array;
  readonly #escaped: number[] = [];

  constructor(capacity: number) {
    this.#starts = new Int32Array(capacity);
    this.#lengths = new Int32Array(capacity);
  }

  add(rows: number, starts: Int32Array, lengths: Int32Array, escaped: Int32Array): void {
    const used = this.#used + starts.length;
    if (used > this.#starts.length) this.#grow(Math.max(used, this.#starts.length * 2));
    this.#starts.set(starts, this.#used);
    this.#lengths.set(lengths, this.#used);
    for (const cell of escaped) this.#escaped.push(this.#used + cell);
    this.#used = used;
    this.#rows += rows;
  }

  cells(): Cells {
    return {
      rows: this.#rows,
      starts: this.#starts.subarray(0, this.#used),
      lengths: this.#lengths.subarray(0, this.#used),
      escaped: this.#escaped,
    };
  }

  #grow(capacity: number): void {
    const starts = new Int32Array(capacity);
    const lengths = new Int32Array(capacity);
    starts.set(this.#starts.subarray(0, this.#used));
    lengths.set(this.#lengths.subarray(0, this.#used));
    this.#starts = starts;
    this.#lengths = lengths;
  }
}

/** Undefined where the processor, or the way Node was started, has no vectors. */
function scannerOf(): Scanner | undefined {
  if (typeof WebAssembly === "undefined") return undefined;
  try {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(rowKernel()));
    return new Scanner(exports as Kernel);
  } catch {
    return undefined;
  }
}

const scanner = scannerOf();

/** As `countRows` of the wire package, which judges what is not found here. */
export function countRows(bytes: Uint8Array, span: Span): number {
  const small = span.end - span.start <= plainMax;
  const rows = small ? unread : (scanner?.countRows(bytes, span) ?? unread);
  return rows === unread ? countPlainly(bytes, span) : rows;
}

/** As `readCells` of the wire package, which judges what is not found here. */
export function readCells(
  bytes: Uint8Array,
  span: Span,
  columns: number,
  expected = cellsAtFirst,
): Cells | "nested" | undefined {
  const small = span.end - span.start <= plainMax;
  const found = small ? undefined : scanner?.readCells(bytes, span, columns, expected);
  return found ?? readPlainly(bytes, span, columns, expected);
}
