import { describe, expect, it } from "vitest";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { Secret } from "@gateway/core/secret.ts";
import { FakeLdap } from "../../../../../test/fake/ldap.ts";
import { ldapSchema } from "./config.ts";
import { ldapAuthenticator } from "./ldap.ts";

const people = "ou=people,dc=example,dc=org";
const at = { frontend: "postgresWire", address: "127.0.0.1" };

describe("what a directory says of a user whose password is right", () => {
  it.each<readonly [string, string, readonly string[], string]>([
    ["a name and groups", "ann", ["readers", "writers"], "ann of readers, writers"],
    ["a group that can be none", "ann", ["readers", "a\u0007b"], "auth.refused"],
    ["a group without letters", "ann", [""], "auth.refused"],
    ["a name that is reserved", "anonymous", [], "auth.refused"],
    ["a name that can not be seen whole", "a\u00adnn", [], "auth.refused"],
  ])("is believed or not: %s", async (_, uid, groups, outcome) => {
    const user = {
      dn: `cn=one,${people}`,
      attributes: { uid: [uid], mail: ["ann@example.org"] },
      password: "secret",
    };
    const named = groups.map((cn, index) => ({
      dn: `ou=${index},${people}`,
      attributes: { cn: [cn], member: [user.dn] },
    }));
    await using fake = await FakeLdap.start({ entries: [user, ...named] });
    const ldap = ldapSchema.parse({
      url: fake.url,
      userSearchBase: people,
      userSearchFilter: "(|(uid={})(mail={}))",
      groupSearchBase: people,
    });
    const config = { required: true, sessionMaxSecs: 60, ldap };
    await using authenticator = ldapAuthenticator(config, virtualHost(1));
    const login = await authenticator.authenticate(
      { kind: "password", user: "ann@example.org", password: new Secret("secret") },
      at,
    );
    const shown = login.ok
      ? `${login.value.identity.user} of ${login.value.identity.groups.join(", ")}`
      : login.error.code;
    expect(shown).toBe(outcome);
  });
});
