import { createHash } from "node:crypto";
import { canonicalJson, type Json } from "@gateway/contract/canonical.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { copiedSliced, parseSliced, sha256Sliced } from "./slices.ts";

/** So small that every branch is met. */
const sizes = { turnBytes: 7, pieceBytes: 4, parsedBytesMax: 11 };

describe("parseSliced", () => {
  it("reads canonical JSON as JSON.parse does", async () => {
    const values = fc.jsonValue({ maxDepth: 5 }).filter((value) => canonical(value) !== undefined);
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const text = canonical(value) ?? "";
        const read = await parseSliced(Buffer.from(text), undefined, sizes);
        expect(read).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it("is not misled by brackets, quotes and backslashes in text", async () => {
    const value = {
      'a"}]{[\\': ['}",{"', "\\", '\\"', { "]": "[" }],
      b: [[], {}, -1.5e-7, null, true],
    };
    const text = canonicalJson(value);
    expect(await parseSliced(Buffer.from(text), undefined, sizes)).toEqual(value);
  });

  it("never throws on damaged text, and takes nothing of it that JSON.parse would read as something else", async () => {
    const text = canonicalJson({
      clusters: { a: { b: [1, 2, "x"] }, c: {} },
      routers: [{}, { d: 1 }],
    });
    await fc.assert(
      fc.asyncProperty(
        fc.nat(text.length - 1),
        fc.integer({ min: 1, max: 127 }),
        async (at, mask) => {
          const broken = Buffer.from(text);
          broken[at] = (broken[at] ?? 0) ^ mask;
          const read = await parseSliced(broken, undefined, sizes);
          expect(read === undefined || isSame(read, broken.toString("utf8"))).toBe(true);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("refuses the whole when a piece is refused, and a key that would set a prototype", async () => {
    const bytes = Buffer.from('{"a":{"b":1,"c":2}}');
    expect(await parseSliced(bytes, (value) => value !== 2, sizes)).toBeUndefined();
    expect(
      await parseSliced(Buffer.from('{"__proto__":{"b":1}}'), undefined, sizes),
    ).toBeUndefined();
  });
});

describe("copiedSliced", () => {
  it("answers the same bytes in a buffer that can be given away", async () => {
    for (const length of [0, 1, 512 * 1024, 2_000_001]) {
      const bytes = Buffer.alloc(length + 1, "abc").subarray(1);
      const copy = await copiedSliced(bytes);
      expect(Buffer.compare(copy, bytes)).toBe(0);
      expect(copy.buffer.byteLength).toBe(length);
    }
  });
});

describe("sha256Sliced", () => {
  it("is the hash of the whole", async () => {
    for (const length of [0, 1, 128 * 1024, 128 * 1024 + 1, 2_000_000]) {
      const bytes = Buffer.alloc(length, "abc");
      expect(await sha256Sliced(bytes)).toBe(createHash("sha256").update(bytes).digest("hex"));
    }
  });
});

function canonical(value: unknown): string | undefined {
  try {
    const text = canonicalJson(value as Json);
    return text.includes('"__proto__"') ? undefined : text;
  } catch {
    return undefined;
  }
}

function isSame(read: unknown, text: string): boolean {
  try {
    expect(read).toEqual(JSON.parse(text));
    return true;
  } catch {
    return false;
  }
}
