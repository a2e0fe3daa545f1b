import { describe, expect, it } from "vitest";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { FakeLdap } from "../../../../../test/fake/ldap.ts";
import { Secret } from "@gateway/core/secret.ts";
import { ldapSchema } from "./config.ts";
import { ldapAuthenticator } from "./ldap.ts";

const people = "ou=people,dc=example,dc=org";

describe("a session of a user of a directory", () => {
  it("goes on where this directory let the user in, and not where another or another way did", async () => {
    const dn = `uid=alice,${people}`;
    await using fake = await FakeLdap.start({
      entries: [{ dn, attributes: { uid: ["alice"] }, password: "secret" }],
    });
    const config = { required: true, sessionMaxSecs: 3_600 };
    const openedAt = (userSearchBase: string) =>
      ldapAuthenticator(
        { ...config, ldap: ldapSchema.parse({ url: fake.url, userSearchBase }) },
        virtualHost(1),
      );
    await using own = openedAt(people);
    await using other = openedAt("dc=example,dc=org");
    const shown = { kind: "password", user: "alice", password: new Secret("secret") } as const;
    const login = await own.authenticate(shown, { frontend: "postgresWire", address: "127.0.0.1" });
    if (!login.ok) throw new Error(login.error.code);
    const { identity } = login.value;
    expect(own.renew(identity)).toBe(identity);
    expect(other.renew(identity)).toBeUndefined();
    expect(own.renew({ ...identity, method: "static" })).toBeUndefined();
  });
});
