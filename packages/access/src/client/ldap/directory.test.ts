import { describe, expect, it, vi } from "vitest";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { FakeLdap, type LdapMood } from "../../../../../test/fake/ldap.ts";
import { ldapSchema } from "./config.ts";
import { Directory } from "./directory.ts";

const people = "ou=people,dc=example,dc=org";

const alice = {
  dn: `uid=alice,${people}`,
  attributes: { uid: ["alice"] },
  password: "secret",
};

describe("Directory", () => {
  it("sends no bind without a password, which a directory would let succeed, and lets nobody in", async () => {
    const { dn } = alice;
    await using fake = await FakeLdap.start({ entries: [alice] });
    const config = ldapSchema.parse({ url: fake.url, userSearchBase: people });
    await using directory = new Directory(config, virtualHost(1));
    expect(await directory.login("alice", "", "here")).toBe("refused");
    expect(fake.binds).not.toContain(dn);
    expect(await directory.login("alice", "secret", "here")).toMatchObject({ name: "alice" });
    expect(fake.binds).toContain(dn);
  });

  it.each<readonly [number, string]>([
    // Unwilling, as where an account is locked.
    [53, "refused"],
    [51, "unavailable"],
  ])("takes the code %d of a user's own bind for %s", async (code, outcome) => {
    await using fake = await FakeLdap.start({ entries: [alice] });
    const host = virtualHost(1);
    const config = ldapSchema.parse({ url: fake.url, userSearchBase: people });
    await using directory = new Directory(config, host);
    fake.namedCode = code;
    expect(await directory.login("alice", "secret", "here")).toBe(outcome);
    const told = host.log.lines.map(({ fields }) => fields["reason"]);
    expect(told).toEqual(outcome === "refused" ? [] : [`result ${code}`]);
  });

  it("searches as the account that is configured, with its password", async () => {
    const { bindDn, service } = accountOf();
    await using fake = await FakeLdap.start({ entries: [service, alice] });
    fake.letsNobodyIn = false;
    const loginWith = async (bindPassword: string) => {
      const bound = { bindDn, bindPassword };
      const config = ldapSchema.parse({ url: fake.url, userSearchBase: people, ...bound });
      await using directory = new Directory(config, virtualHost(1));
      return await directory.login("alice", "secret", "here");
    };
    expect(await loginWith("service")).toMatchObject({ name: "alice" });
    expect(await loginWith("wrong")).toBe("unavailable");
  });

  it("reads attributes and groups as the account to search as, whatever the user may see", async () => {
    const { bindDn, service } = accountOf();
    const readers = {
      dn: `cn=readers,${people}`,
      attributes: { cn: ["readers", "those who read"], member: [alice.dn] },
    };
    const nameless = { dn: `ou=nameless,${people}`, attributes: { member: [alice.dn] } };
    await using fake = await FakeLdap.start({ entries: [service, alice, readers, nameless] });
    const config = ldapSchema.parse({
      url: fake.url,
      userSearchBase: people,
      groupSearchBase: people,
      bindDn,
      bindPassword: "service",
      attributes: { name: "uid" },
    });
    await using directory = new Directory(config, virtualHost(1));
    const login = await directory.login("alice", "secret", "here");
    // A group is called by the first of its names, and one without a name is none.
    expect(login).toMatchObject({ groups: ["readers"], attributes: { name: "alice" } });
    expect(fake.binds).toEqual([bindDn, alice.dn, bindDn, bindDn]);
  });

  it("reads attributes as the user where no account to search as is configured", async () => {
    await using fake = await FakeLdap.start({ entries: [alice] });
    const userDnTemplate = `uid={},${people}`;
    const config = ldapSchema.parse({
      url: fake.url,
      userDnTemplate,
      attributes: { name: "uid" },
    });
    await using directory = new Directory(config, virtualHost(1));
    const login = await directory.login("alice", "secret", "here");
    expect(login).toMatchObject({ attributes: { name: "alice" } });
    expect(fake.binds).toEqual([alice.dn]);
  });

  it("knows nobody where the base of its search does not exist", async () => {
    await using fake = await FakeLdap.start({ entries: [alice] });
    fake.mood = "baseless";
    const config = ldapSchema.parse({ url: fake.url, userSearchBase: people });
    await using directory = new Directory(config, virtualHost(1));
    expect(await directory.login("alice", "secret", "here")).toBe("refused");
  });

  it("lets a login leave the line when its time is over, though no connection comes free", async () => {
    await using fake = await FakeLdap.start({ entries: [alice] });
    const host = virtualHost(1);
    const config = ldapSchema.parse({ url: fake.url, userSearchBase: people, poolSize: 1 });
    await using directory = new Directory(config, host);
    const comes = new Promise<void>((resolve) => {
      fake.beforeBind = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
    const over: string[] = [];
    const enter = (name: string, origin: string): void =>
      void directory.login("alice", "secret", origin).then(() => over.push(name));
    enter("first", "here");
    await comes;
    enter("second", "here");
    enter("third", "here");
    await host.advance(config.timeoutMs - 1);
    // Another origin's turn comes before the third's, and lasts longer than the third may wait.
    enter("other", "there");
    expect(over).toEqual([]);
    await host.advance(1);
    await expect.poll(() => over.toSorted()).toEqual(["first", "second", "third"]);
  });

  it("ends with itself who logs in and who waits for a turn, and touches no login that is over", async () => {
    await using fake = await FakeLdap.start({ entries: [alice] });
    const config = ldapSchema.parse({ url: fake.url, userSearchBase: people, poolSize: 1 });
    await using directory = new Directory(config, virtualHost(1));
    const login = () => directory.login("alice", "secret", "here");
    await login();
    const comes = new Promise<void>((resolve) => {
      fake.beforeBind = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
    const logins = [login(), login()];
    await comes;
    const ended = vi.spyOn(AbortController.prototype, "abort");
    await directory[Symbol.asyncDispose]();
    expect(ended).toHaveBeenCalledTimes(2);
    ended.mockRestore();
    expect(await Promise.all(logins)).toEqual(["unavailable", "unavailable"]);
  });

  it("ends a connection that nobody used for long, and opens another", async () => {
    await using fake = await FakeLdap.start({ entries: [alice] });
    const host = virtualHost(1);
    const config = ldapSchema.parse({ url: fake.url, userSearchBase: people });
    await using directory = new Directory(config, host);
    const login = () => directory.login("alice", "secret", "here");
    await login();
    await login();
    expect(fake.connections).toBe(1);
    await host.advance(30_001);
    await login();
    expect(fake.connections).toBe(2);
    await expect.poll(() => fake.open).toBe(1);
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

function accountOf() {
  const bindDn = "cn=gateway,dc=example,dc=org";
  return { bindDn, service: { dn: bindDn, attributes: {}, password: "service" } };
}

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
