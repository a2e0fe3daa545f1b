import { spliceMiddleMax } from "@gateway/contract/snapshotDelta.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Bases, deltaOf } from "./delta.ts";
import type { Built } from "../../config/configuration.ts";

const bytesOf = (text: string): Uint8Array => Buffer.from(text, "utf8");

describe("deltaOf", () => {
  it("leaves of a next what the base does not have, wherever the two differ", () => {
    const part = fc.string({ maxLength: 40 });
    const long = fc.nat(200_000).map((length) => "x".repeat(length));
    const around = fc.tuple(part, long, long, part);
    fc.assert(
      fc.property(around, part, part, ([first, front, back, last], from, to) => {
        const base = bytesOf(`{${first}${front}${from}${back}${last}`);
        const next = bytesOf(`{${first}${front}${to}${back}${last}`);
        const delta = deltaOf(base, next);
        // The whole is short then.
        if (delta === undefined) return next.length < 4 * (2 + Buffer.byteLength(to));
        const joined = [
          base.subarray(0, delta.front),
          delta.middle,
          base.subarray(base.length - delta.back),
        ];
        const isShort = delta.middle.length <= Buffer.byteLength(to);
        return isShort && Buffer.concat(joined).equals(next);
      }),
      { numRuns: 200 },
    );
  });

  it("is none where the whole serves better", () => {
    expect(deltaOf(bytesOf("{a"), bytesOf("[a"))).toBeUndefined();
    expect(deltaOf(bytesOf("{abc}"), bytesOf("{def}"))).toBeUndefined();
    const filler = "x".repeat(4 * spliceMiddleMax);
    const added = "y".repeat(spliceMiddleMax);
    expect(deltaOf(bytesOf(`{${filler}}`), bytesOf(`{${filler}${added}}`))?.middle.length).toBe(
      spliceMiddleMax,
    );
    expect(deltaOf(bytesOf(`{${filler}}`), bytesOf(`{${filler}${added}y}`))).toBeUndefined();
  });
});

describe("Bases", () => {
  it("knows the last of what was served, by number and by bytes, and never what is served now", () => {
    const builtOf = (name: string, size = 1_000) =>
      ({ revision: { hash: name }, bytes: bytesOf(`{${"x".repeat(size)}${name}`) }) as Built;
    const bases = new Bases();
    const named = (name: string) => bases.deltaFrom(({ revision }) => revision.hash === name);
    const names = Array.from({ length: 12 }, (_, at) => `name${at}`);
    for (const name of names) bases.serve(builtOf(name));
    const known = names.filter((name) => named(name) !== undefined);
    expect(known).toEqual(names.slice(3, 11));
    expect(named("name10")?.delta.middle).toEqual(bytesOf("1"));

    // What is served again is no base of its own.
    bases.serve(builtOf("name5"));
    expect(named("name5")).toBeUndefined();
    for (const name of ["a", "b", "c", "d"]) bases.serve(builtOf(name, 6 * 1024 * 1024));
    expect(["name5", "a", "b", "c"].filter((name) => named(name) !== undefined)).toEqual([
      "b",
      "c",
    ]);
  });
});
