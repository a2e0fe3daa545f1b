import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { heapOf, type HeapEntry } from "./heap.ts";

describe("heapOf", () => {
  it("gives entries back in order, whatever was removed or changed in between", () => {
    const action = fc.record({
      kind: fc.constantFrom("push", "remove", "update"),
      key: fc.nat(50),
      at: fc.nat(30),
    });
    const sorted = fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const heap = heapOf<Entry>((a, b) => a.key < b.key);
      const inside: Entry[] = [];
      const removed: boolean[] = [];
      for (const { kind, key, at } of actions) {
        const entry = inside[at % Math.max(1, inside.length)];
        if (kind === "push" || entry === undefined) {
          const added = entryOf(key);
          inside.push(added);
          heap.push(added);
        } else if (kind === "remove") {
          inside.splice(inside.indexOf(entry), 1);
          removed.push(heap.remove(entry));
        } else {
          entry.key = key;
          heap.update(entry);
        }
      }
      expect(removed).not.toContain(false);
      expect(heap.size).toBe(inside.length);
      expect(drain(heap)).toEqual(inside.map((entry) => entry.key).toSorted((a, b) => a - b));
    });
    fc.assert(sorted);
  });

  it("refuses to remove what is not inside, also after it was taken", () => {
    const heap = heapOf<Entry>((a, b) => a.key < b.key);
    const first = entryOf(1);
    heap.push(first);
    expect(heap.remove(entryOf(1))).toBe(false);
    expect(heap.pop()).toBe(first);
    expect(heap.remove(first)).toBe(false);
    expect(heap.pop()).toBeUndefined();
  });
});

interface Entry extends HeapEntry {
  key: number;
}

function entryOf(key: number): Entry {
  return { key, heapIndex: -1 };
}

function drain(heap: ReturnType<typeof heapOf<Entry>>): number[] {
  const keys: number[] = [];
  for (let next = heap.pop(); next !== undefined; next = heap.pop()) keys.push(next.key);
  return keys;
}
