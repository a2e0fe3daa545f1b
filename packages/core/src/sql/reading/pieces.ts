/**
 * Builds a text from very many pieces and joins them a few hundred at a time: joining all of them at the end
 * would take too long in one go.
 */
export class Pieces {
  readonly #joined: string[] = [];
  #open: string[] = [];
  /** How many of the open pieces stood before the mark. */
  #mark: number | undefined;

  push(piece: string): void {
    if (this.#open.length >= openMax && this.#mark === undefined) this.#join();
    this.#open.push(piece);
  }

  get isEmpty(): boolean {
    return this.#open.length === 0 && this.#joined.length === 0;
  }

  /** The piece that came last; nothing before the first. */
  get last(): string {
    return this.#open.at(-1) ?? this.#joined.at(-1) ?? "";
  }

  get isMarked(): boolean {
    return this.#mark !== undefined;
  }

  /** Sets a mark, from which on pieces can be dropped again; or removes it. */
  mark(mayFallOut: boolean): void {
    this.#mark = mayFallOut ? this.#open.length : undefined;
  }

  /** Drops what came since the mark, which stays. */
  dropMarked(): void {
    if (this.#mark !== undefined) this.#open.length = this.#mark;
  }

  toString(): string {
    this.#join();
    return this.#joined.join("");
  }

  #join(): void {
    if (this.#open.length > 0) this.#joined.push(this.#open.join(""));
    this.#open = [];
  }
}

const openMax = 512;
