/**
 * The memory that one connection reads into. A short answer is copied out of it; what is longer is lent as it lies
 * there (`core/tool/socket/lent.ts`). A connection that fills it, and whose reader gives back what he got, reads more at
 * once: a reading costs some 15 us in the system and behind it whatever its size, which is two thirds of a large
 * result in pieces of 64 KB (`docs/query-cost.md`).
 */
import { copied } from "@gateway/core/tool/copied.ts";
import { lend } from "@gateway/core/tool/socket/lent.ts";

/** As much as Node reads at once. */
const leastBytes = 64 * 1024;
/** Beyond this it is no faster. */
const mostBytes = 1024 * 1024;
/** From this on it is lent; less is copied out. */
export const lentBytes: number = 32 * 1024;
/** A piece that fills less than this part of what was read into is copied out too: whoever keeps it would hold the whole. */
const lentPart = 1 / 8;
/** What was given back is kept for the next reading, up to so many. */
const sparesMax = 2;
/** So many connections of a process read more at once: a client that does not take its rows holds two or three such pieces. */
const widestMax = 16;

/** How many read more at once now. */
let wide = 0;

export class ReadBuffer {
  /** Changes with what was taken of it, and not in between: somebody may be reading into it. */
  #bytes: Buffer = Buffer.allocUnsafeSlow(leastBytes);
  /** Of the next one. */
  #size = leastBytes;
  /** That were given back, and are as large. */
  #spares: Buffer[] = [];
  #isWide = false;
  #isOver = false;

  /** What to read into next. */
  get free(): Buffer {
    return this.#bytes;
  }

  /** What was read: the first bytes of `free`. It may be kept, or given back. */
  take(count: number): Buffer {
    const bytes = this.#bytes;
    if (count >= lentBytes && count >= bytes.length * lentPart) return this.#lent(count);
    if (bytes.length !== this.#size) this.#renew(undefined);
    return copied(Buffer.allocUnsafe(count), bytes);
  }

  /** The result is over. What lies idle has no use for more than any other. */
  rest(): void {
    this.#size = leastBytes;
    this.#spares = [];
  }

  /** The connection is over. */
  close(): void {
    this.#isOver = true;
    this.rest();
    this.#countWide(false);
  }

  #lent(count: number): Buffer {
    const bytes = this.#bytes;
    const spare = this.#spares.pop();
    if (count === bytes.length && spare !== undefined) this.#widen();
    this.#renew(spare);
    const piece = bytes.subarray(0, count);
    lend(piece, () => this.#back(bytes));
    return piece;
  }

  #back(bytes: Buffer): void {
    const isWanted = bytes.length === this.#size && this.#spares.length < sparesMax;
    if (isWanted && !this.#isOver) this.#spares.push(bytes);
  }

  #renew(spare: Buffer | undefined): void {
    const size = this.#size;
    this.#bytes = spare?.length === size ? spare : Buffer.allocUnsafeSlow(size);
    this.#countWide(size > leastBytes);
  }

  #widen(): void {
    if (this.#size === mostBytes || (!this.#isWide && wide >= widestMax)) return;
    this.#size = Math.min(mostBytes, this.#size * 4);
    this.#spares = [];
  }

  #countWide(isWide: boolean): void {
    if (isWide === this.#isWide) return;
    this.#isWide = isWide;
    wide += isWide ? 1 : -1;
  }
}
