/**
 * One table for every provider and every client: the good, the bad and the missing credential. Each
 * refusal is the protocol's own, is counted under its frontend and reason, and tells nobody who exists.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificateOf } from "@gateway/frontends/listener/rig/certificate.ts";
import { hashSync } from "bcryptjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeLdap } from "../fake/ldap.ts";
import { FakeOidc } from "../fake/oidc.ts";
import { askTrino, basicOf, clients } from "./clients.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const sql = "select 7";
const base = "dc=example,dc=org";
const { cert: ca, key } = certificateOf("localhost");
const folder = mkdtempSync(join(tmpdir(), "credentials-"));
const tls = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };

/** Whether somebody is let in, by the client. */
type Outcome = "in" | "refused";
const refusals = {
  pg: "28P01",
  mysql2: "1045",
  mariadb: "1045",
  "trino over HTTP": "401",
} as const;

let directory: FakeLdap;
let issuer: FakeOidc;
const gateways = new Map<string, TestGateway>();
/** Who a client logs in as: guesses at one name would slow the next client's down. */
const people = {
  pg: "ann",
  mysql2: "ben",
  mariadb: "cat",
  "trino over HTTP": "dan",
  bearer: "eve",
} as const;
type Client = keyof typeof people;
/** Texts that stand for credentials in the table, by the client. */
const texts = new Map<string, string>();

beforeAll(async () => {
  writeFileSync(tls.certFile, ca);
  writeFileSync(tls.keyFile, key);
  issuer = await FakeOidc.start("ES256");
  const exp = Math.floor(Date.now() / 1_000) - 3_600;
  for (const [client, sub] of Object.entries(people)) {
    const token = await issuer.token({ claims: { sub } });
    const shown = {
      right: "own-secret",
      wrong: "own-Secret",
      another: "bob-secret",
      empty: "",
      token,
      "token of bob": await issuer.token({ claims: { sub: "bob" } }),
      "old token": await issuer.token({ claims: { sub, exp } }),
      "token for others": await issuer.token({ claims: { sub, aud: "other" } }),
      "broken token": `${token.slice(0, -8)}${"A".repeat(8)}`,
    };
    for (const [what, text] of Object.entries(shown)) texts.set(`${client}: ${what}`, text);
  }
  const passwords = [
    ...Object.values(people).map((name) => [name, "own-secret"] as const),
    ["bob", "bob-secret"] as const,
  ];
  const entries = passwords.map(([uid, password]) => ({
    dn: `uid=${uid},${base}`,
    attributes: { uid: [uid] },
    password,
  }));
  directory = await FakeLdap.start({ entries });
  const users = Object.fromEntries(
    passwords.map(([name, password]) => [name, { passwordHash: hashSync(password, 4) }]),
  );
  const auths = {
    none: { provider: "none" },
    static: { provider: "static", staticUsers: { users } },
    oidc: { provider: "oidc", oidc: { issuer: issuer.issuer, audience: "gateway" } },
    ldap: { provider: "ldap", ldap: { url: directory.url, userSearchBase: base } },
  };
  for (const [name, auth] of Object.entries(auths)) {
    gateways.set(name, await gatewayOf(configOf({ auth }, { tls })));
  }
}, 60_000);

afterAll(async () => {
  for (const gateway of gateways.values()) await gateway[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** What is shown as the password; `own` is the name of whoever the client is, in the case it is written in. */
const table: readonly (readonly [string, string, string, Outcome])[] = [
  ["none", "own", "right", "in"],
  ["none", "own", "empty", "in"],
  ["none", "nobody", "wrong", "in"],
  ["static", "own", "right", "in"],
  ["static", "own", "wrong", "refused"],
  ["static", "own", "another", "refused"],
  ["static", "own", "empty", "refused"],
  ["static", "own", "token", "refused"],
  ["static", "Own", "right", "refused"],
  ["static", "nobody", "right", "refused"],
  ["static", "anonymous", "right", "refused"],
  ["oidc", "own", "token", "in"],
  ["oidc", "own", "right", "refused"],
  ["oidc", "own", "empty", "refused"],
  ["oidc", "own", "old token", "refused"],
  ["oidc", "own", "token for others", "refused"],
  ["oidc", "own", "broken token", "refused"],
  ["oidc", "own", "token of bob", "refused"],
  ["oidc", "Own", "token", "refused"],
  ["oidc", "anonymous", "token", "refused"],
  ["ldap", "own", "right", "in"],
  ["ldap", "OWN", "right", "in"],
  ["ldap", "own", "wrong", "refused"],
  ["ldap", "own", "another", "refused"],
  ["ldap", "own", "empty", "refused"],
  ["ldap", "own", "token", "refused"],
  ["ldap", "nobody", "right", "refused"],
  ["ldap", "*", "right", "refused"],
  ["ldap", "anonymous", "right", "refused"],
];

describe.each(clients)("a client of %s", (name, ask) => {
  it.each(table)(
    "under %s: %s with the credential '%s' is %s",
    async (provider, user, what, outcome) => {
      const password = textOf(name, what);
      const shown = { sql, user: nameOf(name, user), password, ca };
      const answer = await ask(gatewayOfProvider(provider), shown);
      expect(answer).toBe(outcome === "in" ? "7" : refusals[name]);
    },
  );
});

describe("a Trino client", () => {
  it.each([
    ["none", 'Basic realm="Trino"', "7"],
    ["static", 'Basic realm="Trino"', "401"],
    ["oidc", 'Basic realm="Trino", Bearer realm="Trino", token_type="JWT"', "401"],
    ["ldap", 'Basic realm="Trino"', "401"],
  ])(
    "under %s is told by what it may log in, and a name alone is %s",
    async (provider, challenge, named) => {
      const gateway = gatewayOfProvider(provider);
      expect(await askTrino(gateway, { sql, user: "alice", ca })).toBe(named);
      const malformed = await headersOf(gateway, { authorization: "Digest username=alice" });
      expect(malformed).toEqual(["401", challenge]);
    },
  );

  it.each([
    ["none", "token", "7"],
    ["static", "token", "401"],
    ["static", "right", "401"],
    ["oidc", "token", "7"],
    ["oidc", "token of bob", "401"],
    ["oidc", "old token", "401"],
    ["oidc", "broken token", "401"],
    ["oidc", "right", "401"],
    ["ldap", "token", "401"],
  ])("under %s that shows the %s as a bearer token gets %s", async (provider, what, answer) => {
    const headers = { authorization: `Bearer ${textOf("bearer", what)}` };
    const gateway = gatewayOfProvider(provider);
    expect(await askTrino(gateway, { sql, user: people.bearer, ca, headers })).toBe(answer);
  });

  it.each(["static", "ldap"])("under %s is nobody else beside a right login", async (provider) => {
    const headers = { authorization: basicOf(people.bearer, "own-secret"), "x-trino-user": "bob" };
    expect((await headersOf(gatewayOfProvider(provider), headers))[0]).toBe("403");
  });
});

describe("the refusals", () => {
  it.each(["static", "oidc", "ldap"])(
    "under %s are counted for every frontend and its reasons",
    async (provider) => {
      const gateway = gatewayOfProvider(provider);
      const counted = async (frontend: string, reason: string): Promise<number> => {
        const labels = `{frontend="${frontend}",reason="${reason}"}`;
        const line = (await gateway.metrics())
          .split("\n")
          .find((one) => one.startsWith(`gateway_auth_failures_total${labels}`));
        return Number(line?.split(" ").at(-1) ?? 0);
      };
      const wrong = [
        ["postgresWire", "auth.refused", "pg"],
        ["mysqlWire", "auth.refused", "mysql2"],
        ["trinoHttp", "auth.refused", "trino over HTTP"],
      ] as const;
      for (const [frontend, reason, name] of wrong) {
        const before = await counted(frontend, reason);
        const ask = clients.find(([one]) => one === name)?.[1] ?? askTrino;
        await ask(gateway, { sql, user: "mallory", password: "canary", ca });
        expect([frontend, (await counted(frontend, reason)) - before]).toEqual([frontend, 1]);
      }
      const before = await counted("trinoHttp", "auth.required");
      await askTrino(gateway, { sql, user: "mallory", ca });
      expect((await counted("trinoHttp", "auth.required")) - before).toBe(1);
      const malformed = await counted("trinoHttp", "auth.refused");
      await headersOf(gateway, { authorization: "Basic" });
      expect((await counted("trinoHttp", "auth.refused")) - malformed).toBe(1);
      expect(await gateway.metrics()).not.toMatch(/mallory|canary/);
    },
  );
});

function gatewayOfProvider(provider: string): TestGateway {
  const gateway = gateways.get(provider);
  if (gateway === undefined) throw new Error(`no gateway ${provider}`);
  return gateway;
}

function textOf(client: Client, what: string): string {
  const text = texts.get(`${client}: ${what}`);
  if (text === undefined) throw new Error(`no credential ${what}`);
  return text;
}

function nameOf(client: Client, user: string): string {
  const own = people[client];
  const cases: Readonly<Record<string, string>> = {
    own,
    Own: own.charAt(0).toUpperCase() + own.slice(1),
    OWN: own.toUpperCase(),
  };
  return cases[user] ?? user;
}

/** Status and challenge of a statement with these headers. */
function headersOf(
  gateway: TestGateway,
  headers: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const url = `https://127.0.0.1:${portOf(gateway, "trinoHttp")}/v1/statement`;
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers, ca, agent: false }, (response) => {
      response.resume();
      const challenge = response.headers["www-authenticate"] ?? "";
      resolve([String(response.statusCode), challenge]);
    });
    sent.once("error", reject);
    sent.end(sql);
  });
}
