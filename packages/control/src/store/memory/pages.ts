/**
 * Texts that are kept for long, outside the heap: one after another in large pieces of memory. In the heap each of
 * them would be copied twice by the collector before it lies still. A page goes when nobody points at it any more.
 */

const pageBytes = 256 * 1024;
/** Of UTF-8, for one UTF-16 unit. */
const unitBytesMax = 3;

export class Pages {
  #page: Buffer = Buffer.alloc(0);
  #used = 0;

  /** Where the last text lies. */
  get page(): Buffer {
    return this.#page;
  }

  /** Where it ends. */
  get end(): number {
    return this.#used;
  }

  /** Puts the text behind the others, or on a new page, and answers where it begins. It is Unicode text. */
  put(text: string): number {
    if (text.length * unitBytesMax > this.#page.length - this.#used) this.#makeRoom(text);
    const from = this.#used;
    this.#used += this.#page.write(text, from, "utf8");
    return from;
  }

  /** The shortest bound is not enough: counted, because most texts have a byte for each unit. */
  #makeRoom(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (bytes <= this.#page.length - this.#used) return;
    this.#page = Buffer.allocUnsafeSlow(Math.max(pageBytes, bytes));
    this.#used = 0;
  }
}
