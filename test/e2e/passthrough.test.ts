/** Clients of the gateway before a cluster under passthrough: whoever they are and whatever fails, the server is asked as them or not at all. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashSync } from "bcryptjs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { clients } from "./clients.ts";
import { configOf, gatewayOf, type TestGateway } from "./gateway.ts";
import { FakeMysql } from "../fake/mysql.ts";
import { OidcServer } from "../fake/oidcServer.ts";
import { certificateOf } from "../../packages/frontends/src/listener/rig/certificate.ts";

/** Each protocol's own form of `auth.noBackendIdentity`. */
const refusals: Readonly<Record<string, string>> = {
  pg: "28000",
  mysql2: "1045",
  mariadb: "1045",
  "trino over HTTP": "PERMISSION_DENIED",
};

const folder = mkdtempSync(join(tmpdir(), "gateway-callers-"));
const { cert: ca, key } = certificateOf("localhost");
const tls = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
let server: FakeMysql;
let nonces = 0;

beforeAll(async () => {
  writeFileSync(tls.certFile, ca);
  writeFileSync(tls.keyFile, key);
  const passwords = new Map([
    ["alice", "alice-secret"],
    ["bob", "another-secret"],
    ["gateway", "gateway-secret"],
  ]);
  server = await FakeMysql.start({ key, cert: ca }, passwords);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  server.mood = "well";
  server.logins.length = 0;
});

describe("a client with a password", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const users = Object.fromEntries(
      ["alice", "bob", "carol"].map((name) => [
        name,
        { passwordHash: hashSync(`${name}-secret`, 4) },
      ]),
    );
    gateway = await openGateway({ provider: "static", staticUsers: { users } });
  }, 60_000);
  afterAll(() => gateway[Symbol.asyncDispose]());

  it.each(clients)("is itself at the server, through %s", async (_name, ask) => {
    const { got, seen } = await asked((sql) =>
      ask(gateway, { sql, user: "alice", password: "alice-secret", ca }),
    );
    expect(got).toBe("answered");
    expect(seen).toEqual(["alice"]);
  });

  it.each(clients)("whom the server refuses is refused, through %s", async (name, ask) => {
    for (const user of ["bob", "carol"]) {
      server.logins.length = 0;
      const { got, seen } = await asked((sql) =>
        ask(gateway, { sql, user, password: `${user}-secret`, ca }),
      );
      expect(got).toBe(refusals[name]);
      expect(seen).toEqual([]);
      const tried = server.logins.map((login) => login.user.toString());
      expect(tried.filter((one) => one === user)).toEqual([user]);
    }
  });

  it.each(["silent", "full"] as const)(
    "is never somebody else at a server that is %s",
    async (mood) => {
      server.mood = mood;
      // All at once, as a silent server is waited for until the time is over.
      const tries = clients.map(([, ask]) =>
        asked((sql) => ask(gateway, { sql, user: "alice", password: "alice-secret", ca })),
      );
      for (const { got, seen } of await Promise.all(tries)) {
        expect(got).not.toBe("answered");
        expect(seen).toEqual([]);
      }
    },
    60_000,
  );
});

describe("a client with a token", () => {
  it("leaves no password, so the server hears nothing of it", async () => {
    await using provider = await OidcServer.start();
    const token = await provider.tokenFor("alice");
    const oidc = { issuer: provider.issuer, audience: "gateway" };
    await using gateway = await openGateway({ provider: "oidc", oidc });
    for (const [name, ask] of clients) {
      const { got, seen } = await asked((sql) =>
        ask(gateway, { sql, user: "alice", password: token, ca }),
      );
      expect([name, got]).toEqual([name, refusals[name]]);
      expect(seen).toEqual([]);
    }
    expect(server.logins.filter(({ user }) => user.toString() !== "gateway")).toEqual([]);
  }, 60_000);
});

/** Asks for a text that was never asked for before; answers what the client got, and as whom the server was asked. */
async function asked(
  ask: (sql: string) => Promise<string>,
): Promise<{ readonly got: string; readonly seen: readonly string[] }> {
  nonces += 1;
  const nonce = `nonce-${nonces}`;
  const got = await ask(`select '${nonce}'`);
  const seen = server.statements.filter(({ sql }) => sql.includes(nonce));
  return { got: got === nonce ? "answered" : got, seen: seen.map(({ user }) => user) };
}

function openGateway(auth: object): Promise<TestGateway> {
  const mart = {
    engine: "starRocks",
    endpoint: `mysql://localhost:${server.port}?require_ssl=true`,
    tls: { caFile: tls.certFile },
    auth: { type: "basic", username: "gateway", password: "gateway-secret" },
    queryAuth: { type: "passthrough" },
    connectTimeoutSecs: 1,
  };
  const clusterGroups = { default: { members: ["mart"], maxRunningQueries: 4 } };
  return gatewayOf(configOf({ clusters: { mart }, clusterGroups, auth }, { tls }));
}
