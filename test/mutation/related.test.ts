import { describe, expect, it } from "vitest";
// @ts-expect-error A program of the nightly run, without types.
import { nearestFirst } from "./related.mjs";

describe("nearestFirst", () => {
  it("asks a source's own test, then those beside it, above it, and of other rooms", () => {
    const source = "/core/run/step/way.ts";
    const other = "/core/guard/scan.test.ts";
    const above = "/core/run/run.test.ts";
    const beside = "/core/run/step/ask.test.ts";
    const own = "/core/run/step/way.test.ts";
    expect(nearestFirst(source, [other, above, beside, own])).toEqual([own, beside, above, other]);
  });

  it("leaves tests that are as near in the order they came in", () => {
    const tests = ["/core/run/b.test.ts", "/core/run/a.test.ts"];
    expect(nearestFirst("/core/run/c.ts", tests)).toEqual(tests);
  });
});
