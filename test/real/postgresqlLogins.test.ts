/**
 * Callers who log in at a PostgreSQL with their own passwords: by each method that a server asks by, and what the
 * client is told whom it refuses.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashSync } from "bcryptjs";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { certificateOf } from "../../packages/frontends/src/listener/rig/certificate.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

const methods = ["password", "md5", "scram-sha-256"] as const;
/** The password of every client. The server knows another one of those whose name says so. */
const secret = "client-secret";
const roles = [...methods, "reject"].flatMap((method) => [
  { method, name: roleOf(method), password: secret },
  { method, name: `${roleOf(method)}_wrong`, password: "server-secret" },
]);

const folder = mkdtempSync(join(tmpdir(), "gateway-logins-"));
const { cert, key } = certificateOf("localhost");
const tls = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
let owner: pg.Client;
let gateway: TestGateway;

beforeAll(async () => {
  writeFileSync(tls.certFile, cert);
  writeFileSync(tls.keyFile, key);
  const server = await emptyDatabase("logins");
  owner = new pg.Client({ connectionString: server.href });
  await owner.connect();
  await prepare();
  gateway = await openBefore(server.port);
}, 300_000);
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await owner.query("alter system reset ssl");
  await write(`'${await settingOf("hba_file")}'`, [trusted]);
  await owner.query("select pg_reload_conf()");
  await owner.end();
  rmSync(folder, { recursive: true });
});

it.each(methods)("a client is itself by %s, and hears of a wrong password", async (method) => {
  expect(await askedAs(roleOf(method))).toEqual([{ current_user: roleOf(method) }]);
  const refused = await askedAs(`${roleOf(method)}_wrong`);
  expect(refused).toMatchObject({ code: "28P01" });
  expect(String(refused)).toMatch(/The server refuses this user's password\.$/);
  expect(String(refused)).not.toContain(secret);
});

it("a client whom pg_hba.conf rejects hears that, and not where the gateway is", async () => {
  const refused = await askedAs(roleOf("reject"));
  expect(refused).toMatchObject({ code: "28000" });
  expect(String(refused)).toMatch(/The server refuses this user's login, whatever the password\.$/);
  expect(String(refused)).not.toContain("127.0.0.1");
});

/** The rows, or why there are none. */
async function askedAs(user: string): Promise<unknown> {
  const client = new pg.Client({
    host: "127.0.0.1",
    port: portOf(gateway, "postgresWire"),
    user,
    password: secret,
    ssl: { ca: cert, servername: "localhost" },
  });
  await client.connect();
  try {
    return (await client.query("select current_user")).rows;
  } catch (error) {
    return error;
  } finally {
    await client.end();
  }
}

function roleOf(method: string): string {
  return `by_${method.replaceAll("-", "_")}`;
}

/** Encryption, the roles, and how the server asks each of them for its password. */
async function prepare(): Promise<void> {
  const folderOfServer = await settingOf("data_directory");
  await write(`'${folderOfServer}/server.crt'`, cert.trim().split("\n"));
  await write(`program 'umask 077 && cat > ${folderOfServer}/server.key'`, key.trim().split("\n"));
  await owner.query("alter system set ssl = on");
  for (const { method, name, password } of roles) {
    await owner.query(`drop role if exists ${name}`);
    await owner.query(`set password_encryption = '${method === "md5" ? "md5" : "scram-sha-256"}'`);
    await owner.query(`create role ${name} login password '${password}'`);
  }
  const asked = roles.map(({ method, name }) => `hostssl all ${name} 127.0.0.1/32 ${method}`);
  // Whoever only greets is asked for a password in clear as well.
  const others = ["hostssl all all 127.0.0.1/32 password", trusted];
  await write(`'${await settingOf("hba_file")}'`, [...asked, ...others]);
  await owner.query("select pg_reload_conf()");
}

const trusted = "host all all 127.0.0.1/32 trust";

async function settingOf(name: string): Promise<string> {
  const { rows } = await owner.query<{ s: string }>("select current_setting($1) s", [name]);
  return rows[0]?.s ?? "";
}

async function write(to: string, lines: readonly string[]): Promise<void> {
  await owner.query(`copy (values ${lines.map((line) => `('${line}')`).join(", ")}) to ${to}`);
}

async function openBefore(port: string): Promise<TestGateway> {
  const local = {
    engine: "postgresql",
    hosts: [`localhost:${port}`],
    database: "logins",
    queryAuth: { type: "passthrough" },
    tls: { caFile: tls.certFile },
  };
  const passwordHash = hashSync(secret, 4);
  const users = Object.fromEntries(roles.map(({ name }) => [name, { passwordHash }]));
  const auth = { provider: "static", staticUsers: { users } };
  return await gatewayOf(configOf({ clusters: { local }, auth }, { tls }));
}
