import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { CancelKeys, type KeyOwner } from "./cancel.ts";

describe("CancelKeys", () => {
  it("cancels by the right key and by no other", () => {
    const keys = new CancelKeys(virtualHost(1));
    let cancelled = 0;
    const { key } = keys.register(
      4,
      ownerOf(() => {
        cancelled += 1;
      }),
    );
    const wrong = Uint8Array.from(key.secret, (byte) => byte ^ 1);
    keys.present({ process: key.process, secret: wrong });
    keys.present({ process: key.process, secret: key.secret.subarray(0, 3) });
    keys.present({ process: key.process, secret: new Uint8Array(0) });
    keys.present({ process: key.process ^ 1, secret: key.secret });
    expect(cancelled).toBe(0);
    keys.present(key);
    expect(cancelled).toBe(1);
  });

  it("forgets a key that was given back", () => {
    const keys = new CancelKeys(virtualHost(1));
    let cancelled = 0;
    const registered = keys.register(
      32,
      ownerOf(() => {
        cancelled += 1;
      }),
    );
    registered[Symbol.dispose]();
    keys.present(registered.key);
    expect([cancelled, keys.size]).toEqual([0, 0]);
  });

  it("gives each connection its own positive process number and secret", () => {
    const keys = new CancelKeys(virtualHost(1));
    const made = Array.from({ length: 200 }, () => keys.register(4, ownerOf()).key);
    expect(new Set(made.map(({ process }) => process)).size).toBe(200);
    expect(made.every(({ process }) => process > 0)).toBe(true);
    expect(new Set(made.map(({ secret }) => secret.join())).size).toBe(200);
  });

  it("shows a connection to its own user alone", () => {
    const keys = new CancelKeys(virtualHost(1));
    const owner = ownerOf();
    const registered = keys.register(4, owner);
    const { process } = registered.key;
    expect(keys.ofUser("ada", process)).toBe(owner);
    expect(keys.ofUser("bob", process)).toBeUndefined();
    expect(keys.ofUser("ada", process ^ 1)).toBeUndefined();
    registered[Symbol.dispose]();
    expect(keys.ofUser("ada", process)).toBeUndefined();
  });
});

function ownerOf(cancel: () => void = () => undefined): KeyOwner {
  return { user: "ada", cancel, terminate: () => undefined };
}
