/** The provider `ldap` on OpenLDAP; `npm run test:real` starts one with and one without anonymous binds and says where. */
import { ldapSchema } from "@gateway/access/client/ldap/config.ts";
import { ldapAuthenticator } from "@gateway/access/client/ldap/ldap.ts";
import type { Presented } from "@gateway/core/port/authenticator.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { Secret } from "@gateway/core/secret.ts";
import { describe, expect, it } from "vitest";

const port = process.env["GATEWAY_TEST_SLAPD"] ?? "";
const tlsPort = process.env["GATEWAY_TEST_SLAPD_TLS"] ?? "";
const caFile = process.env["GATEWAY_TEST_SLAPD_CA"] ?? "";
const base = "dc=example,dc=org";

const url = `ldap://127.0.0.1:${port}`;
const users = { userSearchBase: `ou=people,${base}`, groupSearchBase: `ou=groups,${base}` };
const account = { bindDn: `cn=admin,${base}`, bindPassword: "admin-secret" };
const ways = [
  ["a search as nobody", { url, ...users }],
  ["a search with an account", { url, ...users, ...account }],
  ["StartTLS", { url, startTls: true, caFile, ...users, ...account }],
  ["LDAPS", { url: `ldaps://127.0.0.1:${tlsPort}`, caFile, ...users, ...account }],
  [
    "a template",
    { url, userDnTemplate: `uid={},ou=people,${base}`, groupSearchBase: users.groupSearchBase },
  ],
] as const;

describe.skipIf(port === "").each(ways)("OpenLDAP asked by %s", (_way, config) => {
  it("lets in right passwords with the user's groups", async () => {
    await using tested = testedOf(config);
    expect(await tested.login("alice", "right-secret")).toBe("alice of readers");
    expect(await tested.login("ALICE", "right-secret")).toBe("alice of readers");
    expect(await tested.login("zoë", "right-secret")).toBe("zoë of readers");
    expect(await tested.login("o'brien, jr.", "right-secret")).toBe("o'brien, jr. of readers");
    expect(await tested.login("bob", "bob-secret")).toBe("bob of ");
  });

  it("lets in who a certificate names, and nobody by a name that is only like one", async () => {
    await using tested = testedOf(config);
    expect(await tested.certified("alice")).toBe("alice of readers");
    expect(await tested.certified("o'brien, jr.")).toBe("o'brien, jr. of readers");
    for (const name of ["mallory", "*", "a*", "alice)(uid=*", "\uff41lice", ""]) {
      expect([name, await tested.certified(name)]).toEqual([name, "auth.refused"]);
    }
  });

  it("refuses wrong and empty passwords, unknown names, and names that are code", async () => {
    await using tested = testedOf(config);
    const wrong = [
      ["alice", "wrong"],
      ["alice", ""],
      ["mallory", "right-secret"],
      ["*", "right-secret"],
      ["a*", "right-secret"],
      ["alice)(uid=*", "right-secret"],
      ["*)(|(uid=*", "right-secret"],
      ["alice,ou=people", "right-secret"],
      ["\\61lice", "right-secret"],
      ["alice\0", "right-secret"],
    ] as const;
    for (const [name, password] of wrong) {
      expect([name, await tested.login(name, password)]).toEqual([name, "auth.refused"]);
    }
  });
});

describe.skipIf(port === "")("OpenLDAP with a certificate of somebody else", () => {
  it.each([{ url, startTls: true }, { url: `ldaps://127.0.0.1:${tlsPort}` }])(
    "is told nothing (%j)",
    async (place) => {
      await using tested = testedOf({ ...place, ...users });
      expect(await tested.login("alice", "right-secret")).toBe("auth.unavailable");
    },
  );
});

function testedOf(config: object) {
  const ldap = ldapSchema.parse(config);
  const host = virtualHost(1);
  const authenticator = ldapAuthenticator({ required: true, sessionMaxSecs: 60, ldap }, host);
  const at = { frontend: "trinoHttp", address: "127.0.0.1" };
  const answerTo = async (shown: Presented): Promise<string> => {
    const login = await authenticator.authenticate(shown, at);
    if (!login.ok) return login.error.code;
    const { identity } = login.value;
    return `${identity.user} of ${identity.groups.join(" ")}`;
  };
  return {
    login: (user: string, text: string) =>
      answerTo({ kind: "password", user, password: new Secret(text) }),
    certified: (name: string) => answerTo({ kind: "certificate", user: undefined, names: [name] }),
    [Symbol.asyncDispose]: () => authenticator[Symbol.asyncDispose](),
  };
}
