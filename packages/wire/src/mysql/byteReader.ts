/**
 * A cursor over one packet's payload that can not run past its end.
 *
 * Reading too far sets `failed` and returns zeros and empty views from then on. So a parser reads a whole
 * message straight through and checks once at its end. Views share the payload's memory.
 */

const nothing = new Uint8Array(0);

/** Reads little-endian numbers and length-encoded fields. */
export class ByteReader {
  readonly bytes: Uint8Array;
  /** Offset of the next byte. */
  at: number;
  /** True once a read went past the end or met a malformed length. */
  failed = false;
  readonly #view: DataView;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Bytes not read yet; 0 after a failure. */
  get remaining(): number {
    return this.failed ? 0 : this.bytes.length - this.at;
  }

  /** One byte, unsigned. */
  u8(): number {
    return this.#take(1) ? this.#view.getUint8(this.at - 1) : 0;
  }

  /** One byte, signed. */
  i8(): number {
    return this.#take(1) ? this.#view.getInt8(this.at - 1) : 0;
  }

  u16(): number {
    return this.#take(2) ? this.#view.getUint16(this.at - 2, true) : 0;
  }

  i16(): number {
    return this.#take(2) ? this.#view.getInt16(this.at - 2, true) : 0;
  }

  u24(): number {
    const low = this.u16();
    return low + this.u8() * 0x1_0000;
  }

  u32(): number {
    return this.#take(4) ? this.#view.getUint32(this.at - 4, true) : 0;
  }

  i32(): number {
    return this.#take(4) ? this.#view.getInt32(this.at - 4, true) : 0;
  }

  u64(): bigint {
    return this.#take(8) ? this.#view.getBigUint64(this.at - 8, true) : 0n;
  }

  i64(): bigint {
    return this.#take(8) ? this.#view.getBigInt64(this.at - 8, true) : 0n;
  }

  f32(): number {
    return this.#take(4) ? this.#view.getFloat32(this.at - 4, true) : 0;
  }

  f64(): number {
    return this.#take(8) ? this.#view.getFloat64(this.at - 8, true) : 0;
  }

  /**
   * A length-encoded integer. Fails on the NULL mark (0xfb), on 0xff, and on values of 2^53 and
   * more: no length or count of an honest client is that large.
   */
  lenenc(): number {
    const first = this.u8();
    if (first < 0xfb) return first;
    if (first === 0xfc) return this.u16();
    if (first === 0xfd) return this.u24();
    if (first === 0xfe) {
      const value = this.u64();
      if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
    }
    this.failed = true;
    return 0;
  }

  /** The same for what is no length or count: all 64 bits, without a sign. */
  lenencBig(): bigint {
    if (this.bytes[this.at] !== 0xfe) return BigInt(this.lenenc());
    this.u8();
    return this.u64();
  }

  /** The next `length` bytes as a view. */
  take(length: number): Uint8Array {
    return this.#take(length) ? this.bytes.subarray(this.at - length, this.at) : nothing;
  }

  /** A length-encoded string as a view of its bytes. */
  lenencBytes(): Uint8Array {
    return this.take(this.lenenc());
  }

  /** Bytes up to the next NUL, which is skipped; fails when there is none. */
  untilNul(): Uint8Array {
    const end = this.failed ? -1 : this.bytes.indexOf(0, this.at);
    if (end < 0) {
      this.failed = true;
      return nothing;
    }
    const found = this.bytes.subarray(this.at, end);
    this.at = end + 1;
    return found;
  }

  /** Bytes up to the next NUL or, without one, to the end: some clients leave the last NUL out. */
  untilNulOrEnd(): Uint8Array {
    if (this.failed) return nothing;
    return this.bytes.indexOf(0, this.at) < 0 ? this.rest() : this.untilNul();
  }

  /** Everything not read yet. */
  rest(): Uint8Array {
    return this.take(this.remaining);
  }

  #take(length: number): boolean {
    if (this.failed || length > this.bytes.length - this.at) {
      this.failed = true;
      return false;
    }
    this.at += length;
    return true;
  }
}
