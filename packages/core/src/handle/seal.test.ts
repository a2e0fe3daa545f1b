import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openHandle, sealHandle, userMarkBytes, type HandleFacts, type Sealer } from "./seal.ts";

describe("openHandle", () => {
  const owner = { instance: "a1", sealer: sealerOf() };

  it("reads back what was sealed, until it expires", () => {
    const facts = fc.record({
      queryId: fc.stringMatching(/^\w{1,64}$/),
      userMark: fc.uint8Array({ minLength: userMarkBytes, maxLength: userMarkBytes }),
      token: fc.nat(),
      expiresAtMs: fc.double({ min: 1, max: 1e12, noNaN: true }),
    });
    fc.assert(
      fc.property(facts, (wanted) => {
        const sealed = sealHandle(wanted, owner);
        expect(openHandle(sealed, owner, wanted.expiresAtMs - 1)).toEqual(wanted);
        expect(openHandle(sealed, owner, wanted.expiresAtMs)).toBeUndefined();
      }),
    );
  });

  it("refuses one of another instance under the same key", () => {
    const sealed = sealHandle(factsOf(), owner);
    expect(openHandle(sealed, { ...owner, instance: "b2" }, 0)).toBeUndefined();
  });

  it("refuses bytes that no layout of ours has, also when they are sealed rightly", () => {
    for (const bytes of [
      new Uint8Array(0),
      new Uint8Array(60),
      Uint8Array.from({ length: 33 }, () => 1),
      Uint8Array.from({ length: 400 }, () => 1),
    ]) {
      expect(openHandle(owner.sealer.seal(bytes, owner.instance), owner, -1)).toBeUndefined();
    }
  });

  it("never takes a time that is no number for one to come", () => {
    const sealed = sealHandle({ ...factsOf(), expiresAtMs: Number.NaN }, owner);
    expect(openHandle(sealed, owner, 0)).toBeUndefined();
  });
});

function factsOf(): HandleFacts {
  return { queryId: "q1", userMark: new Uint8Array(userMarkBytes), token: 3, expiresAtMs: 10 };
}

/** Hides nothing: hexadecimal text behind what it is bound to. */
function sealerOf(): Sealer {
  return {
    seal: (plain, bound) => `${bound}-${Array.from(plain, hex).join("")}`,
    open: (sealed, bound) => {
      if (!sealed.startsWith(`${bound}-`)) return undefined;
      const digits = sealed.slice(bound.length + 1).match(/../g) ?? [];
      return Uint8Array.from(digits, (pair) => Number.parseInt(pair, 16));
    },
  };
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
