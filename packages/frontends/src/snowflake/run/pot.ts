/** Room on the disk for the rows of all results of a listener. Nobody gets more than half of it. */
export class Pot {
  readonly #bytesMax: number;
  readonly #bytes = new Map<string, number>();
  #all = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Takes room for that user; false where there is none. */
  take(user: string, bytes: number): boolean {
    const own = (this.#bytes.get(user) ?? 0) + bytes;
    if (this.#all + bytes > this.#bytesMax || own > this.#bytesMax / 2) return false;
    this.#all += bytes;
    this.#bytes.set(user, own);
    return true;
  }

  give(user: string, bytes: number): void {
    const left = (this.#bytes.get(user) ?? 0) - bytes;
    this.#all -= bytes;
    if (left > 0) this.#bytes.set(user, left);
    else this.#bytes.delete(user);
  }
}
