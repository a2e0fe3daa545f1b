/** One growing buffer that the rows of an answer are written into. */

const capacityMin = 1024;

export class Output {
  bytes: Uint8Array = new Uint8Array(0);
  length = 0;

  /** Makes room for so many bytes more. */
  reserve(room: number): void {
    const wanted = this.length + room;
    if (wanted <= this.bytes.length) return;
    const bytes = Buffer.allocUnsafeSlow(Math.max(wanted, this.bytes.length * 2, capacityMin));
    bytes.set(this.bytes.subarray(0, this.length));
    this.bytes = bytes;
  }

  put(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  text(text: string): void {
    this.put(Buffer.from(text, "utf8"));
  }

  /** A length as ClickHouse writes it: seven bits a byte, the lowest first. */
  varint(value: number): void {
    this.reserve(varintBytesMax);
    this.length = putVarint(this.bytes, this.length, value);
  }

  /** Text with its length before it. */
  string(text: string): void {
    const bytes = Buffer.from(text, "utf8");
    this.varint(bytes.length);
    this.put(bytes);
  }

  /** What was written, which is the caller's from now on. */
  take(): Uint8Array {
    const taken = this.bytes.subarray(0, this.length);
    this.bytes = new Uint8Array(0);
    this.length = 0;
    return taken;
  }
}

/** Bytes of the longest length. */
export const varintBytesMax = 8;

/** Writes a length of less than 2^53; answers the offset behind it. */
export function putVarint(out: Uint8Array, start: number, value: number): number {
  let at = start;
  let left = value;
  while (left >= 0x80) {
    out[at++] = (left % 0x80) | 0x80;
    left = Math.floor(left / 0x80);
  }
  out[at++] = left;
  return at;
}
