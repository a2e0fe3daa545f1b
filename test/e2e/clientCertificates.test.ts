/** Certificates of clients under every provider and through every listener: whom they name is let in where that user is known, and nobody else. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificateOf } from "@gateway/frontends/listener/rig/certificate.ts";
import { hashSync } from "bcryptjs";
import * as mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeLdap } from "../fake/ldap.ts";
import { FakeOidc } from "../fake/oidc.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";
const base = "dc=example,dc=org";
const people = `ou=people,${base}`;
const authority = certificateOf("authority");
const server = certificateOf("localhost");
const own = { alice: certificateOf("alice", authority), bob: certificateOf("bob", authority) };
const strangers = {
  nobody: certificateOf("nobody", authority),
  "*": certificateOf("*", authority),
  anonymous: certificateOf("anonymous", authority),
};
const certificates = { ...own, ...strangers };

let folder: string;
let directory: FakeLdap;
let issuer: FakeOidc;
const gateways = new Map<string, TestGateway>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "client-certificates-"));
  const fileOf = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const tls = {
    certFile: fileOf("cert.pem", server.cert),
    keyFile: fileOf("key.pem", server.key),
    clientCaFile: fileOf("ca.pem", authority.cert),
    clientCertUser: "cn",
  };
  issuer = await FakeOidc.start("ES256");
  const entryOf = (uid: string) => ({ dn: `uid=${uid},${people}`, attributes: { uid: [uid] } });
  const member = [`uid=alice,${people}`];
  directory = await FakeLdap.start({
    entries: [
      entryOf("alice"),
      entryOf("bob"),
      { dn: `cn=readers,${base}`, attributes: { cn: ["readers"], member } },
    ],
  });
  const passwordHash = hashSync("secret", 4);
  const users = { alice: { passwordHash, groups: ["readers"] }, bob: { passwordHash } };
  const ldap = { url: directory.url, userSearchBase: people, groupSearchBase: base };
  const auths = {
    static: { provider: "static", staticUsers: { users } },
    ldap: { provider: "ldap", ldap },
    oidc: { provider: "oidc", oidc: { issuer: issuer.issuer, audience: "gateway" } },
  };
  const group = { members: ["local"], maxRunningQueries: 4 };
  const clusterGroups = { default: { ...group, authorization: { allowGroups: ["readers"] } } };
  for (const [name, auth] of Object.entries(auths)) {
    gateways.set(name, await gatewayOf(configOf({ auth, clusterGroups }, { tls })));
  }
}, 60_000);

afterAll(async () => {
  for (const gateway of gateways.values()) await gateway[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const clients = [
  ["PostgreSQL", askPg, "28000"],
  ["MySQL", askMysql, "1045"],
  ["Trino", askTrino, "401"],
] as const;

describe.each(clients)("a certificate shown over the protocol of %s", (_protocol, ask, refusal) => {
  it.each(["static", "ldap"])(
    "lets in whom it names under %s, with the groups of that user",
    async (provider) => {
      const gateway = gatewayOfProvider(provider);
      expect(await ask(gateway, "alice", "alice")).toBe("7");
      // Known, and in no group that may go anywhere.
      const outsider = await ask(gateway, "bob", "bob");
      expect(["7", refusal]).not.toContain(outsider);
    },
  );

  it.each(["static", "ldap"])("lets in nobody else under %s", async (provider) => {
    const gateway = gatewayOfProvider(provider);
    for (const [shown, user] of [
      ["bob", "alice"],
      ["nobody", "nobody"],
      ["nobody", "alice"],
      ["*", "*"],
      ["*", "alice"],
      ["anonymous", "anonymous"],
    ] as const) {
      expect([shown, user, await ask(gateway, shown, user)]).toEqual([shown, user, refusal]);
    }
  });

  it("is no token, so under oidc it lets in nobody", async () => {
    expect(await ask(gatewayOfProvider("oidc"), "alice", "alice")).toBe(refusal);
  });
});

describe("a certificate without a claimed name", () => {
  it.each(["static", "ldap"])("names the user by itself under %s", async (provider) => {
    expect(await askTrino(gatewayOfProvider(provider), "alice", undefined)).toBe("7");
    expect(await askTrino(gatewayOfProvider(provider), "nobody", undefined)).toBe("401");
  });
});

function gatewayOfProvider(provider: string): TestGateway {
  const gateway = gateways.get(provider);
  if (gateway === undefined) throw new Error(`no gateway ${provider}`);
  return gateway;
}

type Shown = keyof typeof certificates;

async function askPg(gateway: TestGateway, shown: Shown, user: string): Promise<string> {
  const ssl = { ca: server.cert, ...certificates[shown] };
  const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user, ssl });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query({ text: "select 7", rowMode: "array" });
    return String(rows[0]?.[0]);
  } catch (error) {
    return String((error as { code?: unknown }).code);
  } finally {
    await client.end().catch(() => {});
  }
}

async function askMysql(gateway: TestGateway, shown: Shown, user: string): Promise<string> {
  const ssl = { ca: server.cert, ...certificates[shown] };
  const port = portOf(gateway, "mysqlWire");
  try {
    const client = await mysql.createConnection({ host, port, user, ssl });
    try {
      const [rows] = await client.query({ sql: "select 7", rowsAsArray: true });
      return String((rows as unknown[][])[0]?.[0]);
    } finally {
      client.destroy();
    }
  } catch (error) {
    return String((error as { errno?: unknown }).errno);
  }
}

interface Page {
  readonly data?: readonly (readonly unknown[])[];
  readonly nextUri?: string;
  readonly error?: { readonly errorName: string };
}

async function askTrino(
  gateway: TestGateway,
  shown: Shown,
  user: string | undefined,
): Promise<string> {
  let url = `https://${host}:${portOf(gateway, "trinoHttp")}/v1/statement`;
  for (let body: string | undefined = "select 7"; ; body = undefined) {
    const { status, text } = await httpOf(url, { shown, user, body });
    if (status !== 200) return String(status);
    const page = JSON.parse(text) as Page;
    if (page.error !== undefined) return page.error.errorName;
    if (page.data !== undefined) return String(page.data[0]?.[0]);
    if (page.nextUri === undefined) return "no row";
    url = page.nextUri;
  }
}

function httpOf(
  url: string,
  { shown, user, body }: { shown: Shown; user: string | undefined; body: string | undefined },
): Promise<{ readonly status: number; readonly text: string }> {
  const headers = user === undefined ? {} : { "x-trino-user": user };
  const method = body === undefined ? "GET" : "POST";
  const trust = { ca: server.cert, ...certificates[shown] };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false, ...trust }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.once("end", () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString() }),
      );
    });
    sent.once("error", reject);
    sent.end(body);
  });
}
