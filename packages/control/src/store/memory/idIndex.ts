/**
 * Which slot has an id: a table of open addressing over numbers, outside the heap. A map of a hundred thousand texts
 * would be walked by every collection of the whole heap, and each of its texts copied twice before it lies still.
 */

const sizeMin = 1_024;

/** What the index asks of whoever holds the ids. */
export interface Slots {
  /** The hash that the slot was added with. */
  hashAt(slot: number): number;
  hasId(slot: number, id: string): boolean;
}

/** Where ids of the gateway have the last digit of their count (`core/run/id.ts`). */
const lastDigitAt = 20;

/**
 * FNV-1a over UTF-16 code units but one, which makes the lowest four bits: ids that come one behind the other stand beside
 * each other in the table, and mostly in memory that the one before has brought into the processor's cache.
 */
export function idHash(id: string): number {
  let hash = 0x811c9dc5 | 0;
  let digit = 0;
  for (let at = 0; at < id.length; at += 1) {
    const unit = id.charCodeAt(at);
    if (at === lastDigitAt) digit = unit & 15;
    hash = Math.imul(hash ^ (at === lastDigitAt ? unit >> 4 : unit), 0x01000193);
  }
  return (hash << 4) | digit;
}

export class IdIndex {
  readonly #slots: Slots;
  /** A slot plus one; 0 where there is none. Half of it is empty at least. */
  #table = new Int32Array(sizeMin);
  #count = 0;

  constructor(slots: Slots) {
    this.#slots = slots;
  }

  find(id: string, hash: number): number | undefined {
    const table = this.#table;
    const mask = table.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const slot = (table[at] ?? 0) - 1;
      if (slot < 0) return undefined;
      if (this.#slots.hashAt(slot) === hash && this.#slots.hasId(slot, id)) return slot;
    }
  }

  /** Of an id that is not there yet. */
  add(slot: number, hash: number): void {
    this.#count += 1;
    if (this.#count * 2 > this.#table.length) this.#grow();
    put(this.#table, slot + 1, hash);
  }

  remove(slot: number, hash: number): void {
    const table = this.#table;
    const mask = table.length - 1;
    let gap = hash & mask;
    while (table[gap] !== slot + 1) {
      if (table[gap] === 0) return;
      gap = (gap + 1) & mask;
    }
    this.#count -= 1;
    // Those behind move up where the gap would hide them.
    for (let at = (gap + 1) & mask; ; at = (at + 1) & mask) {
      const next = table[at] ?? 0;
      if (next === 0) break;
      const wanted = this.#slots.hashAt(next - 1) & mask;
      const reachable = gap <= at ? gap < wanted && wanted <= at : gap < wanted || wanted <= at;
      if (reachable) continue;
      table[gap] = next;
      gap = at;
    }
    table[gap] = 0;
  }

  #grow(): void {
    const larger = new Int32Array(this.#table.length * 2);
    for (const one of this.#table) if (one > 0) put(larger, one, this.#slots.hashAt(one - 1));
    this.#table = larger;
  }
}

function put(table: Int32Array, value: number, hash: number): void {
  const mask = table.length - 1;
  let at = hash & mask;
  while (table[at] !== 0) at = (at + 1) & mask;
  table[at] = value;
}
