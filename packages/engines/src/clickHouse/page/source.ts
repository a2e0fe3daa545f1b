/** Texts of a column whose lengths were read as far as the bytes went. */
export interface TextProgress {
  /** Where the column's texts begin. */
  readonly begin: number;
  /** Where the next one begins, and which it is. */
  readonly at: number;
  readonly row: number;
  /** Bytes of those before it, without their lengths. */
  readonly end: number;
  /** Counted from `begin`. */
  readonly starts: Int32Array;
  readonly offsets: Int32Array;
}

/** Bytes of a block as far as they arrived. A read beyond them answers undefined and notes how many are missing. */
export class Source {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  at = 0;
  /** Bytes that the read which failed would have needed beyond what is there; a lower bound. */
  missing = 0;
  /** What the bytes can not be; set once, and every later read answers undefined. */
  broken: string | undefined;
  /** What an earlier reading of the same bytes found out, or this one. */
  texts: TextProgress | undefined;

  constructor(bytes: Uint8Array, texts?: TextProgress) {
    this.bytes = bytes;
    this.texts = texts;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  /** Marks the bytes as no block; answers undefined, for the caller to hand on. */
  refuse(reason: string): undefined {
    this.broken ??= reason;
    return undefined;
  }

  /** Moves past `count` bytes and answers where they began. */
  skip(count: number): number | undefined {
    if (count > this.left) {
      this.missing = count - this.left;
      return undefined;
    }
    const start = this.at;
    this.at += count;
    return start;
  }

  /** A copy, so that vectors are aligned and do not hold the whole block. */
  copy(count: number): Uint8Array | undefined {
    const start = this.skip(count);
    return start === undefined ? undefined : this.bytes.slice(start, start + count);
  }

  /** A length or count: at most 2^53. */
  varint(): number | undefined {
    let value = 0;
    for (let shift = 1, count = 0; count < 8; count += 1, shift *= 128) {
      const byte = this.bytes[this.at + count];
      if (byte === undefined) {
        this.missing = 1;
        return undefined;
      }
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) {
        this.at += count + 1;
        return value;
      }
    }
    return this.refuse("a length that is none");
  }

  /** A count in 64 bits. */
  count64(): number | undefined {
    const start = this.skip(8);
    if (start === undefined) return undefined;
    const low = this.#view.getUint32(start, true);
    const high = this.#view.getUint32(start + 4, true);
    return high > 0x1f_ffff ? this.refuse("a count that is none") : high * 0x1_0000_0000 + low;
  }

  viewOf(start: number, count: number): DataView {
    return new DataView(this.bytes.buffer, this.bytes.byteOffset + start, count);
  }
}
