/** Logins by tokens of a real provider of identities, by a directory, and groups by OpenFGA: the same credentials through every client. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { oidcAuthenticator } from "@gateway/access/client/oidc/oidc.ts";
import { oidcSchema } from "@gateway/access/client/oidc/config.ts";
import { certificateOf } from "@gateway/frontends/listener/rig/certificate.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { Secret } from "@gateway/core/secret.ts";
import { hashSync } from "bcryptjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeLdap } from "../fake/ldap.ts";
import { OidcServer } from "../fake/oidcServer.ts";
import { FakeOpenFga } from "../fake/openfga.ts";
import { adminOf } from "./admin.ts";
import { askTrino, clients } from "./clients.ts";
import { configOf, gatewayOf, type TestGateway } from "./gateway.ts";

const sql = "select 7";
const refusals = {
  pg: "28P01",
  mysql2: "1045",
  mariadb: "1045",
  "trino over HTTP": "401",
} as const;

/** Only whom the provider says is a reader. */
const readersOnly = {
  clusterGroups: {
    default: {
      members: ["local"],
      maxRunningQueries: 4,
      authorization: { allowGroups: ["readers"] },
    },
  },
};

describe("tokens of a provider of identities", () => {
  // A token is longer than what MySQL's clients can encrypt by themselves, so they need TLS.
  const { cert: ca, key } = certificateOf("localhost");
  let folder: string;
  let provider: OidcServer;
  let gateway: TestGateway;
  let alice: string;

  beforeAll(async () => {
    provider = await OidcServer.start();
    alice = await provider.tokenFor("alice");
    const { issuer } = provider;
    const oidc = { issuer, audience: "gateway", groupsClaim: "realm_access.groups" };
    folder = mkdtempSync(join(tmpdir(), "providers-"));
    const tls = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
    writeFileSync(tls.certFile, ca);
    writeFileSync(tls.keyFile, key);
    const config = configOf({ auth: { provider: "oidc", oidc }, ...readersOnly }, { tls });
    gateway = await gatewayOf(config);
  }, 30_000);

  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  it.each(clients)("are the password through %s, of their own user only", async (name, ask) => {
    const refused = refusals[name];
    const login = (user: string, password: string) => ask(gateway, { sql, user, password, ca });
    expect(await login("alice", alice)).toBe("7");
    expect(await login("bob", await provider.tokenFor("bob"))).toBe("7");
    expect(await login("bob", alice)).toBe(refused);
    expect(await login("alice", alice.slice(0, -8) + "A".repeat(8))).toBe(refused);
    expect(await login("alice", "alice")).toBe(refused);
    expect(await login("alice", "")).toBe(refused);
  });

  it("are taken as bearer tokens, and a name beside one must be its own", async () => {
    const bearing = (token: string, user: string) =>
      askTrino(gateway, { sql, user, ca, headers: { authorization: `Bearer ${token}` } });
    expect(await bearing(alice, "alice")).toBe("7");
    // An empty name is none.
    expect(await bearing(alice, "")).toBe("7");
    expect(await bearing(alice, "bob")).toMatch(/^40[13]$/);
    expect(await bearing(`${alice}=`, "alice")).toBe("401");
    expect(await askTrino(gateway, { sql, user: "alice", ca })).toBe("401");
  });
});

describe("a provider of identities that changes", () => {
  it("is followed to new keys, waited for only so long, and not needed for keys that are known", async () => {
    await using provider = await OidcServer.start();
    const virtual = virtualHost(1);
    const unixMs = (): number => Date.now() + virtual.clock.nowMs();
    const host = { ...virtual, clock: { ...virtual.clock, unixMs } };
    const oidc = oidcSchema.parse({ issuer: provider.issuer, audience: "gateway" });
    await using authenticator = oidcAuthenticator({ required: true, oidc }, host);
    const at = { frontend: "trinoHttp", address: "127.0.0.1" };
    const codeFor = async (text: string): Promise<string> => {
      const token = new Secret(text);
      const shown = { kind: "bearer", token, claimedUser: undefined } as const;
      const watch = { done: false };
      const asked = authenticator.authenticate(shown, at).finally(() => {
        watch.done = true;
      });
      while (!watch.done) await virtual.advance(1);
      const login = await asked;
      return login.ok ? login.value.identity.user : login.error.code;
    };
    const first = await provider.tokenFor("alice");
    provider.slow = true;
    expect(await codeFor(first)).toBe("auth.unavailable");
    provider.slow = false;
    await virtual.advance(1_100);
    expect(await codeFor(first)).toBe("alice");

    provider.rotate();
    const second = await provider.tokenFor("bob");
    await virtual.advance(31_000);
    expect(await codeFor(second)).toBe("bob");
    expect(await codeFor(first)).toBe("auth.refused");

    const third = await provider.tokenFor("alice");
    await provider.stop();
    await virtual.advance(700_000);
    expect(await codeFor(third)).toBe("alice");
  });
});

describe("logins by a directory", () => {
  const base = "dc=example,dc=org";
  const people = `ou=people,${base}`;
  let directory: FakeLdap;
  let gateway: TestGateway;

  beforeAll(async () => {
    const entryOf = (uid: string) => ({
      dn: `uid=${uid},${people}`,
      attributes: { uid: [uid] },
      password: `${uid}-secret`,
    });
    const members = [`uid=alice,${people}`];
    directory = await FakeLdap.start({
      entries: [
        entryOf("alice"),
        entryOf("bob"),
        { dn: `cn=readers,${base}`, attributes: { cn: ["readers"], member: members } },
      ],
    });
    const ldap = { url: directory.url, userSearchBase: people, groupSearchBase: base };
    gateway = await gatewayOf(configOf({ auth: { provider: "ldap", ldap }, ...readersOnly }));
  }, 30_000);

  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  it.each(clients)("take the right password through %s and nothing else", async (name, ask) => {
    const refused = refusals[name];
    expect(await ask(gateway, { sql, user: "alice", password: "alice-secret" })).toBe("7");
    expect(await ask(gateway, { sql, user: "alice", password: "bob-secret" })).toBe(refused);
    expect(await ask(gateway, { sql, user: "mallory", password: "x" })).toBe(refused);
    expect(await ask(gateway, { sql, user: "alice", password: "" })).toBe(refused);
    expect(await ask(gateway, { sql, user: "*", password: "alice-secret" })).toBe(refused);
    const outsider = await ask(gateway, { sql, user: "bob", password: "bob-secret" });
    expect([refused, "7"]).not.toContain(outsider);
  });
});

describe("groups by OpenFGA", () => {
  let fga: FakeOpenFga;
  let gateway: TestGateway;

  beforeAll(async () => {
    fga = await FakeOpenFga.start();
    const passwordHash = hashSync("secret", 6);
    const users = {
      alice: { passwordHash, groups: ["finance"] },
      bob: { passwordHash },
      carol: { passwordHash },
    };
    const open = { members: ["local"], maxRunningQueries: 4 };
    gateway = await gatewayOf(
      configOf({
        auth: { provider: "static", staticUsers: { users } },
        authorization: {
          provider: "openfga",
          openfga: { url: fga.url, storeId: "01S", cacheTtlMs: 0 },
        },
        clusterGroups: {
          first: open,
          second: { ...open, authorization: { allowUsers: ["alice", "bob"] } },
        },
        routingFallback: undefined,
      }),
    );
  }, 30_000);

  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await fga[Symbol.asyncDispose]();
  });

  it("lets a caller into the first group that both the store and the allow list open", async () => {
    const ask = (user: string) => askTrino(gateway, { sql, user, password: "secret" });
    fga.tuples.add("team:finance#member reader cluster_group:second");
    fga.tuples.add("user:carol reader cluster_group:second");
    expect(await ask("alice")).toBe("7");
    expect(await ask("bob")).not.toBe("7");
    expect(await ask("carol")).not.toBe("7");
    fga.mood = "failing";
    expect(await ask("alice")).not.toBe("7");
    fga.mood = "well";
    expect(await ask("alice")).toBe("7");
    const admin = await adminOf(gateway);
    const explained = async (user: string, groups: readonly string[]) =>
      (await admin("POST", "/admin/route-explain", { sql, user, groups })).body;
    expect(await explained("alice", ["finance"])).toMatchObject({ group: "second" });
    expect(await explained("alice", [])).toMatchObject({ refusal: { code: "route.noGroup" } });
    expect(await explained("carol", [])).toMatchObject({ refusal: { code: "route.noGroup" } });
    const objects = new Set(fga.asked.map(({ tuple }) => tuple.object));
    expect(objects).toEqual(new Set(["cluster_group:first", "cluster_group:second"]));
  });
});
