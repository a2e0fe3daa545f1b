/** A bounded line in which users take turns: who sent a hundred texts waits behind whoever sent one. */
export class Turns<Entry> {
  readonly #lines = new Map<string, Entry[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(user: string, entry: Entry): void {
    const line = this.#lines.get(user);
    if (line === undefined) this.#lines.set(user, [entry]);
    else line.push(entry);
    this.#size += 1;
  }

  /** The next one; its user goes to the end. */
  take(): Entry | undefined {
    for (const [user, line] of this.#lines) {
      this.#lines.delete(user);
      const entry = line.shift();
      if (line.length > 0) this.#lines.set(user, line);
      if (entry === undefined) continue;
      this.#size -= 1;
      return entry;
    }
    return undefined;
  }
}
