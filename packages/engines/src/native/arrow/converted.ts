/**
 * Sinks that make new values out of the driver's: other widths, dictionaries looked up, unions as
 * structs, and the types that are shown as text. The rules of conversion are in widen.ts and textual.ts.
 */
import { bitAt } from "../memory/bits.ts";
import { childAt, readArray, type ArrowArray } from "./cdata.ts";
import { ByteBuffer, OffsetBuffer } from "../memory/grow.ts";
import type { Textual, Widening } from "./layout.ts";
import { bytesAt, countIn, type Address } from "../memory/native.ts";
import { planBytes, Validity, type BodyPlan, type Sink } from "./sink.ts";
import { textOf } from "./textual.ts";
import { sourceWidths, widen } from "./widen.ts";

const encoder = new TextEncoder();

export class WidenedSink implements Sink {
  readonly #from: Widening;
  readonly #width: number;
  readonly #validity = new Validity();
  readonly #values = new ByteBuffer();

  constructor(from: Widening, width: number) {
    this.#from = from;
    this.#width = width;
  }

  add(address: Address, start: number, count: number): void {
    const array = readArray(address);
    this.#validity.add(array, start, count);
    const sourceWidth = sourceWidths[this.#from];
    const from = (array.buffers[1] ?? 0) + (array.offset + start) * sourceWidth;
    const source = new DataView(bytesAt(from, count * sourceWidth).buffer);
    const bytes = this.#values.room(count * this.#width);
    const target = new DataView(bytes.buffer, bytes.byteOffset + this.#values.length);
    for (let row = 0; row < count; row += 1) {
      widen(this.#from, { source, from: row * sourceWidth, target, at: row * this.#width });
    }
    this.#values.length += count * this.#width;
  }

  plan(body: BodyPlan): void {
    this.#validity.plan(body);
    planBytes(body, this.#values.view());
  }

  reset(): void {
    this.#validity.reset();
    this.#values.reset();
  }
}

/** Bytes made here, one cell after the other. */
class CellBytes {
  readonly offsets = new OffsetBuffer();
  readonly bytes = new ByteBuffer();

  push(cell: Uint8Array): void {
    this.bytes.room(cell.length).set(cell, this.bytes.length);
    this.bytes.length += cell.length;
    this.offsets.push(this.bytes.length);
  }

  plan(body: BodyPlan): void {
    planBytes(body, this.offsets.view());
    planBytes(body, this.bytes.view());
  }

  reset(): void {
    this.offsets.reset();
    this.bytes.reset();
  }
}

const noBytes = new Uint8Array(0);

/** Types without a neutral one of their own, by their text. They are rare, so a cell may cost a string. */
export class TextualSink implements Sink {
  readonly #rule: Textual;
  readonly #width: number | undefined;
  readonly #validity = new Validity();
  readonly #cells = new CellBytes();

  constructor(rule: Textual, width: number | undefined) {
    this.#rule = rule;
    this.#width = width;
  }

  add(address: Address, start: number, count: number): void {
    const array = readArray(address);
    this.#validity.add(array, start, count);
    for (let row = 0; row < count; row += 1) {
      const index = array.offset + start + row;
      // The bytes behind a NULL are whatever the driver left there.
      const cell = isPresentAt(array, index) ? this.#cell(array, index) : undefined;
      this.#cells.push(cell === undefined ? noBytes : encoder.encode(textOf(this.#rule, cell)));
    }
  }

  plan(body: BodyPlan): void {
    this.#validity.plan(body);
    this.#cells.plan(body);
  }

  reset(): void {
    this.#validity.reset();
    this.#cells.reset();
  }

  #cell(array: ArrowArray, index: number): Uint8Array {
    const [, second = 0, third = 0] = array.buffers;
    if (this.#width !== undefined) return bytesAt(second + index * this.#width, this.#width);
    const offsets = new DataView(bytesAt(second + index * 4, 8).buffer);
    const start = offsets.getInt32(0, true);
    return bytesAt(third + start, offsets.getInt32(4, true) - start);
  }
}

function isPresentAt(array: ArrowArray, index: number): boolean {
  const bitmap = array.buffers[0] ?? 0;
  if (bitmap === 0 || array.nullCount === 0) return true;
  return bitAt(bytesAt(bitmap + (index >> 3), 1), index & 7);
}

/**
 * A sparse union: the member's name, then every member, of which the others are NULL.
 *
 * Arrow's unions have no bitmap, so a NULL arrives as the first member with nothing in it, and that is
 * taken for NULL: a union that was made of that member and a NULL can not be told from it.
 */
export class UnionSink implements Sink {
  readonly #first: number | undefined;
  readonly #tags: ReadonlyMap<number, Uint8Array>;
  readonly #members: readonly Sink[];
  readonly #validity = new Validity();
  readonly #tagValidity = new Validity();
  readonly #tagCells = new CellBytes();

  constructor(tags: ReadonlyMap<number, string>, members: readonly Sink[]) {
    this.#first = [...tags.keys()][0];
    this.#tags = new Map([...tags].map(([id, name]) => [id, encoder.encode(name)]));
    this.#members = members;
  }

  add(address: Address, start: number, count: number): void {
    const array = readArray(address);
    // A union has no bitmap of its own: its first buffer holds the ids.
    const from = array.offset + start;
    const ids = new Int8Array(bytesAt((array.buffers[0] ?? 0) + from, count).buffer);
    const first =
      this.#members.length === 0 ? undefined : presentIn(childAt(array, 0), from, count);
    for (const [row, id] of ids.entries()) {
      const present = id !== this.#first || first?.(row) !== false;
      this.#validity.push(present);
      this.#tagValidity.push(present);
      this.#tagCells.push(present ? (this.#tags.get(id) ?? noBytes) : noBytes);
    }
    for (const [index, member] of this.#members.entries()) {
      member.add(childAt(array, index), from, count);
    }
  }

  plan(body: BodyPlan): void {
    this.#validity.plan(body);
    this.#tagValidity.plan(body);
    this.#tagCells.plan(body);
    for (const member of this.#members) member.plan(body);
  }

  reset(): void {
    this.#validity.reset();
    this.#tagValidity.reset();
    this.#tagCells.reset();
    for (const member of this.#members) member.reset();
  }
}

/** Says which of `count` rows from `start` on are there; undefined where all are. */
function presentIn(
  address: Address,
  start: number,
  count: number,
): ((row: number) => boolean) | undefined {
  const { buffers, nullCount, offset } = readArray(address);
  const bitmap = buffers[0] ?? 0;
  if (bitmap === 0 || nullCount === 0) return undefined;
  const bits = bytesAt(bitmap, (offset + start + count + 7) >> 3);
  return (row) => bitAt(bits, offset + start + row);
}

/** Indices into a list of values, each replaced by its value. `width` is undefined for text and binary. */
export class DictionarySink implements Sink {
  readonly #indexBytes: 1 | 2 | 4 | 8;
  readonly #indexSigned: boolean;
  readonly #width: number | undefined;
  readonly #validity = new Validity();
  readonly #offsets = new OffsetBuffer();
  readonly #values = new ByteBuffer();

  constructor(indexBytes: 1 | 2 | 4 | 8, indexSigned: boolean, width: number | undefined) {
    this.#indexBytes = indexBytes;
    this.#indexSigned = indexSigned;
    this.#width = width;
  }

  add(address: Address, start: number, count: number): void {
    const array = readArray(address);
    const { nullCount } = array;
    const bitmap = array.buffers[0] ?? 0;
    const from = array.offset + start;
    const indices = bytesAt(
      (array.buffers[1] ?? 0) + from * this.#indexBytes,
      count * this.#indexBytes,
    );
    const words = new DataView(indices.buffer);
    const bits =
      bitmap === 0 || nullCount === 0 ? undefined : bytesAt(bitmap, (from + count + 7) >> 3);
    const dictionary = dictionaryOf(readArray(array.dictionary), this.#width);
    for (let row = 0; row < count; row += 1) {
      const index = this.#index(words, row);
      // A value of the dictionary may be NULL itself.
      const present = (bits === undefined || bitAt(bits, from + row)) && dictionary.present(index);
      this.#validity.push(present);
      if (present) this.#take(dictionary, index);
      else if (this.#width !== undefined) this.#skip(this.#width);
      if (this.#width === undefined) this.#offsets.push(this.#values.length);
    }
  }

  plan(body: BodyPlan): void {
    this.#validity.plan(body);
    if (this.#width === undefined) planBytes(body, this.#offsets.view());
    planBytes(body, this.#values.view());
  }

  reset(): void {
    this.#validity.reset();
    this.#offsets.reset();
    this.#values.reset();
  }

  #index(words: DataView, row: number): number {
    switch (this.#indexBytes) {
      case 1:
        return this.#indexSigned ? words.getInt8(row) : words.getUint8(row);
      case 2:
        return this.#indexSigned ? words.getInt16(row * 2, true) : words.getUint16(row * 2, true);
      case 4:
        return this.#indexSigned ? words.getInt32(row * 4, true) : words.getUint32(row * 4, true);
      case 8:
        return countIn(words, row * 8);
    }
  }

  #take({ bytes, start, end }: Dictionary, index: number): void {
    const from = start(index);
    const length = end(index) - from;
    const target = this.#values.room(length);
    const at = this.#values.length;
    // A loop, because a view per cell would cost more than these few bytes.
    for (let offset = 0; offset < length; offset += 1)
      target[at + offset] = bytes[from + offset] ?? 0;
    this.#values.length += length;
  }

  #skip(width: number): void {
    this.#values.room(width).fill(0, this.#values.length, this.#values.length + width);
    this.#values.length += width;
  }
}

interface Dictionary {
  readonly bytes: Uint8Array;
  readonly start: (index: number) => number;
  readonly end: (index: number) => number;
  readonly present: (index: number) => boolean;
}

/** Copies a dictionary out of native memory. Drivers send it with every array, so it is never kept. */
function dictionaryOf(values: ArrowArray, width: number | undefined): Dictionary {
  const { length, offset, nullCount } = values;
  const [bitmap = 0, second = 0, third = 0] = values.buffers;
  const bits =
    bitmap === 0 || nullCount === 0 ? undefined : bytesAt(bitmap, (offset + length + 7) >> 3);
  const present = (index: number): boolean =>
    index >= 0 && index < length && (bits === undefined || bitAt(bits, offset + index));
  if (width !== undefined) {
    const bytes = bytesAt(second + offset * width, length * width);
    return { bytes, start: (index) => index * width, end: (index) => (index + 1) * width, present };
  }
  const offsets = new Int32Array(bytesAt(second + offset * 4, (length + 1) * 4).buffer);
  const first = offsets[0] ?? 0;
  const bytes = bytesAt(third + first, (offsets[length] ?? first) - first);
  return {
    bytes,
    start: (index) => (offsets[index] ?? first) - first,
    end: (index) => (offsets[index + 1] ?? first) - first,
    present,
  };
}
