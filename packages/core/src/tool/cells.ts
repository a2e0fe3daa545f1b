/**
 * A map whose entries come and go with every query (`members.ts` says what a plain one does then). Its values lie in cells
 * that are emptied when an entry goes: what the collector keeps for too long is a cell and its key.
 */

interface Cell<Value> {
  value: Value | undefined;
}

export class Cells<Key, Value> {
  readonly #cells = new Map<Key, Cell<Value>>();

  get size(): number {
    return this.#cells.size;
  }

  get(key: Key): Value | undefined {
    return this.#cells.get(key)?.value;
  }

  set(key: Key, value: Value): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) this.#cells.set(key, { value });
    else cell.value = value;
  }

  delete(key: Key): boolean {
    const cell = this.#cells.get(key);
    if (cell === undefined) return false;
    cell.value = undefined;
    return this.#cells.delete(key);
  }

  clear(): void {
    for (const cell of this.#cells.values()) cell.value = undefined;
    this.#cells.clear();
  }

  /** All entries that are here now. */
  entries(): [Key, Value][] {
    const entries: [Key, Value][] = [];
    for (const [key, { value }] of this.#cells) if (value !== undefined) entries.push([key, value]);
    return entries;
  }

  values(): Value[] {
    return this.entries().map(([, value]) => value);
  }
}
