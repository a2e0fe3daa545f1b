/** Each address of docs/connect.md, as it stands there, in the hands of the client it is for. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificateOf } from "@gateway/frontends/listener/rig/certificate.ts";
import { hashSync } from "bcryptjs";
import * as mariadb from "mariadb";
import * as mysql from "mysql2/promise";
import pg from "pg";
import postgres from "postgres";
import { BasicAuth, Trino } from "trino-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const text = readFileSync(new URL("../../docs/connect.md", import.meta.url), "utf8");
const listeners = { 5432: "postgresWire", 3306: "mysqlWire", 8080: "trinoHttp" } as const;
const sql = "SELECT 41 + 1 AS n";
const certificate = certificateOf("localhost");
const ca = certificate.cert;

let folder: string;
let gateway: TestGateway;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "connect-"));
  const tls = { certFile: join(folder, "ca.pem"), keyFile: join(folder, "key.pem") };
  writeFileSync(tls.certFile, certificate.cert);
  writeFileSync(tls.keyFile, certificate.key);
  const users = { ann: { passwordHash: hashSync("ann-secret", 4) } };
  gateway = await gatewayOf(
    configOf({ auth: { provider: "static", staticUsers: { users } } }, { tls }),
  );
}, 30_000);

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

describe("an address of docs/connect.md", () => {
  it("leads pg to the gateway, whose certificate it verifies", async () => {
    const client = new pg.Client({ connectionString: addressOf("pg") });
    await client.connect();
    const { rows } = await client.query(sql);
    await client.end();
    expect(rows).toEqual([{ n: 42 }]);
  });

  it("leads postgres there", async () => {
    const ask = postgres(addressOf("postgres"), { ssl: { ca }, max: 1 });
    const rows = await ask.unsafe(sql);
    await ask.end();
    expect([...rows]).toEqual([{ n: 42 }]);
  });

  it("leads mysql2 there", async () => {
    const client = await mysql.createConnection({ uri: addressOf("mysql2"), ssl: { ca } });
    const [rows] = await client.query(sql);
    client.destroy();
    expect(rows).toEqual([{ n: 42 }]);
  });

  it("leads mariadb there", async () => {
    const { hostname, port, username, password } = new URL(addressOf("mariadb"));
    const place = { host: hostname, port: Number(port), user: username, password };
    const client = await mariadb.createConnection({ ...place, ssl: { ca } });
    const rows: unknown[] = await client.query(sql);
    client.destroy();
    expect([...rows]).toEqual([{ n: 42 }]);
  });

  it("leads trino-client there", async () => {
    const trino = Trino.create({
      server: addressOf("trino-client"),
      auth: new BasicAuth("ann", "ann-secret"),
      ssl: { ca },
    });
    const rows: unknown[] = [];
    for await (const { data = [] } of await trino.query(sql)) rows.push(...data);
    expect(rows).toEqual([[42]]);
  });
});

/** The one of that client, with this machine in place of the example's. */
function addressOf(client: string): string {
  const line = text.split("\n").find((one) => one.startsWith(`| \`${client}\` `));
  const [, written = ""] = /\| `(\w+:\/\/[^`]+)`/.exec(line ?? "") ?? [];
  const [, port = ""] = /gateway\.example:(\d+)/.exec(written) ?? [];
  const kind = Object.entries(listeners).find(([usual]) => usual === port)?.[1] ?? "none";
  return written
    .replace(/gateway\.example:\d+/, `localhost:${portOf(gateway, kind)}`)
    .replace("ca.pem", join(folder, "ca.pem"));
}
