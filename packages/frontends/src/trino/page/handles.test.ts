import { virtualHost } from "@gateway/core/rig/virtual.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Handles, isBoundTo } from "./handles.ts";

describe("Handles", () => {
  it("opens its own links and nobody else's", () => {
    const host = virtualHost(1);
    const [ours, theirs] = [new Handles(host), new Handles(host)];
    const sealed = ours.seal(ours.linkedQuery("q1", "alice"), 7);
    expect(ours.open(sealed)).toMatchObject({ queryId: "q1", token: 7 });
    expect(theirs.open(sealed)).toBeUndefined();
    expect(theirs.instance).not.toBe(ours.instance);
  });

  it("opens nothing that differs from what it made, in whatever place", () => {
    const handles = new Handles(virtualHost(1));
    const sealed = handles.seal(handles.linkedQuery("20260101_000000_00001_test", "alice"), 1);
    fc.assert(
      fc.property(
        fc.nat(sealed.length - 1),
        fc.constantFrom("A", "Z", "a", "z", "0", "9", "-", "_"),
        (at, letter) => {
          const changed = sealed.slice(0, at) + letter + sealed.slice(at + 1);
          expect(handles.open(changed) === undefined).toBe(changed !== sealed);
        },
      ),
    );
    for (const cut of ["", "A", sealed.slice(1), sealed.slice(0, -1), `${sealed}A`]) {
      expect(handles.open(cut)).toBeUndefined();
    }
  });

  it("shows neither the query nor the user nor the number, and never the same text twice", () => {
    const handles = new Handles(virtualHost(1));
    const query = handles.linkedQuery("20260101_000000_00001_test", "alice");
    const [one, two] = [handles.seal(query, 1), handles.seal(query, 1)];
    expect(one).not.toBe(two);
    expect(Buffer.from(one, "base64url").toString("latin1")).not.toMatch(/2026|alice/);
  });

  it("refuses a link after a day", async () => {
    const host = virtualHost(1);
    const handles = new Handles(host);
    const sealed = handles.seal(handles.linkedQuery("q1", "alice"), 1);
    await host.advance(24 * 3_600_000 - 1);
    expect(handles.open(sealed)).toBeDefined();
    await host.advance(1);
    expect(handles.open(sealed)).toBeUndefined();
  });

  it("still opens a link after so many others that it is not remembered any more", () => {
    const handles = new Handles(virtualHost(1));
    const query = handles.linkedQuery("q1", "alice");
    const first = handles.seal(query, 1);
    for (let token = 2; token < 10_000; token += 1) handles.seal(query, token);
    expect(handles.open(first)).toMatchObject({ queryId: "q1", token: 1 });
  });

  it("binds a link to its user, whose name may have any length", () => {
    const handles = new Handles(virtualHost(1));
    const alice = handles.linkedQuery("q1", "alice");
    const long = handles.linkedQuery("q1", "a".repeat(60_000));
    const handle = handles.open(handles.seal(long, 1));
    if (handle === undefined) throw new Error("not opened");
    expect([isBoundTo(handle, long), isBoundTo(handle, alice)]).toEqual([true, false]);
    expect(handles.seal(long, 1)).toHaveLength(handles.seal(alice, 1).length);
  });
});
