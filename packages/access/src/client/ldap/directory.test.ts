import { describe, expect, it } from "vitest";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { FakeLdap } from "../../../../../test/fake/ldap.ts";
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
});
