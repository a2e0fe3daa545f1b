/** What tests draw by chance, so that a seed gives the same again. */

/** A stream of numbers below 1 that a seed decides (mulberry32). */
export function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Draws from such a stream. */
export class Draw {
  readonly #chance: () => number;

  constructor(chance: () => number) {
    this.#chance = chance;
  }

  below(end: number): number {
    return Math.floor(this.#chance() * end);
  }

  one<T>(things: readonly T[]): T {
    const thing = things[this.below(things.length)];
    if (thing === undefined) throw new Error("nothing to choose from");
    return thing;
  }

  /** Between one and `most` of what `make` makes. */
  times<T>(most: number, make: () => T): T[] {
    return Array.from({ length: 1 + this.below(most) }, make);
  }

  some<T>(things: readonly T[], most: number): readonly T[] {
    return this.times(most, () => this.one(things));
  }
}
