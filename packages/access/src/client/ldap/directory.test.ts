import { describe, expect, it } from "vitest";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { FakeLdap, type LdapMood } from "../../../../../test/fake/ldap.ts";
import { ldapSchema } from "./config.ts";
import { Directory } from "./directory.ts";

const people = "ou=people,dc=example,dc=org";

describe("Directory", () => {
  it("sends no bind without a password, which a directory would let succeed, and lets nobody in", async () => {
    const dn = `uid=alice,${people}`;
    await using fake = await FakeLdap.start({
      entries: [{ dn, attributes: { uid: ["alice"] }, password: "secret" }],
    });
    const config = ldapSchema.parse({ url: fake.url, userSearchBase: people });
    await using directory = new Directory(config, virtualHost(1));
    expect(await directory.login("alice", "", "here")).toBe("refused");
    expect(fake.binds).not.toContain(dn);
    expect(await directory.login("alice", "secret", "here")).toMatchObject({ name: "alice" });
    expect(fake.binds).toContain(dn);
  });

  it.each<readonly [LdapMood, string]>([
    ["busy", "result 51"],
    ["hangingUp", "broken"],
    // It sends on and on: the connection is ended, and not waited for to the time limit.
    ["endless", "broken"],
  ])("says of a directory that is %s which kind of failure it met", async (mood, reason) => {
    await using fake = await FakeLdap.start({ entries: [] });
    fake.mood = mood;
    expect(await reasonAt(fake.url)).toBe(reason);
  });

  it("waits for no TLS of a directory that hangs up when it is asked for it", async () => {
    await using fake = await FakeLdap.start({ entries: [] });
    fake.mood = "hangingUp";
    expect(await reasonAt(fake.url, { startTls: true })).toBe("broken");
  });

  it("connects to an address of IPv6 and looks up no name for it", async () => {
    expect(await reasonAt("ldap://[::1]:1")).toMatch(/^E(?!NOTFOUND|AI_)[A-Z]+$/);
  });

  it("says by the system's own code that nobody listens", async () => {
    const fake = await FakeLdap.start({ entries: [] });
    const { url } = fake;
    await fake[Symbol.asyncDispose]();
    expect(await reasonAt(url)).toBe("ECONNREFUSED");
  });
});

/** What an operator reads of a login that the directory did not decide. */
async function reasonAt(url: string, more: object = {}): Promise<unknown> {
  const host = virtualHost(1);
  const config = ldapSchema.parse({ url, userSearchBase: people, ...more });
  await using directory = new Directory(config, host);
  expect(await directory.login("alice", "secret", "here")).toBe("unavailable");
  return host.log.lines.find(({ event }) => event === "auth.directoryUnavailable")?.fields[
    "reason"
  ];
}
