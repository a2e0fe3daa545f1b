/** Buffers of ours that grow while a batch is gathered and are used again for the next one. */
import { addressOf, bytesAt, copy, countIn, type Address } from "./native.ts";

const bytesFirst = 4096;

/** Bytes in order of arrival. */
export class ByteBuffer {
  #bytes = new Uint8Array(bytesFirst);
  #address = addressOf(this.#bytes.buffer);
  length = 0;

  /** Makes room for `count` more and answers the buffer to write into from `length` on. */
  room(count: number): Uint8Array {
    const needed = this.length + count;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, this.length));
      this.#bytes = grown;
      this.#address = addressOf(grown.buffer);
    }
    return this.#bytes;
  }

  /** Appends native memory. */
  append(from: Address, count: number): void {
    this.room(count);
    copy(this.#address + this.length, from, count);
    this.length += count;
  }

  /** What is in it; a view that the next write may change. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  reset(): void {
    this.length = 0;
  }
}

/** Where each row's bytes or items end, beginning at 0: `rows + 1` numbers of 32 bits. */
export class OffsetBuffer {
  #offsets = new Int32Array(bytesFirst / 4);
  #address = addressOf(this.#offsets.buffer);
  rows = 0;

  /** The last offset. */
  get end(): number {
    return this.#offsets[this.rows] ?? 0;
  }

  /** Takes `count + 1` native offsets, shifted so that they continue ours, and answers the first and the last as they arrived. */
  append(from: Address, count: number, offsetBytes: 4 | 8): readonly [first: number, last: number] {
    if (count === 0) return [0, 0];
    const start = this.rows;
    const end = this.end;
    this.#room(count + 1);
    const offsets = this.#offsets;
    if (offsetBytes === 8) this.#narrow(from, count);
    else copy(this.#address + start * 4, from, (count + 1) * 4);
    const first = offsets[start] ?? 0;
    const last = offsets[start + count] ?? 0;
    if (end + last - first > offsetMax)
      throw new RangeError("a batch of more than 2 GiB in one column");
    const shift = end - first;
    if (shift !== 0) {
      for (let index = start; index <= start + count; index += 1) {
        offsets[index] = (offsets[index] ?? 0) + shift;
      }
    }
    this.rows = start + count;
    return [first, last];
  }

  /** Appends one row that ends at `end`. */
  push(end: number): void {
    if (end > offsetMax) throw new RangeError("a batch of more than 2 GiB in one column");
    this.#room(2);
    this.rows += 1;
    this.#offsets[this.rows] = end;
  }

  /** The offsets as bytes; a view that the next write may change. */
  view(): Uint8Array {
    return new Uint8Array(this.#offsets.buffer, 0, (this.rows + 1) * 4);
  }

  reset(): void {
    this.rows = 0;
    this.#offsets[0] = 0;
  }

  /** Makes room for `count` more behind the rows so far. */
  #room(count: number): void {
    const needed = this.rows + count + 1;
    if (needed <= this.#offsets.length) return;
    const grown = new Int32Array(Math.max(needed, this.#offsets.length * 2));
    grown.set(this.#offsets.subarray(0, this.rows + 1));
    this.#offsets = grown;
    this.#address = addressOf(grown.buffer);
  }

  /** Offsets of 64 bits: a column that needs them is refused. */
  #narrow(from: Address, count: number): void {
    const words = new DataView(bytesAt(from, (count + 1) * 8).buffer);
    if (countIn(words, count * 8) > offsetMax) {
      throw new RangeError("a batch of more than 2 GiB in one column");
    }
    for (let index = 0; index <= count; index += 1) {
      this.#offsets[this.rows + index] = words.getInt32(index * 8, true);
    }
  }
}

/** Offsets are signed 32-bit numbers. */
const offsetMax = 0x7fff_ffff;
