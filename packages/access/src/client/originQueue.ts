/**
 * A queue in which origins take turns, so that an origin with a thousand logins delays only itself.
 * Its owner limits it, by taking out the last of the longest line.
 */
export class OriginQueue<Item> {
  /** The origin whose turn is next comes first. No list is empty. */
  readonly #lines = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(origin: string, item: Item): void {
    const line = this.#lines.get(origin);
    if (line === undefined) this.#lines.set(origin, [item]);
    else line.push(item);
    this.#size += 1;
  }

  /** The next in turn; its origin goes to the end. */
  take(): Item | undefined {
    const next = this.#lines.entries().next();
    if (next.done === true) return undefined;
    const [origin, line] = next.value;
    const item = line.shift();
    this.#lines.delete(origin);
    if (line.length > 0) this.#lines.set(origin, line);
    this.#size -= 1;
    return item;
  }

  /** Takes out the last of the longest line; of equally long ones, the one whose turn is furthest away. */
  takeLast(): Item | undefined {
    let longest: readonly [string, Item[]] | undefined;
    for (const entry of this.#lines) {
      if (entry[1].length >= (longest?.[1].length ?? 0)) longest = entry;
    }
    return longest && this.#takeOut(longest, longest[1].length - 1);
  }

  /** Takes out an item that stops waiting by itself. */
  remove(origin: string, item: Item): void {
    const line = this.#lines.get(origin);
    const index = line?.indexOf(item) ?? -1;
    if (line !== undefined && index >= 0) this.#takeOut([origin, line], index);
  }

  #takeOut([origin, line]: readonly [string, Item[]], index: number): Item | undefined {
    const [item] = line.splice(index, 1);
    if (line.length === 0) this.#lines.delete(origin);
    this.#size -= 1;
    return item;
  }
}
