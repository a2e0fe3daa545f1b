/**
 * A text with a number in it that counts up. Joined anew for each number it would be a tree of its parts, which whoever
 * reads it makes flat; and a number in another base than ten is written by a call of the runtime.
 */
const zero = 0x30;
const nine = 0x39;
const a = 0x61;
const z = 0x7a;

export class CountedText {
  readonly #units: number[];
  readonly #from: number;
  readonly #highest: number;
  #last: number;

  /** `number` is the one before the first, in `base`, lower case. It gets longer where its digits do not suffice. */
  constructor(before: string, number: string, after: string, base: 10 | 36) {
    this.#units = Array.from(`${before}${number}${after}`, (char) => char.charCodeAt(0));
    this.#from = before.length;
    this.#last = before.length + number.length - 1;
    this.#highest = base === 10 ? nine : z;
  }

  next(): string {
    this.#count();
    return String.fromCharCode(...this.#units);
  }

  #count(): void {
    const units = this.#units;
    for (let at = this.#last; at >= this.#from; at -= 1) {
      const unit = units[at] ?? zero;
      if (unit !== this.#highest) {
        units[at] = unit === nine ? a : unit + 1;
        return;
      }
      units[at] = zero;
    }
    units.splice(this.#from, 0, zero + 1);
    this.#last += 1;
  }
}
