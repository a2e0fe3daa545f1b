/**
 * How long the directory took lately to compare passwords of entries that exist. A name of nobody is
 * given the time of one of them, drawn by chance, so that the answers of both are spread alike.
 */
export class BindTimes {
  readonly #ms: number[] = [];
  #next = 0;

  add(ms: number): void {
    this.#ms[this.#next] = ms;
    this.#next = (this.#next + 1) % keptMax;
  }

  /** Milliseconds; `chance` is in [0, 1). Nothing before the first one is known. */
  draw(chance: number): number {
    return this.#ms[Math.floor(chance * this.#ms.length)] ?? 0;
  }
}

const keptMax = 64;
