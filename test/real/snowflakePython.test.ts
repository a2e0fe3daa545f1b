/** snowflake-connector-python and its SQLAlchemy dialect, in a Python of their own, before DuckDB. */
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hashSync } from "bcryptjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { FakeOidc } from "../fake/oidc.ts";
import { endlessSql, ran } from "./flightClients.ts";

const python = process.env["GATEWAY_TEST_PYTHON"] ?? "";
const program = fileURLToPath(new URL("cases/snowflakePython.py", import.meta.url));
const loopback = { host: "127.0.0.1", port: 0 };

describe("snowflake-connector-python", () => {
  const open = new AsyncDisposableStack();
  let gateway: TestGateway;
  let args: readonly string[];

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "gateway-snowflake-"));
    open.defer(() => rm(folder, { recursive: true, force: true }));
    const [own, foreign] = [pairOf(), pairOf()];
    const files = { own: join(folder, "own.p8"), foreign: join(folder, "foreign.p8") };
    await writeFile(files.own, own.privateKey);
    await writeFile(files.foreign, foreign.privateKey);
    const ann = { passwordHash: hashSync("ann-secret", 4), rsaPublicKey: own.publicKey };
    const staticUsers = { account: "acme", users: { ann } };
    gateway = open.use(await opened({ provider: "static", staticUsers }));
    const provider = open.use(await FakeOidc.start());
    const oidc = { issuer: provider.issuer, audience: "gateway" };
    const byToken = open.use(await opened({ provider: "oidc", oidc }));
    const token = await provider.token({ claims: { sub: "ann", aud: "gateway" } });
    const ports = [gateway, byToken].map((one) => String(portOf(one, "snowflakeHttp")));
    args = [program, ...ports, token, files.own, files.foreign, endlessSql];
  });
  afterAll(() => open.disposeAsync());

  it("logs in, reads, binds, changes, asks later, and cancels; so does its SQLAlchemy dialect", async () => {
    const { lines, cancelMs } = await ran(gateway, python, args, true);
    expect(lines).toEqual([]);
    expect(cancelMs).toBeLessThan(2_000);
  });
});

function opened(auth: object): Promise<TestGateway> {
  const frontends = { snowflakeHttp: loopback };
  const persistence = { type: "inMemory" };
  return gatewayOf(configOf({ gateway: { frontends, adminApi: loopback, persistence }, auth }));
}

function pairOf() {
  return generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { format: "pem", type: "spki" },
    privateKeyEncoding: { format: "pem", type: "pkcs8" },
  });
}
