/**
 * The last few of things that come again and again, found by comparing: for what is made from many fields, where a
 * key of all of them would cost as much as the thing.
 */

/** Knows what it was made from. */
export interface Recognised<Source> {
  /** Whether it would be made alike from `source`. */
  suits(source: Source): boolean;
}

export class Recent<Source, Made extends Recognised<Source>> {
  readonly #max: number;
  readonly #made: Made[] = [];
  /** Where the one stands that was found last, and where the next new one will. */
  #last = 0;
  #next = 0;

  /** Remembers `max` things; a new one takes the place of that which came first. */
  constructor(max: number) {
    this.#max = max;
  }

  find(source: Source): Made | undefined {
    const last = this.#made[this.#last];
    if (last?.suits(source) === true) return last;
    for (let at = 0; at < this.#made.length; at += 1) {
      const made = this.#made[at];
      if (made?.suits(source) !== true) continue;
      this.#last = at;
      return made;
    }
    return undefined;
  }

  keep(made: Made): void {
    this.#made[this.#next] = made;
    this.#last = this.#next;
    this.#next = (this.#next + 1) % this.#max;
  }
}
