/** A request that waits for a statement. Leaving without an answer cancels the query, unless another one waits too. */

/** What is held: told once that a holder left, and whether its client did so without an answer. */
export interface Held {
  released(hungUp: boolean): void;
}

/** One per request. Only the first of its two calls counts. */
export class Holder {
  #held: Held | undefined;

  constructor(held: Held) {
    this.#held = held;
  }

  answered(): void {
    this.#release(false);
  }

  hungUp(): void {
    this.#release(true);
  }

  #release(hungUp: boolean): void {
    const held = this.#held;
    this.#held = undefined;
    held?.released(hungUp);
  }
}
