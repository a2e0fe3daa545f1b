import { describe, expect, it } from "vitest";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { Secret } from "@gateway/core/secret.ts";
import { VerifiedLogins } from "./verified.ts";

describe("VerifiedLogins", () => {
  it("remembers ten thousand logins, and forgets the oldest for one more", () => {
    const logins = new VerifiedLogins<number>(virtualHost(1));
    for (let n = 0; n < 10_000; n += 1) logins.add(`${n}`, n);
    expect(logins.get("0")).toBe(0);
    // The one that was there is the newest again, and takes nobody's place.
    logins.add("0", 0);
    expect(logins.get("1")).toBe(1);
    logins.add("more", 1);
    expect(["0", "1", "2", "more"].map((key) => logins.get(key))).toEqual([0, undefined, 2, 1]);
  });

  it("remembers a login for a minute and no longer", async () => {
    const host = virtualHost(1);
    const logins = new VerifiedLogins<string>(host);
    logins.add("key", "ann");
    await host.advance(59_999);
    expect(logins.get("key")).toBe("ann");
    await host.advance(1);
    expect(logins.get("key")).toBeUndefined();
  });

  it("has one key for each list of parts, however they are cut", () => {
    const logins = new VerifiedLogins<string>(virtualHost(1));
    const keys = [["ab", "c"], ["a", "bc"], ["abc"], ["a1:b", "c"]].map((one) => logins.key(one));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("has the key of a secret made once for what stands beside it, and another one for anything else", () => {
    const [logins, others] = [1, 2].map((seed) => new VerifiedLogins<string>(virtualHost(seed)));
    const secret = new Secret("secret");
    const key = logins?.keyOf(secret, ["ann", "hash"]);
    expect(logins?.keyOf(secret, ["ann", "hash"])).toBe(key);
    expect(logins?.keyOf(new Secret("secret"), ["ann", "hash"])).toBe(key);
    const strangers = [
      logins?.keyOf(secret, ["ann", "other"]),
      logins?.keyOf(secret, ["bob", "hash"]),
      logins?.keyOf(secret, ["ann"]),
      logins?.keyOf(new Secret("other"), ["ann", "hash"]),
      others?.keyOf(secret, ["ann", "hash"]),
    ];
    expect(new Set([key, ...strangers]).size).toBe(6);
    expect(logins?.keyOf(secret, ["ann", "hash"])).toBe(key);
  });
});
