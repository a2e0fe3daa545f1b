/**
 * A binary heap whose entries know their index, so that one in the middle can be removed.
 *
 * The caller brings the order. The heap is not stable: an order without ties compares a sequence number
 * last.
 */

/** What an entry carries for the heap. An entry is in at most one heap by this field. */
export interface HeapEntry {
  /** Index in the heap's array, -1 while outside. Written by the heap only. */
  heapIndex: number;
}

export interface Heap<T extends HeapEntry> {
  readonly size: number;
  /** The entry before all others, without taking it. */
  peek(): T | undefined;
  /** Adds an entry. Cost: logarithmic. */
  push(entry: T): void;
  /** Takes the entry before all others. Cost: logarithmic. */
  pop(): T | undefined;
  /** Takes out any entry; false when it is not inside. Cost: logarithmic. */
  remove(entry: T): boolean;
  /** Moves an entry after what it is ordered by has changed. Cost: logarithmic. */
  update(entry: T): void;
}

/** Makes an empty heap; `before` says which of two comes first and must be a strict order. */
export function heapOf<T extends HeapEntry>(before: (a: T, b: T) => boolean): Heap<T> {
  const entries: T[] = [];

  function put(entry: T, index: number): void {
    entries[index] = entry;
    entry.heapIndex = index;
  }

  function rise(entry: T, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = entries[parentIndex];
      if (parent === undefined || !before(entry, parent)) break;
      put(parent, index);
      index = parentIndex;
    }
    put(entry, index);
  }

  function sink(entry: T, from: number): void {
    let index = from;
    for (;;) {
      const left = entries[2 * index + 1];
      const right = entries[2 * index + 2];
      const child = left !== undefined && right !== undefined && before(right, left) ? right : left;
      if (child === undefined || !before(child, entry)) break;
      const childIndex = child.heapIndex;
      put(child, index);
      index = childIndex;
    }
    put(entry, index);
  }

  function place(entry: T, index: number): void {
    rise(entry, index);
    sink(entry, entry.heapIndex);
  }

  function remove(entry: T): boolean {
    const index = entry.heapIndex;
    if (entries[index] !== entry) return false;
    const last = entries.pop();
    entry.heapIndex = -1;
    if (last !== undefined && last !== entry) place(last, index);
    return true;
  }

  return {
    get size() {
      return entries.length;
    },
    peek: () => entries[0],
    push: (entry) => rise(entry, entries.length),
    pop: () => {
      const first = entries[0];
      if (first !== undefined) remove(first);
      return first;
    },
    remove,
    update: (entry) => place(entry, entry.heapIndex),
  };
}
