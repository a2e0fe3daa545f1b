import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Login, Presented } from "@gateway/core/port/authenticator.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import { virtualHost, virtualStartUnixMs, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import type { Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { egressBy } from "@gateway/gateway/host/egress.ts";
import { FakeOidc } from "../../../../../test/fake/oidc.ts";
import type { ClosableAuthenticator } from "../provider.ts";
import { oidcSchema, type OidcConfig } from "./config.ts";
import { oidcAuthenticator } from "./oidc.ts";

const at = { frontend: "trinoHttp", address: "127.0.0.1" };

let fake: FakeOidc;
beforeAll(async () => {
  fake = await FakeOidc.start();
  fake.nowSecs = () => virtualStartUnixMs / 1_000;
});
afterAll(() => fake[Symbol.asyncDispose]());

describe("oidcAuthenticator", () => {
  it("takes a token of the provider, with names from nested claims and the token as the credential", async () => {
    await using tested = testedOf({ groupsClaim: "groups", rolesClaim: "realm_access.roles" });
    const token = await fake.token({
      claims: { groups: "readers", realm_access: { roles: ["analyst", "analyst"] } },
    });
    const login = await tested.show(token);
    expect(login).toMatchObject({
      ok: true,
      value: {
        identity: {
          user: "alice",
          groups: ["readers"],
          roles: ["analyst"],
          method: "oidc",
          expiresAtMs: virtualStartUnixMs + 360_000,
        },
        credential: { kind: "bearer" },
      },
    });
    expect(JSON.stringify(login)).not.toContain(token);
  });

  it("takes attributes from the claims that are named, and no token with one that can be none", async () => {
    await using tested = testedOf({
      attributeClaims: { region: "address.region", level: "level", teams: "teams", gone: "gone" },
    });
    const shown = async (claims: Readonly<Record<string, unknown>>) =>
      await tested.show(await fake.token({ claims }));
    expect(
      await shown({ address: { region: "EU" }, level: 3, teams: ["a", true], extra: "x" }),
    ).toMatchObject({
      value: { identity: { attributes: { region: "EU", level: "3", teams: ["a", "true"] } } },
    });
    for (const claims of [
      { level: {} },
      { teams: [["a"]] },
      { level: "a\u0000b" },
      { level: "" },
    ]) {
      expect(codeOf(await shown(claims))).toBe("auth.refused");
    }
  });

  it("names the issuer, so that clients learn where to get a token", async () => {
    const oidc = oidcSchema.parse({ issuer: fake.issuer, audience: "gateway" });
    await using authenticator = oidcAuthenticator({ required: true, oidc }, virtualHost(1));
    expect(authenticator.takesTokens).toBe(true);
    expect(authenticator.tokenIssuer).toBe(fake.issuer);
  });

  it("takes a token as the password of the user it names, and of nobody else", async () => {
    await using tested = testedOf();
    const token = new Secret(await fake.token());
    const as = (user: string) => tested.present({ kind: "password", user, password: token });
    expect((await as("alice")).ok).toBe(true);
    expect(codeOf(await as("bob"))).toBe("auth.refused");
    expect(codeOf(await tested.show(token.reveal(), "bob"))).toBe("auth.refused");
    const word = { kind: "password", user: "alice", password: new Secret("alice") } as const;
    expect(codeOf(await tested.present(word))).toBe("auth.refused");
  });

  it("verifies a token it saw a moment ago without asking for anything, until it expires", async () => {
    await using tested = testedOf();
    const token = await fake.token({ claims: { exp: virtualStartUnixMs / 1_000 + 5 } });
    expect((await tested.show(token)).ok).toBe(true);
    const asked = fake.asked.length;
    expect((await tested.show(token)).ok).toBe(true);
    await tested.host.advance(64_000);
    expect((await tested.show(token)).ok).toBe(true);
    // With what clocks may differ it ends at this very millisecond, as it would if it were verified anew.
    await tested.host.advance(1_000);
    expect(codeOf(await tested.show(token))).toBe("auth.refused");
    expect(fake.asked.length).toBe(asked);
  });

  it("lets in at once whom it saw a moment ago, however many guesses come from the same address", async () => {
    await using tested = testedOf();
    const token = await fake.token();
    expect((await tested.show(token)).ok).toBe(true);
    for (let n = 0; n < 110; n += 1) void tested.show("no.token.at-all");
    await tested.host.settle();
    const atOnce = async (shown: string) =>
      await Promise.race([
        tested.show(shown).then(codeOf),
        tested.host.settle().then(() => "waits"),
      ]);
    expect(await atOnce(token)).toBe("let in");
    expect(await atOnce(await fake.token({ claims: { sub: "bob" } }))).toBe("waits");
  });

  it("refuses what is no access token of this issuer for this audience", async () => {
    await using tested = testedOf({ groupsClaim: "groups" });
    const now = virtualStartUnixMs / 1_000;
    const wrong: readonly Record<string, unknown>[] = [
      { iss: `${fake.issuer}/` },
      { iss: `${fake.issuer}.evil.example` },
      { iss: undefined },
      { aud: "gateway other" },
      { aud: ["other", "gateways"] },
      { aud: undefined },
      { exp: undefined },
      { exp: now - 61 },
      { exp: String(now + 60) },
      { exp: 1e300 },
      { nbf: now + 61 },
      { iat: now + 61 },
      { typ: "ID" },
      { typ: "Refresh" },
      { nonce: "n" },
      { at_hash: "x" },
      { cnf: { jkt: "x" } },
      { sub: "" },
      { sub: 7 },
      { sub: undefined },
      { sub: "anonymous" },
      { sub: "Ａnonymous" },
      { sub: "al\u0000ice" },
      { sub: "al\u202eice" },
      { sub: "x".repeat(257) },
      { groups: 7 },
      { groups: ["a", 7] },
      { groups: Array.from({ length: 1_001 }, (_, n) => `g${n}`) },
      { groups: { a: 1 } },
    ];
    const accepted: Record<string, unknown>[] = [];
    for (const claims of wrong) {
      const answer = await tested.show(await fake.token({ claims }));
      if (codeOf(answer) !== "auth.refused") accepted.push(claims);
    }
    expect(accepted).toEqual([]);
    const several = await fake.token({ claims: { aud: ["other", "gateway"], exp: now - 59 } });
    expect((await tested.show(several)).ok).toBe(true);
  });

  it("calls nobody by an address that the provider does not vouch for, and asks that of no other name", async () => {
    const shownBy = async (usernameClaim: string, verified: boolean) => {
      await using tested = testedOf({ usernameClaim });
      const claims = { email: "alice@example.org", email_verified: verified };
      const answer = await tested.show(await fake.token({ claims }));
      return answer.ok ? answer.value.identity.user : answer.error.code;
    };
    expect(await shownBy("email", false)).toBe("auth.refused");
    expect(await shownBy("email", true)).toBe("alice@example.org");
    expect(await shownBy("sub", false)).toBe("alice");
  });

  it("goes where no header of a token points, and takes no extension it does not know", async () => {
    await using tested = testedOf();
    const before = fake.asked.length;
    const pointing = { jku: `${fake.issuer}/jku`, x5u: `${fake.issuer}/x5u`, x5c: ["AA"] };
    expect((await tested.show(await fake.token({ header: pointing }))).ok).toBe(true);
    const bound = { crit: ["x-known"], "x-known": 1 };
    expect(codeOf(await tested.show(await fake.token({ header: bound })))).toBe("auth.refused");
    const asked = fake.asked.slice(before);
    expect(asked).toEqual(["/realm/.well-known/openid-configuration", "/realm/keys"]);
  });

  it("keeps letting in whom it knows while the provider is down, and refuses within the time limit when it has no key", async () => {
    await using provider = await providerOf();
    await using tested = testedOf({ issuer: provider.issuer });
    const token = await provider.token();
    await provider.stop();
    expect(codeOf(await tested.show(token))).toBe("auth.unavailable");
    await provider.restart();
    await tested.host.advance(1_100);
    expect((await tested.show(token)).ok).toBe(true);
    await provider.stop();
    await tested.host.advance(11 * 60_000);
    const later = await provider.token({
      claims: { exp: virtualStartUnixMs / 1_000 + 3_600 },
    });
    expect((await tested.show(later)).ok).toBe(true);
  });

  it.each(["silent", "nonsense", "endless", "redirecting", "lying", "failing"] as const)(
    "refuses as unavailable while the provider is %s",
    async (mood) => {
      await using provider = await providerOf();
      provider.mood = mood;
      await using tested = testedOf({ issuer: provider.issuer });
      const answer = await settled(tested.host, tested.show(await provider.token()));
      expect(codeOf(answer)).toBe("auth.unavailable");
      expect(tested.host.clock.nowMs()).toBeLessThanOrEqual(5_010);
      expect(provider.asked).not.toContain("/realm/elsewhere");
    },
  );

  it("follows new keys, forgets withdrawn ones, and asks once for a thousand unknown ones", async () => {
    await using provider = await providerOf();
    await using tested = testedOf({ issuer: provider.issuer });
    const old = await provider.token();
    expect((await tested.show(old)).ok).toBe(true);
    await provider.rotate();
    await tested.host.advance(31_000);
    expect((await tested.show(await provider.token())).ok).toBe(true);
    expect(codeOf(await tested.show(old))).toBe("auth.refused");
    const before = provider.asked.length;
    await tested.host.advance(31_000);
    const invented = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) => provider.token({ header: { kid: `made-up-${n}` } })),
    );
    const answers = await settled(
      tested.host,
      Promise.all(invented.map((one) => tested.show(one))),
    );
    expect(new Set(answers.map(codeOf))).toEqual(new Set(["auth.refused"]));
    expect(provider.asked.length - before).toBe(2);
  });

  it("asks for its keys once, however many log in, until they are old", async () => {
    await using provider = await providerOf();
    await using tested = testedOf({ issuer: provider.issuer });
    const later = { exp: virtualStartUnixMs / 1_000 + 7_200 };
    const logIn = async (sub: string): Promise<boolean> =>
      (await tested.show(await provider.token({ claims: { ...later, sub } }))).ok;
    for (const user of ["ann", "bob", "cyd"]) expect(await logIn(user)).toBe(true);
    await tested.host.advance(60_000);
    expect(await logIn("dan")).toBe(true);
    expect(provider.asked).toHaveLength(2);
  });

  it("asks for old keys when it remembers a login, and lets it in no longer than its key is known", async () => {
    await using provider = await providerOf();
    await using tested = testedOf({ issuer: provider.issuer });
    const later = { exp: virtualStartUnixMs / 1_000 + 7_200 };
    expect((await tested.show(await provider.token({ claims: later }))).ok).toBe(true);
    await tested.host.advance(10 * 60_000);
    const token = await provider.token({ claims: { ...later, sub: "bob" } });
    expect((await tested.show(token)).ok).toBe(true);
    await provider.rotate();
    await tested.host.advance(1);
    expect((await tested.show(token)).ok).toBe(true);
    await expect.poll(async () => codeOf(await tested.show(token))).toBe("auth.refused");
  });

  it("connects to no address that the process may not connect to", async () => {
    await using provider = await providerOf();
    const host = { ...virtualHost(1), egress: egressBy(() => true) };
    const config = {
      required: true,
      oidc: oidcSchema.parse({ issuer: provider.issuer, audience: "gateway" }),
    };
    await using authenticator = oidcAuthenticator(config, host);
    const token = new Secret(await provider.token());
    const answer = await authenticator.authenticate(
      { kind: "bearer", token, claimedUser: undefined },
      at,
    );
    expect(codeOf(answer)).toBe("auth.unavailable");
    expect(provider.asked).toEqual([]);
  });

  it("ends sessions that other settings or another provider verified", async () => {
    await using tested = testedOf();
    const login = await tested.show(await fake.token());
    if (!login.ok) throw new Error("not let in");
    const { identity } = login.value;
    expect(tested.authenticator.renew(identity)).toBe(identity);
    expect(tested.authenticator.renew({ ...identity, method: "ldap" })).toBeUndefined();
    await using other = testedOf({ audience: "another" });
    expect(other.authenticator.renew(identity)).toBeUndefined();
    await using more = testedOf({ attributeClaims: { region: "region" } });
    expect(more.authenticator.renew(identity)).toBeUndefined();
  });
});

describe("oidcSchema", () => {
  it("asks for an audience, and for a way to the keys that nobody can write on", () => {
    const pathsFor = (oidc: object): readonly string[] => {
      const parsed = oidcSchema.safeParse(oidc);
      return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join("."));
    };
    const issuer = "https://id.example.com";
    expect(pathsFor({ issuer })).toEqual(["audience"]);
    expect(pathsFor({ issuer, audience: "" })).toEqual(["audience"]);
    expect(pathsFor({ issuer: "http://id.example.com", audience: "a" })).toEqual(["issuer"]);
    expect(pathsFor({ issuer, audience: "a", jwksUri: "file:///etc/passwd" })).toEqual(["jwksUri"]);
    expect(pathsFor({ issuer: "http://localhost:1", audience: "a" })).toEqual([]);
    expect(pathsFor({ issuer, audience: "a", groupsClaim: "a..b" })).toEqual(["groupsClaim"]);
    expect(pathsFor({ issuer, audience: "a", groupsClaim: "https://a.example/groups" })).toEqual(
      [],
    );
  });
});

async function providerOf(): Promise<FakeOidc> {
  const provider = await FakeOidc.start();
  provider.nowSecs = () => virtualStartUnixMs / 1_000;
  return provider;
}

interface Tested extends AsyncDisposable {
  readonly host: VirtualHost;
  readonly authenticator: ClosableAuthenticator;
  present(presented: Presented): Promise<Result<Login, GatewayError>>;
  show(token: string, claimedUser?: string): Promise<Result<Login, GatewayError>>;
}

function testedOf(more: Partial<OidcConfig> = {}): Tested {
  const host = virtualHost(1);
  const oidc = oidcSchema.parse({ issuer: fake.issuer, audience: "gateway", ...more });
  const authenticator = oidcAuthenticator({ required: true, oidc }, host);
  const present = (presented: Presented) => authenticator.authenticate(presented, at);
  return {
    host,
    authenticator,
    present,
    show: (text, claimedUser) => present({ kind: "bearer", token: new Secret(text), claimedUser }),
    [Symbol.asyncDispose]: () => authenticator[Symbol.asyncDispose](),
  };
}

/** Moves virtual time while real sockets answer. */
async function settled<Value>(host: VirtualHost, promise: Promise<Value>): Promise<Value> {
  const watch = { done: false };
  const watched = promise.finally(() => {
    watch.done = true;
  });
  while (!watch.done) await host.advance(10);
  return watched;
}

function codeOf(answer: Result<Login, GatewayError>): string {
  return answer.ok ? "let in" : answer.error.code;
}
