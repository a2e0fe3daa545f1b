import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byNameAndId, byTime } from "./keyset.ts";

describe("keysetOf", () => {
  it("reads from the cursor of a page the key of its last item", () => {
    const keys = fc.array(fc.tuple(fc.maxSafeInteger(), fc.string()), {
      minLength: 2,
      maxLength: 9,
    });
    const goesOn = fc.property(keys, (found) => {
      const { items, nextCursor } = byTime.page(found, found.length - 1, (key) => key);
      expect(byTime.read(nextCursor)).toEqual(items.at(-1));
    });
    fc.assert(goesOn);
  });

  it("has no cursor when nothing is left", () => {
    const found: [string, string][] = [["a", "b"]];
    expect(byNameAndId.page(found, 1, (key) => key).nextCursor).toBeUndefined();
    expect(byNameAndId.page([], 1, (key: [string, string]) => key).nextCursor).toBeUndefined();
    expect(byNameAndId.read(undefined)).toBeUndefined();
  });

  it("takes no cursor that nobody here wrote, whatever it holds", () => {
    const foreign = fc.property(fc.string(), (cursor) => {
      expect(byTime.read(cursor)).toBeNull();
    });
    fc.assert(foreign);
    const other = byNameAndId.page(
      [
        ["a", "b"],
        ["c", "d"],
      ] as [string, string][],
      1,
      (key) => key,
    );
    expect(byTime.read(other.nextCursor)).toBeNull();
    expect(byTime.read(Buffer.from('[1.5,"a"]').toString("base64url"))).toBeNull();
    expect(byTime.read("A".repeat(100_000))).toBeNull();
  });
});
