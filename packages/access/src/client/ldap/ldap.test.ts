import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { certificateOf } from "@gateway/frontends/listener/rig/certificate.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { Login } from "@gateway/core/port/authenticator.ts";
import { virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import type { Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { egressBy } from "@gateway/gateway/host/egress.ts";
import { FakeLdap, type FakeLdapOptions, type LdapEntry } from "../../../../../test/fake/ldap.ts";
import { ldapSchema } from "./config.ts";
import { ldapAuthenticator } from "./ldap.ts";

const at = { frontend: "postgresWire", address: "127.0.0.1" };
const base = "dc=example,dc=org";
const people = `ou=people,${base}`;

const entries: readonly LdapEntry[] = [
  { dn: `cn=gateway,${base}`, attributes: {}, password: "search-secret" },
  userOf("alice", "alice-secret"),
  userOf("zoë", "zoe-secret"),
  userOf("twin", "twin-secret", "cn=one"),
  userOf("twin", "twin-secret", "cn=two"),
  groupOf("readers", [`uid=alice,${people}`, `uid=zoë,${people}`]),
  groupOf("writers", [`uid=bob,${people}`]),
];

const searching = {
  bindDn: `cn=gateway,${base}`,
  bindPassword: "search-secret",
  userSearchBase: people,
  groupSearchBase: `ou=groups,${base}`,
};

describe("ldapAuthenticator", () => {
  it("finds the user, binds with its password, and takes its groups", async () => {
    await using tested = await testedOf();
    expect(await tested.login("alice", "alice-secret")).toMatchObject({
      ok: true,
      value: {
        identity: { user: "alice", groups: ["readers"], roles: [], method: "ldap" },
        credential: { kind: "password", user: "alice" },
      },
    });
    expect(await tested.login("zoë", "zoe-secret")).toMatchObject({
      ok: true,
      value: { identity: { user: "zoë", groups: ["readers"] } },
    });
  });

  it("takes attributes of the entry that are named, and nobody with a value that can be none", async () => {
    const config = { ...searching, attributes: { region: "l", teams: "ou", gone: "title" } };
    const attributesOf = (...ou: readonly string[]) => ({ uid: ["alice"], l: ["EU"], ou });
    const loginWith = async (ou: readonly string[]) => {
      const alice = { ...userOf("alice", "alice-secret"), attributes: attributesOf(...ou) };
      const found = [...entries.slice(0, 1), alice];
      await using tested = await testedOf({ config, entries: found });
      const login = await tested.login("alice", "alice-secret");
      if (!login.ok) return login;
      // A session that began under other attributes ends.
      const ldap = ldapSchema.parse({ url: tested.fake.url, ...searching });
      const options = { required: true, sessionMaxSecs: 3_600, ldap };
      await using other = ldapAuthenticator(options, tested.host);
      expect(other.renew(login.value.identity)).toBeUndefined();
      return login;
    };
    expect(await loginWith(["a", "b"])).toMatchObject({
      value: { identity: { attributes: { region: "EU", teams: ["a", "b"] } } },
    });
    expect(codeOf(await loginWith(["a", "b\u0000"]))).toBe("auth.refused");
    expect(codeOf(await loginWith(["x".repeat(257)]))).toBe("auth.refused");
  });

  it("calls a user as the directory does, whatever spelling was shown", async () => {
    await using tested = await testedOf();
    const login = await tested.login("ALICE", "alice-secret");
    expect(login).toMatchObject({ ok: true, value: { identity: { user: "alice" } } });
  });

  it("refuses a wrong password, an unknown name and a name of two after the same requests", async () => {
    await using tested = await testedOf();
    for (const name of ["alice", "mallory", "twin"]) {
      const before = tested.fake.binds.length;
      expect(codeOf(await tested.login(name, "wrong"))).toBe("auth.refused");
      expect(tested.fake.binds.length - before).toBe(2);
    }
    expect(codeOf(await tested.login("twin", "twin-secret"))).toBe("auth.refused");
  });

  it("asks the directory nothing about an empty password, a name that is none, or another credential", async () => {
    await using tested = await testedOf();
    for (const [name, password] of [
      ["alice", ""],
      ["", "x"],
      ["alice", "\0"],
      ["alice", "x".repeat(1_025)],
      ["alice\0", "alice-secret"],
      [" alice", "alice-secret"],
      ["anonymous", "x"],
      ["al\u00adice", "alice-secret"],
    ] as const) {
      expect(codeOf(await tested.login(name, password))).toBe("auth.refused");
    }
    const token = new Secret("ey.ey.ey");
    const bearer = { kind: "bearer", token, claimedUser: undefined } as const;
    expect(codeOf(await tested.authenticator.authenticate(bearer, at))).toBe("auth.refused");
    expect(tested.fake.connections).toBe(0);
  });

  it("binds by a template without a search, and reads groups as the user", async () => {
    const config = { userDnTemplate: `uid={},${people}`, groupSearchBase: `ou=groups,${base}` };
    await using tested = await testedOf({ config });
    const login = await tested.login("Alice", "alice-secret");
    expect(login).toMatchObject({
      ok: true,
      value: { identity: { user: "alice", groups: ["readers"] } },
    });
    expect(codeOf(await tested.login(`alice,${people}`, "alice-secret"))).toBe("auth.refused");
    expect(tested.fake.binds).toHaveLength(2);
    expect(tested.fake.shapes).toEqual(new Set(["(member equal)"]));
  });

  it("takes as long for a name of nobody as the directory takes to compare a password", async () => {
    await using tested = await testedOf();
    tested.fake.beforeBind = async (known) => {
      if (known) await tested.host.advance(80);
    };
    const tookMs = async (user: string): Promise<number> => {
      const fromMs = tested.host.clock.nowMs();
      const watch = { done: false };
      const asked = tested.login(user, "wrong").finally(() => {
        watch.done = true;
      });
      // Real sockets answer while the virtual clock stands, until somebody waits for it.
      while (!watch.done) await (tested.host.timerCount > 1 ? tested.host.advance(1) : turn());
      expect(codeOf(await asked)).toBe("auth.refused");
      return tested.host.clock.nowMs() - fromMs;
    };
    // The search account's own bind takes as long, so a login is two of them.
    const known = await tookMs("alice");
    const unknown = await tookMs("mallory");
    expect(known).toBe(160);
    expect(unknown).toBe(160);
  });

  it("lets in who a certificate names, with the groups of the directory and nothing to pass through", async () => {
    await using tested = await testedOf();
    expect(await tested.certified(["alice"])).toMatchObject({
      ok: true,
      value: {
        identity: { user: "alice", groups: ["readers"], method: "ldap" },
        credential: { kind: "none" },
      },
    });
    expect(tested.fake.binds).not.toContain(`uid=alice,${people}`);
    const asked = tested.fake.binds.length;
    expect((await tested.certified(["alice"], "alice")).ok).toBe(true);
    expect(tested.fake.binds.length).toBe(asked);
    expect((await tested.certified(["web.example", "alice"], "alice")).ok).toBe(true);
  });

  it("refuses a certificate of nobody, of two, of another name than is claimed, and of a name that is only like one", async () => {
    await using tested = await testedOf();
    const wrong = [
      [["mallory"], undefined],
      [["twin"], "twin"],
      [["alice"], "zoë"],
      [["alice", "zoë"], undefined],
      [[], "alice"],
      [["*"], undefined],
      [["alice)(uid=*"], undefined],
      [["\uff41lice"], undefined],
      [["anonymous"], undefined],
      [[""], ""],
    ] as const;
    for (const [names, user] of wrong) {
      expect([names, codeOf(await tested.certified(names, user))]).toEqual([names, "auth.refused"]);
    }
    // What is remembered of a certificate is no password of the same name.
    expect((await tested.certified(["alice"])).ok).toBe(true);
    expect(codeOf(await tested.login("alice", ""))).toBe("auth.refused");
    expect(codeOf(await tested.login("certificate", "alice"))).toBe("auth.refused");
  });

  it("looks by a template whether the entry of a certificate is there", async () => {
    const { bindDn, bindPassword } = searching;
    const config = { userDnTemplate: `uid={},${people}`, bindDn, bindPassword };
    await using tested = await testedOf({ config });
    expect((await tested.certified(["alice"])).ok).toBe(true);
    expect(codeOf(await tested.certified(["mallory"]))).toBe("auth.refused");
  });

  it("calls nobody by a name that leads to two entries, whichever name was shown", async () => {
    const mail = (dn: string, uid: readonly string[], address: string): LdapEntry => ({
      dn: `${dn},${people}`,
      attributes: { uid, mail: [address] },
      password: "secret",
    });
    const withMail = [
      mail("cn=1", ["carol"], "carol@example.org"),
      mail("cn=2", ["dave"], "dave@example.org"),
      mail("cn=3", ["dave"], "mallory@example.org"),
    ];
    const config = { userSearchBase: people, userSearchFilter: "(|(uid={})(mail={}))" };
    await using tested = await testedOf({ config, entries: withMail });
    const carol = await tested.login("carol@example.org", "secret");
    expect(carol).toMatchObject({ ok: true, value: { identity: { user: "carol" } } });
    expect(codeOf(await tested.login("mallory@example.org", "secret"))).toBe("auth.refused");
    expect(codeOf(await tested.login("dave", "secret"))).toBe("auth.refused");
  });

  it("asks the directory once a minute, and lets the session last as long as it is told", async () => {
    await using tested = await testedOf();
    await tested.login("alice", "alice-secret");
    const asked = tested.fake.binds.length;
    const again = await tested.login("alice", "alice-secret");
    expect(tested.fake.binds.length).toBe(asked);
    const { expiresAtMs } = again.ok ? again.value.identity : {};
    expect(expiresAtMs).toBe(tested.host.clock.unixMs() + 3_600_000);
    await tested.host.advance(61_000);
    await tested.login("alice", "alice-secret");
    expect(tested.fake.binds.length).toBeGreaterThan(asked);
  });

  it.each(["silent", "garbage", "endless", "referring", "hangingUp", "busy"] as const)(
    "refuses as unavailable within its time limit while the directory is %s, and recovers",
    async (mood) => {
      await using tested = await testedOf();
      tested.fake.mood = mood;
      const answer = await settled(tested.host, tested.login("alice", "alice-secret"));
      expect(codeOf(answer)).toBe("auth.unavailable");
      expect(tested.host.clock.nowMs()).toBeLessThanOrEqual(5_010);
      tested.fake.mood = "well";
      expect((await tested.login("alice", "alice-secret")).ok).toBe(true);
    },
  );

  it("gives every login its turn on few connections", async () => {
    await using tested = await testedOf({ config: { ...searching, poolSize: 2 } });
    const logins = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        tested.login("alice", n % 2 === 0 ? "alice-secret" : `${n}`),
      ),
    );
    expect(logins.filter(({ ok }) => ok)).toHaveLength(20);
    expect(tested.fake.connections).toBe(2);
  });

  it("lets no address with many logins in line take the turn of another", async () => {
    await using tested = await testedOf({ config: { ...searching, poolSize: 1 } });
    tested.fake.mood = "silent";
    const over: string[] = [];
    const from = (address: string, n: number): Promise<unknown> => {
      const password = new Secret(`${n}`);
      const shown = { kind: "password", user: "alice", password } as const;
      const asked = tested.authenticator.authenticate(shown, { ...at, address });
      return asked.then((answer) => over.push(`${address} ${n} ${codeOf(answer)}`));
    };
    // One of them has the connection, and the line is full.
    const crowd = Array.from({ length: 257 }, (_, n) => from("192.0.2.1", n));
    const newcomer = from("192.0.2.2", 0);
    await Promise.race(crowd);
    expect(over).toEqual(["192.0.2.1 256 auth.unavailable"]);
    await settled(tested.host, Promise.all([...crowd, newcomer]));
  });

  it("connects to no address that the process may not connect to", async () => {
    await using fake = await FakeLdap.start({ entries });
    const ldap = ldapSchema.parse({ url: fake.url, ...searching });
    const host = { ...virtualHost(1), egress: egressBy(() => true) };
    await using authenticator = ldapAuthenticator(
      { required: true, sessionMaxSecs: 60, ldap },
      host,
    );
    const shown = {
      kind: "password",
      user: "alice",
      password: new Secret("alice-secret"),
    } as const;
    expect(codeOf(await authenticator.authenticate(shown, at))).toBe("auth.unavailable");
    expect(fake.connections).toBe(0);
  });

  it("names no user, password or text of the directory in its log", async () => {
    await using tested = await testedOf();
    await tested.login("alice", "wrong-canary");
    tested.fake.mood = "busy";
    await tested.login("alice", "alice-canary");
    const lines = JSON.stringify(tested.host.log.lines);
    expect(lines).toContain("result 51");
    expect(lines).not.toMatch(/alice|canary|search-secret/);
  });
});

describe("the connection to a directory with TLS", () => {
  let folder: string;
  const certificate = certificateOf("localhost");
  const stranger = certificateOf("localhost");
  const caFileOf = (name: string): string => join(folder, name);

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "ldap-"));
    writeFileSync(caFileOf("ca.pem"), certificate.cert);
    writeFileSync(caFileOf("stranger.pem"), stranger.cert);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([true, false])("verifies the certificate (ldaps: %s)", async (ldaps) => {
    const config = { ...searching, startTls: !ldaps, caFile: caFileOf("ca.pem") };
    await using tested = await testedOf({ config, tls: certificate, ldaps });
    expect((await tested.login("alice", "alice-secret")).ok).toBe(true);
  });

  it.each([true, false])("says nothing to a stranger (ldaps: %s)", async (ldaps) => {
    const config = { ...searching, startTls: !ldaps, caFile: caFileOf("stranger.pem") };
    await using tested = await testedOf({ config, tls: certificate, ldaps });
    expect(codeOf(await tested.login("alice", "alice-secret"))).toBe("auth.unavailable");
    expect(tested.fake.binds).toEqual([]);
  });

  it("takes nothing that came in clear for an answer", async () => {
    const config = { ...searching, startTls: true, caFile: caFileOf("ca.pem") };
    await using tested = await testedOf({ config, tls: certificate });
    tested.fake.mood = "injecting";
    expect(codeOf(await tested.login("alice", "wrong"))).toBe("auth.unavailable");
  });

  it("says nothing to a directory that has no TLS", async () => {
    await using tested = await testedOf({ config: { ...searching, startTls: true } });
    expect(codeOf(await tested.login("alice", "alice-secret"))).toBe("auth.unavailable");
    expect(tested.fake.binds).toEqual([]);
  });
});

interface Tested extends AsyncDisposable {
  readonly host: VirtualHost;
  readonly fake: FakeLdap;
  readonly authenticator: ReturnType<typeof ldapAuthenticator>;
  login(user: string, password: string): Promise<Result<Login, GatewayError>>;
  certified(names: readonly string[], user?: string): Promise<Result<Login, GatewayError>>;
}

interface Setting extends Partial<FakeLdapOptions> {
  readonly config?: object;
}

async function testedOf({ config = searching, ...options }: Setting = {}): Promise<Tested> {
  const host = virtualHost(1);
  const fake = await FakeLdap.start({ entries, ...options });
  const ldap = ldapSchema.parse({ url: fake.url, ...config });
  const authenticator = ldapAuthenticator({ required: true, sessionMaxSecs: 3_600, ldap }, host);
  return {
    host,
    fake,
    authenticator,
    login: (user, password) =>
      authenticator.authenticate({ kind: "password", user, password: new Secret(password) }, at),
    certified: (names, user) =>
      authenticator.authenticate({ kind: "certificate", user, names }, at),
    [Symbol.asyncDispose]: async () => {
      await authenticator[Symbol.asyncDispose]();
      await fake[Symbol.asyncDispose]();
    },
  };
}

/** A turn of the event loop, in which sockets are read. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Moves virtual time while real sockets answer. */
async function settled<Value>(host: VirtualHost, promise: Promise<Value>): Promise<Value> {
  const watch = { done: false };
  const watched = promise.finally(() => {
    watch.done = true;
  });
  while (!watch.done) await host.advance(1);
  return watched;
}

function codeOf(answer: Result<Login, GatewayError>): string {
  return answer.ok ? "let in" : answer.error.code;
}

function userOf(uid: string, password: string, rdn = `uid=${uid}`): LdapEntry {
  return { dn: `${rdn},${people}`, attributes: { uid: [uid] }, password };
}

function groupOf(cn: string, member: readonly string[]): LdapEntry {
  return { dn: `cn=${cn},ou=groups,${base}`, attributes: { cn: [cn], member } };
}
