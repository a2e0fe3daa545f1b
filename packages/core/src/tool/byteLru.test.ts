import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteLru } from "./byteLru.ts";

describe("ByteLru", () => {
  it("drops what was asked for longest ago, and keeps nothing larger than all", () => {
    const lru = new ByteLru<number>(10);
    lru.put("a", 1, 4);
    lru.put("b", 2, 4);
    expect(lru.get("a")).toBe(1);
    lru.put("c", 3, 4);
    expect([lru.get("a"), lru.get("b"), lru.get("c")]).toEqual([1, undefined, 3]);
    lru.put("d", 4, 11);
    expect([lru.get("d"), lru.bytes]).toEqual([undefined, 8]);
  });

  it("never counts more than it may, and counts what it holds", () => {
    const puts = fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "d", "e"), fc.nat(40)));
    fc.assert(
      fc.property(puts, (list) => {
        const lru = new ByteLru<number>(64);
        for (const [key, bytes] of list) {
          lru.put(key, bytes, bytes);
          expect(lru.bytes).toBeLessThanOrEqual(64);
        }
        const held = ["a", "b", "c", "d", "e"].map((key) => lru.get(key) ?? 0);
        expect(lru.bytes).toBe(held.reduce((sum, bytes) => sum + bytes, 0));
      }),
    );
  });
});
