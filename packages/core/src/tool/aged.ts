/**
 * A map that knows its oldest entry at once.
 *
 * A plain `Map` does not: to find its first entry it walks over everything that was deleted before it, which
 * is thousands of empty entries when entries come and go with every query.
 */
interface Cell<V> {
  value: V | undefined;
}

export class Aged<K, V> {
  /** In cells that are emptied when an entry goes (`members.ts` says why). */
  readonly #entries = new Map<K, Cell<V>>();
  /** Every entry that it has passed is deleted, except `#oldest`. */
  #walk: MapIterator<[K, Cell<V>]> | undefined;
  #oldest: readonly [K, V] | undefined;

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Puts it behind all others, also when it was there before. */
  put(key: K, value: V): void {
    this.delete(key);
    this.#entries.set(key, { value });
  }

  /** The same; above `max` entries the oldest make room. */
  putWithin(max: number, key: K, value: V): void {
    this.put(key, value);
    while (this.size > max && this.oldest !== undefined) this.delete(this.oldest[0]);
  }

  delete(key: K): void {
    const cell = this.#entries.get(key);
    if (cell === undefined) return;
    cell.value = undefined;
    this.#entries.delete(key);
    if (this.#oldest?.[0] === key) this.#oldest = undefined;
  }

  clear(): void {
    this.#entries.clear();
    this.#walk = undefined;
    this.#oldest = undefined;
  }

  /** The entry that was put longest ago. */
  get oldest(): readonly [key: K, value: V] | undefined {
    if (this.#entries.size === 0) return undefined;
    this.#oldest ??= this.#next() ?? this.#first();
    return this.#oldest;
  }

  /** All that are here now. */
  values(): V[] {
    const values: V[] = [];
    for (const { value } of this.#entries.values()) if (value !== undefined) values.push(value);
    return values;
  }

  #first(): readonly [K, V] | undefined {
    this.#walk = this.#entries.entries();
    return this.#next();
  }

  #next(): readonly [K, V] | undefined {
    const step = this.#walk?.next();
    if (step === undefined || step.done === true) return undefined;
    const [key, { value }] = step.value;
    return value === undefined ? undefined : [key, value];
  }
}
