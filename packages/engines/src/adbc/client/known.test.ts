import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { KnownTexts, knownMs } from "./known.ts";

describe("what is known of texts", () => {
  it("is known for a time, whatever others do to the server meanwhile", async () => {
    const host = virtualHost(1);
    const known = new KnownTexts(host.clock);
    known.put(known.columns, "a", [23], known.era);
    expect(known.columns.get("a")).toEqual([23]);
    await host.advance(knownMs + 1);
    expect(known.columns.get("a")).toBeUndefined();
  });

  it("is forgotten whole, also what was being asked for then", () => {
    const known = new KnownTexts(virtualHost(1).clock);
    const { era } = known;
    known.put(known.parameters, "a", ["int4"], era);
    known.forget();
    known.put(known.parameters, "b", ["int4"], era);
    expect([known.parameters.get("a"), known.parameters.get("b")]).toEqual([undefined, undefined]);
    known.put(known.parameters, "b", ["int8"], known.era);
    expect(known.parameters.get("b")).toEqual(["int8"]);
  });

  it("keeps the last ones only, and no long text", () => {
    const known = new KnownTexts(virtualHost(1).clock);
    for (let at = 0; at <= 1_000; at += 1) known.put(known.columns, `${at}`, [at], known.era);
    expect([known.columns.get("0"), known.columns.get("1000")]).toEqual([undefined, [1_000]]);
    known.put(known.columns, "x".repeat(10_000), [1], known.era);
    expect(known.columns.get("x".repeat(10_000))).toBeUndefined();
  });
});
