import { virtualHost } from "@gateway/core/rig/virtual.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Handles } from "./handles.ts";

const place = { queryId: "20260101_000000_00001_test" as QueryId, token: 3 };

describe("Handles", () => {
  it("opens its own for their user, and shows neither in them", () => {
    const handles = new Handles(virtualHost(1));
    const handle = handles.seal(place, "ann");
    expect(handles.open(handle, "ann")).toEqual(place);
    expect(handles.open(handle, "bob")).toBeUndefined();
    expect(Buffer.from(handle.split(".")[1] ?? "", "base64url").toString("latin1")).not.toMatch(
      /2026|ann/,
    );
    // Two of one place differ, because their nonces do.
    expect(handles.seal(place, "ann")).not.toBe(handle);
  });

  it("opens none in which a single letter was changed", () => {
    const handles = new Handles(virtualHost(1));
    const handle = handles.seal(place, "ann");
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    fc.assert(
      fc.property(
        fc.nat(handle.length - 1),
        fc.constantFrom(...letters.split("")),
        (at, letter) => {
          fc.pre(handle[at] !== letter);
          const changed = handle.slice(0, at) + letter + handle.slice(at + 1);
          expect([undefined, "elsewhere"]).toContain(handles.open(changed, "ann"));
        },
      ),
    );
  });

  it("opens none that is a day old", async () => {
    const host = virtualHost(1);
    const handles = new Handles(host);
    const handle = handles.seal(place, "ann");
    await host.advance(24 * 3_600_000 + 1);
    expect(handles.open(handle, "ann")).toBeUndefined();
  });
});
