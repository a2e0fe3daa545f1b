/** Bitmaps of cells: bits put one behind the other, least significant first. */

/** Bits that grow by whole runs. */
export class BitList {
  #bytes: Uint8Array;
  #length = 0;
  #zeros = 0;

  /** Room for so many bits. */
  constructor(length: number) {
    this.#bytes = new Uint8Array((length + 7) >> 3);
  }

  /** Bits that are not set. */
  get zeros(): number {
    return this.#zeros;
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Puts `count` bits that are set. */
  ones(count: number): void {
    for (let left = count; left > 0;) {
      const shift = this.#length & 7;
      const now = Math.min(8 - shift, left);
      this.#or(((1 << now) - 1) << shift);
      this.#length += now;
      left -= now;
    }
  }

  /** Puts `count` bits of another bitmap, from its bit `from` on. */
  copy(bitmap: Uint8Array, from: number, count: number): void {
    for (let done = 0; done < count;) {
      const shift = this.#length & 7;
      const now = Math.min(8 - shift, count - done);
      const at = from + done;
      const two = (bitmap[at >> 3] ?? 0) | ((bitmap[(at >> 3) + 1] ?? 0) << 8);
      const bits = (two >> (at & 7)) & ((1 << now) - 1);
      this.#or(bits << shift);
      this.#zeros += now - (ones[bits] ?? 0);
      this.#length += now;
      done += now;
    }
  }

  #or(bits: number): void {
    const at = this.#length >> 3;
    this.#bytes[at] = (this.#bytes[at] ?? 0) | bits;
  }
}

/** Set bits of each byte. */
const ones = Uint8Array.from({ length: 256 }, (_, byte) => {
  let count = 0;
  for (let left = byte; left > 0; left >>= 1) count += left & 1;
  return count;
});
