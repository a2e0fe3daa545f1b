/** Attack 4 toward a directory: names and passwords that are code there. None is let in, and the directory sees filters of one shape only. */
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { Secret } from "@gateway/core/secret.ts";
import { ldapSchema } from "@gateway/access/client/ldap/config.ts";
import { ldapAuthenticator } from "@gateway/access/client/ldap/ldap.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeLdap } from "../fake/ldap.ts";

const base = "dc=example,dc=org";
const people = `ou=people,${base}`;
const password = "alice-secret";

/** Text that means more than itself in a filter, in a name, or to whoever trims and folds it. */
const pieces: readonly string[] = [
  [
    "*",
    "a*",
    "*a",
    "al*ce",
    "(",
    ")",
    "()",
    ")(",
    "))",
    "((",
    "\\",
    "\\2a",
    "\\5c2a",
    "\\00",
    "\0",
  ],
  ["*)(uid=*", "*)(|(uid=*", "*))(|(uid=*", "alice)(&", "alice)(|(uid=*))", "alice))%00"],
  ["alice*)(objectClass=*", "*)(userPassword=*", ")(cn=*))(|(cn=*", "!(uid=x)", "&(uid=*)"],
  ["|(uid=*)", "uid=alice", "(uid=alice)", "alice)(uid=alice", "=alice", ">=a", "<=z", "~=alice"],
  [":dn:=alice", ":caseExactMatch:=alice", "alice,ou=people", `alice,${people}`],
  [`uid=alice,${people}`, `alice,${people}\0`, "alice+cn=x", "alice\\,ou=admins", '"alice"'],
  ["#616c696365", "alice#", ";alice", "<alice>", "alice;", "alice=", "alice/", "//alice"],
  ["\nalice", "alice\n", "alice\r\n", "\talice", " alice", "alice ", "  ", "a\u0000lice"],
  ["\u202ealice", "al\u200bice", "al\u00adice", "\ufeffalice", "alice\u2028", "ａlice ", "\ud800"],
  ["' or '1'='1", "${jndi:ldap://192.0.2.1/a}", "{}", "{dn}", "%2a", "&#42;", "$&", "$1", "$$"],
  ["EXTERNAL", "PLAIN", "DIGEST-MD5", "anonymous", "Anonymous", "x".repeat(300), "cn=admin"],
].flat();
const frames: readonly ((piece: string) => string)[] = [
  (piece) => piece,
  (piece) => `alice${piece}`,
  (piece) => `${piece}alice`,
  (piece) => `${piece})(uid=alice`,
  (piece) => piece.repeat(3),
];
/** Every one of them, without those that are alice's name after all. */
const names = [...new Set(pieces.flatMap((piece) => frames.map((frame) => frame(piece))))];

const passwords = [
  "",
  "\0",
  "\0alice-secret",
  "alice-secret\0",
  "*",
  "alice-secret ",
  "x".repeat(9_000),
];

let directory: FakeLdap;

beforeAll(async () => {
  directory = await FakeLdap.start({
    entries: [
      { dn: `cn=gateway,${base}`, attributes: {}, password: "search-secret" },
      { dn: `uid=alice,${people}`, attributes: { uid: ["alice"], userPassword: ["x"] }, password },
      { dn: `uid=bob,${people}`, attributes: { uid: ["bob"], userPassword: ["x"] }, password },
    ],
  });
});
afterAll(() => directory[Symbol.asyncDispose]());

describe.each([
  [
    "a search",
    { bindDn: `cn=gateway,${base}`, bindPassword: "search-secret", userSearchBase: people },
  ],
  ["a template", { userDnTemplate: `uid={},${people}` }],
])("a directory asked by %s", (_way, config) => {
  it(`lets in none of ${names.length} names that are code`, async () => {
    expect(names.length).toBeGreaterThanOrEqual(300);
    await using tested = testedOf(config);
    const letIn: string[] = [];
    for (const name of names) {
      if (await tested.login(name, password)) letIn.push(name);
    }
    expect(letIn).toEqual([]);
    expect([...directory.shapes].filter((shape) => shape !== "(uid equal)")).toEqual([]);
    expect(await tested.login("alice", password)).toBe(true);
  });

  it("lets in nobody with a password that is none, also where the directory would", async () => {
    await using tested = testedOf(config);
    for (const wrong of passwords) expect(await tested.login("alice", wrong)).toBe(false);
  });
});

it("compares with exactly the name that was shown", async () => {
  await using tested = testedOf({ userSearchBase: people });
  const before = directory.values.length;
  const shown = ["a*b(c)d\\e", "zoë", "a,b=c+d", "!&|<>~/", "日本"];
  for (const name of shown) await tested.login(name, "wrong");
  expect(directory.values.slice(before)).toEqual(shown);
});

function testedOf(config: object) {
  const ldap = ldapSchema.parse({ url: directory.url, ...config });
  const authenticator = ldapAuthenticator(
    { required: true, sessionMaxSecs: 60, ldap },
    virtualHost(1),
  );
  let client = 0;
  return {
    login: async (user: string, shown: string): Promise<boolean> => {
      // Each from an address of its own, so that guessing is not slowed down.
      const at = { frontend: "trinoHttp", address: `198.51.100.${(client += 1)}` };
      const presented = { kind: "password", user, password: new Secret(shown) } as const;
      return (await authenticator.authenticate(presented, at)).ok;
    },
    [Symbol.asyncDispose]: () => authenticator[Symbol.asyncDispose](),
  };
}
