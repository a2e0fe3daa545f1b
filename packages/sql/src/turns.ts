/** Waiting calls in which users take turns, so that one user's thousand do not go before another's one. */
export class Turns<Item> {
  /** In the order of their turns; a user without an item is not here. */
  readonly #users = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  put(user: string, item: Item): void {
    const items = this.#users.get(user);
    if (items === undefined) this.#users.set(user, [item]);
    else items.push(item);
    this.#size += 1;
  }

  /** The first item of the user whose turn it is. */
  take(): Item | undefined {
    const [next] = this.#users;
    if (next === undefined) return undefined;
    const [user, items] = next;
    const item = items.shift();
    this.#users.delete(user);
    if (items.length > 0) this.#users.set(user, items);
    this.#size -= 1;
    return item;
  }

  /** Takes away whatever `gone` holds for. */
  drop(gone: (item: Item) => boolean): readonly Item[] {
    const dropped: Item[] = [];
    for (const [user, items] of this.#users) {
      const kept = items.filter((item) => {
        if (!gone(item)) return true;
        dropped.push(item);
        return false;
      });
      if (kept.length === 0) this.#users.delete(user);
      else this.#users.set(user, kept);
    }
    this.#size -= dropped.length;
    return dropped;
  }
}
