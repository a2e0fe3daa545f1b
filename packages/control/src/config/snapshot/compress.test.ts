import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compressor } from "./compress.ts";
import { casesOf } from "../../../../../test/cases.ts";

describe("compressor", () => {
  it("makes members that inflate to each text of a line, and depend on nothing before it", async () => {
    const texts = fc.array(fc.array(fc.tuple(fc.string(), fc.nat(50)), { maxLength: 200 }), {
      minLength: 1,
      maxLength: 4,
    });
    const inflates = fc.asyncProperty(texts, async (line) => {
      const compress = compressor();
      for (const objects of line) {
        const bytes = bytesOf(objects);
        const member = await compress(bytes);
        expect(new Uint8Array(gunzipSync(member))).toEqual(bytes);
        expect(await compressor()(bytes)).toEqual(member);
      }
    });
    await fc.assert(inflates, { numRuns: casesOf(20, 200) });
  });

  it("cuts a text that was edited in some places as it would without the one before", async () => {
    const edit = fc.tuple(fc.nat(2_999), fc.constantFrom("change", "grow", "remove", "add"));
    const edits = fc.array(fc.array(edit, { maxLength: 4 }), { minLength: 1, maxLength: 4 });
    const same = fc.asyncProperty(edits, async (line) => {
      const compress = compressor();
      let objects = numbered(3_000, {});
      await compress(bytesOf(objects));
      for (const [turn, places] of line.entries()) {
        for (const [at, how] of places) objects = edited(objects, at, `${turn}`, how);
        const bytes = bytesOf(objects);
        const member = await compress(bytes);
        expect(Buffer.compare(member, await compressor()(bytes))).toBe(0);
        expect(Buffer.compare(gunzipSync(member), bytes)).toBe(0);
      }
    });
    await fc.assert(same, { numRuns: casesOf(8, 80) });
  }, 60_000);

  it("leaves the pieces around a changed object as they were, also when it grew", async () => {
    const compress = compressor();
    const before = await compress(bytesOf(numbered(2_000, {})));
    const after = await compress(bytesOf(numbered(2_000, { 1_000: 123_456_789 })));
    const differing = after.length - sameAtStart(before, after) - sameAtEnd(before, after);
    // The checksum and the length at the very end differ as well.
    expect(differing).toBeLessThan(after.length / 4);
    expect(after).not.toEqual(before);
  });

  it("takes a text without objects, and one object that is larger than a piece", async () => {
    for (const text of ["x", "", `{"a":{"b":"${"y},".repeat(100_000)}"},"c":{}}`]) {
      const bytes = new TextEncoder().encode(text);
      expect(new Uint8Array(gunzipSync(await compressor()(bytes)))).toEqual(bytes);
    }
  });
});

const trailerBytes = 8;

function sameAtStart(a: Uint8Array, b: Uint8Array): number {
  return a.findIndex((byte, at) => byte !== b[at]);
}

function sameAtEnd(a: Uint8Array, b: Uint8Array): number {
  const [left, right] = [a, b].map((bytes) => bytes.subarray(0, -trailerBytes).toReversed());
  return left === undefined || right === undefined ? 0 : sameAtStart(left, right);
}

function edited(
  objects: readonly (readonly [string, number])[],
  at: number,
  turn: string,
  how: "change" | "grow" | "remove" | "add",
): readonly (readonly [string, number])[] {
  const [name = "", value = 0] = objects[at] ?? [];
  if (how === "change") return objects.with(at % objects.length, [name || turn, value + 1]);
  if (how === "grow") return objects.with(at % objects.length, [name + turn.repeat(9), value]);
  return objects.toSpliced(at, how === "remove" ? 1 : 0, ...added(how, `${at}${turn}`));
}

function added(how: "remove" | "add", name: string): readonly (readonly [string, number])[] {
  return how === "remove" ? [] : [[`new${name}`, 1]];
}

function numbered(
  count: number,
  changed: Readonly<Record<number, number>>,
): readonly (readonly [string, number])[] {
  return Array.from({ length: count }, (_, index): readonly [string, number] => [
    `cluster${index}`,
    changed[index] ?? index,
  ]);
}

function bytesOf(objects: readonly (readonly [string, number])[]): Uint8Array {
  const body = Object.fromEntries(objects.map(([name, value]) => [name, { name, value }]));
  return new TextEncoder().encode(JSON.stringify({ clusters: body }));
}
