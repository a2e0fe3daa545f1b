/**
 * Lines of an HTTP/1.1 message up to an empty one, which may come in any pieces: the head of a response, or the
 * trailers behind its chunks. Knows what a byte of a line may be, and nothing of what the lines say.
 */

/** `bad`: a byte that no line may have, or an end of a line that is not CR LF · `large`: more than the limit. */
export type BlockFault = "bad" | "large";

const byteKind = { plain: 0, high: 1, cr: 2, lf: 3, bad: 4 } as const;
const cr = 0x0d;
const lf = 0x0a;

/** What each byte is. A tab stands in values; every other control character, and DEL, in nothing. */
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === cr) return byteKind.cr;
  if (byte === lf) return byteKind.lf;
  if (byte >= 0x80) return byteKind.high;
  return (byte < 0x20 && byte !== 0x09) || byte === 0x7f ? byteKind.bad : byteKind.plain;
});

const none = new Uint8Array(0);
const keptBytesMin = 1_024;
const ascii = new TextDecoder();

export class LineBlock {
  readonly #bytesMax: number;
  /** Bytes that may still come, of this block and those behind it. */
  #left = 0;
  /** What came of the block in earlier pieces. */
  #kept: Uint8Array = none;
  #keptBytes = 0;
  #lineBytes = 0;
  #behindCr = false;
  #isAscii = true;
  #text = "";

  /** `bytesMax`: of all blocks of one message together. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The lines of the block that was last read whole, each with its CR LF, as latin-1. */
  get text(): string {
    return this.#text;
  }

  /** Bytes that the block may have, where none of it came yet; 0 otherwise. */
  get room(): number {
    return this.#keptBytes === 0 ? this.#left : 0;
  }

  /** A block of so many bytes was read in another way. */
  skip(bytes: number): void {
    this.#left -= bytes;
  }

  /** Before the first block of a message. */
  begin(): void {
    this.#left = this.#bytesMax;
    this.#restart();
  }

  /**
   * Reads on at `start`. Answers the place behind the empty line, or `more` when all was taken and it has not
   * come. The bytes are not held. After a fault nothing may follow.
   */
  take(bytes: Uint8Array, start: number): number | "more" | BlockFault {
    const end = Math.min(bytes.length, start + this.#left);
    let line = this.#lineBytes;
    let behindCr = this.#behindCr;
    for (let at = start; at < end; at += 1) {
      const kind = kinds[bytes[at] ?? 0];
      if (behindCr !== (kind === byteKind.lf) || kind === byteKind.bad) return "bad";
      if (kind === byteKind.lf) {
        if (line === 0) return this.#whole(bytes, start, at + 1);
        line = 0;
        behindCr = false;
      } else if (kind === byteKind.cr) {
        behindCr = true;
      } else {
        if (kind === byteKind.high) this.#isAscii = false;
        line += 1;
      }
    }
    if (end < bytes.length) return "large";
    this.#left -= end - start;
    this.#lineBytes = line;
    this.#behindCr = behindCr;
    this.#keep(bytes, start, end);
    return "more";
  }

  /** True while what came of the block begins as `expected` does. */
  beginsLike(expected: Uint8Array): boolean {
    const length = Math.min(expected.length, this.#keptBytes);
    for (let at = 0; at < length; at += 1) if (this.#kept[at] !== expected[at]) return false;
    return true;
  }

  #whole(bytes: Uint8Array, start: number, end: number): number {
    this.#left -= end - start;
    if (this.#keptBytes === 0) {
      this.#text = this.#decoded(bytes.subarray(start, end - 2));
    } else {
      this.#keep(bytes, start, end);
      this.#text = this.#decoded(this.#kept.subarray(0, this.#keptBytes - 2));
    }
    this.#restart();
    return end;
  }

  #restart(): void {
    this.#kept = none;
    this.#keptBytes = 0;
    this.#lineBytes = 0;
    this.#behindCr = false;
    this.#isAscii = true;
  }

  #keep(bytes: Uint8Array, start: number, end: number): void {
    const wanted = this.#keptBytes + end - start;
    if (wanted > this.#kept.length) {
      // Doubled, so that a head that comes byte by byte is not copied for each of them.
      const grown = new Uint8Array(Math.max(wanted, this.#kept.length * 2, keptBytesMin));
      grown.set(this.#kept.subarray(0, this.#keptBytes));
      this.#kept = grown;
    }
    this.#kept.set(bytes.subarray(start, end), this.#keptBytes);
    this.#keptBytes = wanted;
  }

  #decoded(bytes: Uint8Array): string {
    if (this.#isAscii) return ascii.decode(bytes);
    // The decoder's "latin1" is Windows-1252, which has other characters from 0x80 to 0x9f.
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return text;
  }
}
