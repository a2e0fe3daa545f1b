/** Clients of the gateway before a Snowflake cluster: with which login each of their connections is opened, as the recording driver saw it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificateOf } from "@gateway/frontends/listener/rig/certificate.ts";
import { hashSync } from "bcryptjs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { clients } from "../e2e/clients.ts";
import { configOf, gatewayOf, type TestGateway } from "../e2e/gateway.ts";
import { OidcServer } from "../fake/oidcServer.ts";
import { FakeTokenEndpoint } from "../fake/tokenEndpoint.ts";
import { forgetSeen, seenIn } from "./recorded.ts";

const folder = process.env["GATEWAY_TEST_RECORDING"] ?? "";
const p = "adbc.snowflake.sql.";
/** Each protocol's own form of `auth.noBackendIdentity`. */
const refusals: Readonly<Record<string, string>> = {
  pg: "28000",
  mysql2: "1045",
  mariadb: "1045",
  "trino over HTTP": "PERMISSION_DENIED",
};

const home = mkdtempSync(join(tmpdir(), "gateway-adbc-clients-"));
const { cert: ca, key } = certificateOf("localhost");
const tls = { certFile: join(home, "cert.pem"), keyFile: join(home, "key.pem") };
let endpoint: FakeTokenEndpoint;
let provider: OidcServer;
let token: string;
let byToken: object;
let byPassword: object;

beforeAll(async () => {
  writeFileSync(tls.certFile, ca);
  writeFileSync(tls.keyFile, key);
  endpoint = await FakeTokenEndpoint.start();
  provider = await OidcServer.start();
  token = await provider.tokenFor("alice");
  byToken = { provider: "oidc", oidc: { issuer: provider.issuer, audience: "gateway" } };
  const users = ["alice", "refused"].map((name) => {
    return [name, { passwordHash: hashSync(`${name}-secret`, 4) }] as const;
  });
  byPassword = { provider: "static", staticUsers: { users: Object.fromEntries(users) } };
});
afterAll(async () => {
  await endpoint[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  rmSync(home, { recursive: true });
});
beforeEach(async () => {
  await forgetSeen(folder);
  endpoint.behaviour = { kind: "issues", expiresIn: 300 };
});

describe("under passthrough", () => {
  it("a password opens connections of its own, and a refused one nobody's", async () => {
    await using gateway = await openGateway({ type: "passthrough" }, byPassword);
    for (const [name, ask] of clients) {
      const alice = { sql: "select 'mine'", user: "alice", password: "alice-secret", ca };
      expect([name, await ask(gateway, alice)]).toEqual([name, "alice"]);
      const refused = { ...alice, user: "refused", password: "refused-secret" };
      expect([name, await ask(gateway, refused)]).toEqual([name, refusals[name]]);
    }
    expect(await loginsOf("select 'mine'")).toEqual(["alice"]);
    // Found again: all four clients were one caller.
    const opened = (await seenIn(folder)).filter(({ what }) => what === "connection");
    expect(opened.filter(({ value }) => value === "alice")).toHaveLength(1);
  });

  it("a token leaves nothing that could be passed through", async () => {
    await using gateway = await openGateway({ type: "passthrough" }, byToken);
    for (const [name, ask] of clients) {
      const question = { sql: "select 'mine'", user: "alice", password: token, ca };
      expect([name, await ask(gateway, question)]).toEqual([name, refusals[name]]);
    }
    expect(await loginsOf("select 'mine'")).toEqual([]);
  });
});

describe("under tokenExchange", () => {
  const exchange = (): object => ({
    type: "tokenExchange",
    tokenEndpoint: endpoint.url,
    clientId: "gateway",
    clientSecret: "exchange-secret",
  });

  it("a token is exchanged, and what it was exchanged for opens the connection", async () => {
    await using gateway = await openGateway(exchange(), byToken);
    for (const [, ask] of clients) {
      const question = { sql: "select 'mine'", user: "alice", password: token, ca };
      expect(await ask(gateway, question)).toMatch(/^for-/);
    }
    const logins = await loginsOf("select 'mine'");
    expect(logins).toHaveLength(1);
    expect(logins[0]?.startsWith(`for-${token}-`.slice(0, 500))).toBe(true);
    const options = (await seenIn(folder)).filter(({ what }) => what === "option");
    expect(options.some(({ key: name }) => name === `${p}auth_type`)).toBe(true);
  });

  it("a failed exchange and a password open nothing", async () => {
    await using gateway = await openGateway(exchange(), byPassword);
    await using other = await openGateway(exchange(), byToken);
    endpoint.behaviour = { kind: "answers", status: 400, body: '{"error":"invalid_grant"}' };
    for (const [name, ask] of clients) {
      const question = { sql: "select 'mine'", user: "alice", ca };
      const password = await ask(gateway, { ...question, password: "alice-secret" });
      expect([name, password]).toEqual([name, refusals[name]]);
      expect([name, await ask(other, { ...question, password: token })]).toEqual([
        name,
        refusals[name],
      ]);
    }
    expect(await loginsOf("select 'mine'")).toEqual([]);
  });
});

/** Logins of the connections on which a statement ran, each once. */
async function loginsOf(sql: string): Promise<readonly string[]> {
  const statements = (await seenIn(folder)).filter(({ what }) => what === "statement");
  return [...new Set(statements.filter(({ value }) => value.includes(sql)).map((one) => one.key))];
}

function openGateway(queryAuth: object, auth: object): Promise<TestGateway> {
  const snow = {
    engine: "adbc",
    driver: join(folder, "libadbc_driver_snowflake.so"),
    uri: "http://127.0.0.1:9",
    dbKwargs: { [`${p}account`]: "recorded" },
    auth: { type: "basic", username: "service", password: "service-secret" },
    queryAuth,
  };
  const clusterGroups = { default: { members: ["snow"], maxRunningQueries: 4 } };
  return gatewayOf(configOf({ clusters: { snow }, clusterGroups, auth }, { tls }));
}
