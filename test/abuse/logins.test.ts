/** Attack 6: around the protection of logins: other addresses, other spellings, other providers, and memory that grows. */
import { staticAuthenticator } from "@gateway/access/client/static/static.ts";
import { ldapAuthenticator } from "@gateway/access/client/ldap/ldap.ts";
import { ldapSchema } from "@gateway/access/client/ldap/config.ts";
import { noneAuthenticator } from "@gateway/access/client/none.ts";
import { oidcAuthenticator } from "@gateway/access/client/oidc/oidc.ts";
import { oidcSchema } from "@gateway/access/client/oidc/config.ts";
import { VerifiedLogins } from "@gateway/access/client/verified.ts";
import type { AuthContext } from "@gateway/core/query/identity.ts";
import type { Thread } from "@gateway/core/port/threads.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { Secret } from "@gateway/core/secret.ts";
import { allowListAuthorizer } from "@gateway/core/route/allowList.ts";
import { describe, expect, it } from "vitest";

const frontend = "trinoHttp";
const passwordHash = `$2b$10$${"x".repeat(53)}`;

describe("guessing", () => {
  it.each([
    ["an address of its own in one network of IPv6", (n: number) => `2001:db8::${n.toString(16)}`],
    [
      "one IPv4 address in two notations",
      (n: number) => (n % 2 === 0 ? "" : "::ffff:") + "192.0.2.1",
    ],
  ])("is slowed down from %s each time", async (_what, addressOf) => {
    const tested = guessed();
    for (let n = 0; n < 11; n += 1) await tested.guess("alice", addressOf(n + 1));
    expect(tested.waiting("alice", addressOf(99))).toBe(true);
    expect(tested.waiting("alice", "198.51.100.1")).toBe(false);
  });

  it("is slowed down when each guess is at another user, and then for nobody at another address", async () => {
    const tested = guessed();
    for (let n = 0; n < 101; n += 1) await tested.guess(`user${n}`, "192.0.2.1");
    expect(tested.waiting("another", "192.0.2.1")).toBe(true);
    expect(tested.waiting("another", "192.0.2.2")).toBe(false);
  });

  it("is slowed down also when the guesser has a right login of its own", async () => {
    const tested = guessed();
    for (let n = 0; n < 101; n += 1) {
      await tested.guess("alice", "192.0.2.1");
      await tested.login("mallory", "192.0.2.1");
    }
    expect(tested.waiting("alice", "192.0.2.1")).toBe(true);
  });
});

describe("a session", () => {
  const ldap = ldapSchema.parse({ url: "ldap://127.0.0.1:1", userSearchBase: "dc=a" });
  const elsewhere = ldapSchema.parse({ url: "ldap://127.0.0.1:2", userSearchBase: "dc=a" });
  const oidc = oidcSchema.parse({ issuer: "https://a.example", audience: "gateway" });
  const foreign = oidcSchema.parse({ issuer: "https://b.example", audience: "gateway" });
  const users = { alice: { passwordHash, groups: [], roles: [] } };

  it("of one provider is none of another, whatever it is called there", async () => {
    const host = virtualHost(1);
    const required = { required: true, sessionMaxSecs: 60 };
    const providers = {
      none: noneAuthenticator(),
      static: staticAuthenticator({ required: true, staticUsers: { users } }, host),
      oidc: oidcAuthenticator({ required: true, oidc }, host),
      "another oidc": oidcAuthenticator({ required: true, oidc: foreign }, host),
      ldap: ldapAuthenticator({ ...required, ldap }, host),
      "another ldap": ldapAuthenticator({ ...required, ldap: elsewhere }, host),
    };
    const claims: readonly Pick<AuthContext, "method" | "realm">[] = [
      { method: "anonymous" },
      { method: "oidc" },
      { method: "oidc", realm: "" },
      { method: "ldap" },
      { method: "ldap", realm: "x" },
    ];
    for (const claim of claims) {
      const identity: AuthContext = { user: "alice", groups: ["admins"], roles: [], ...claim };
      for (const [name, provider] of Object.entries(providers)) {
        expect([name, provider.renew(identity)]).toEqual([name, undefined]);
      }
    }
    const known: AuthContext = {
      user: "alice",
      groups: ["admins"],
      roles: ["a"],
      method: "static",
    };
    // Groups are those of now, never those that the session came with.
    expect(providers.static.renew(known)).toMatchObject({ groups: [], roles: [] });
    expect(providers.none.renew(known)).toBeUndefined();
  });
});

describe("an allow list", () => {
  it("names exactly one user: no other case, no other normal form, no name of the language", async () => {
    const authorization = { allowUsers: ["zo\u00eb", "alice"] };
    const lists = allowListAuthorizer({ own: { authorization } }, { groups: [], roles: [] });
    const { signal } = new AbortController();
    const may = (user: string, groups: readonly string[] = []) =>
      lists.mayUse({ user, groups, roles: [], method: "oidc" }, "own", signal);
    expect(await may("alice")).toBe(true);
    expect(await may("zo\u00eb")).toBe(true);
    const others = [
      "Alice",
      "ALICE",
      "zoe\u0308",
      "alice ",
      "\u0430lice",
      "__proto__",
      "constructor",
      "",
    ];
    for (const user of others) expect([user, await may(user, ["alice"])]).toEqual([user, false]);
    expect(
      await lists.mayUse(
        { user: "alice", groups: [], roles: [], method: "oidc" },
        "__proto__",
        signal,
      ),
    ).toBe(false);
  });
});

describe("what is remembered", () => {
  it("of verified logins has an end, and the oldest goes first", () => {
    const host = virtualHost(1);
    const verified = new VerifiedLogins<number>(host);
    const keyOf = (n: number): string => verified.key(["user", `${n}`]);
    for (let n = 0; n < 10_001; n += 1) verified.add(keyOf(n), n);
    expect(verified.get(keyOf(0))).toBeUndefined();
    expect(verified.get(keyOf(1))).toBe(1);
    expect(verified.get(keyOf(10_000))).toBe(10_000);
  });

  it("of a login is found by exactly its parts, wherever one ends and the next begins", () => {
    const verified = new VerifiedLogins<boolean>(virtualHost(1));
    const splits = [
      ["ab", "c"],
      ["a", "bc"],
      ["abc"],
      ["abc", ""],
      ["", "abc"],
      ["1:a", "bc"],
      ["a", "1:b", "c"],
    ];
    expect(new Set(splits.map((parts) => verified.key(parts))).size).toBe(splits.length);
    const other = new VerifiedLogins<boolean>(virtualHost(2));
    expect(other.key(["a"])).not.toBe(verified.key(["a"]));
  });
});

/** Logins at users whose password is "right". */
function guessed() {
  const virtual = virtualHost(1);
  const start = (): Thread => {
    let answer: (message: unknown) => void = () => {};
    return {
      post: (message) => {
        const { id, password } = message as { readonly id: number; readonly password: string };
        answer({ id, match: password === "right", hash: "" });
      },
      onMessage: (handle) => {
        answer = handle;
      },
      onExit: () => {},
      ref: () => {},
      terminate: async () => {},
    };
  };
  const host = { ...virtual, threads: { start } };
  const users = Object.fromEntries(
    ["alice", "mallory", "another"].map((name) => [name, { passwordHash, groups: [], roles: [] }]),
  );
  const authenticator = staticAuthenticator({ required: true, staticUsers: { users } }, host);
  const ask = (user: string, text: string, address: string) =>
    authenticator.authenticate(
      { kind: "password", user, password: new Secret(text) },
      { frontend, address },
    );
  let count = 0;
  /** Lets the time pass that an answer waits for. */
  const answered = async (asked: ReturnType<typeof ask>): Promise<boolean> => {
    await virtual.advance(5_000);
    return (await asked).ok;
  };
  return {
    guess: async (user: string, address: string) =>
      expect(await answered(ask(user, `guess ${(count += 1)}`, address))).toBe(false),
    login: async (user: string, address: string) =>
      expect(await answered(ask(user, "right", address))).toBe(true),
    /** True when of two attempts at once the second one has to wait. */
    waiting: (user: string, address: string): boolean => {
      const before = virtual.timerCount;
      for (const text of ["one", "two"]) void ask(user, text, address);
      return virtual.timerCount > before;
    },
  };
}
