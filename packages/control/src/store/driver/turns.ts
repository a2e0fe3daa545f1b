/** A line before something that only so many may use at a time. First come, first served; the line has an end. */

/** Statements that may wait at once; beyond it callers are told so instead of piling up. */
const waitingMax = 10_000;

export class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** A place is free, so nobody waits for one. */
  get idle(): boolean {
    return this.#free > 0;
  }

  /** Waits for a turn; undefined when too many wait already. Disposing gives it to the next. */
  take(): Promise<Disposable> | undefined {
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve(this.#turn());
    }
    if (this.#waiting.length >= waitingMax) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(() => resolve(this.#turn()));
    });
  }

  #turn(): Disposable {
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (!held) return;
        held = false;
        const next = this.#waiting.shift();
        if (next === undefined) this.#free += 1;
        else next();
      },
    };
  }
}
