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
  const ends: (() => unknown)[] = [];
  let gateway: TestGateway;
  let args: readonly string[];

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), "gateway-snowflake-"));
    ends.push(() => rm(folder, { recursive: true, force: true }));
    const [own, foreign] = [pairOf(), pairOf()];
    const files = { own: join(folder, "own.p8"), foreign: join(folder, "foreign.p8") };
    await writeFile(files.own, own.privateKey);
    await writeFile(files.foreign, foreign.privateKey);
    const ann = { passwordHash: hashSync("ann-secret", 4), rsaPublicKey: own.publicKey };
    const staticUsers = { account: "acme", users: { ann } };
    gateway = await opened({ provider: "static", staticUsers });
    ends.push(() => gateway[Symbol.asyncDispose]());
    const provider = await FakeOidc.start();
    ends.push(() => provider[Symbol.asyncDispose]());
    const oidc = { issuer: provider.issuer, audience: "gateway" };
    const byToken = await opened({ provider: "oidc", oidc });
    ends.push(() => byToken[Symbol.asyncDispose]());
    const token = await provider.token({ claims: { sub: "ann", aud: "gateway" } });
    const ports = [gateway, byToken].map((one) => String(portOf(one, "snowflakeHttp")));
    args = [program, ...ports, token, files.own, files.foreign, endlessSql];
  }, 60_000);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  it("logs in, reads, binds, changes, asks later, and cancels; so does its SQLAlchemy dialect", async () => {
    const { lines, cancelMs } = await ran(gateway, python, args, true);
    expect(lines).toEqual([
      "password (42,)",
      "key pair (42,)",
      "token (42,)",
      "refused 390100 390100 390100",
      "forms arrow json",
      `row 1 9223372036854775807 255 18446744073709551615 ${-(2n ** 127n)} -12.345 0.1 True né😀 bytearray(b'\\x00\\xff') 1969-12-31 23:59:59.123456 2024-02-29 12:34:56.123456 1969-12-31 23:59:59.999999 2024-02-29 10:34:56+00:00 [1,null] {"a":1} 0190163d-8694-739b-aea5-966c26f8ad91 None`,
      "alike True True",
      "table 200000 ['int64', 'double', 'string', 'decimal128(12, 2)'] 19999900000",
      "rows 100000 4999950000",
      "many [(0,), (1,), (2,)] (3,) 6",
      "empty [] None",
      "inserted 1",
      "hostile True",
      "updated 1",
      "dictionary [{'id': 1, 'label': 'one'}]",
      "several [[(1,)], [(2,)]]",
      "sets [(1,)] True [('two',)] None",
      "zone 2024-07-01T14:00:00+02:00",
      "place memory main",
      "numbers 1003 2003 2",
      "state 42P01 36",
      "described ['a', 'b']",
      "later [(499500,)] SUCCESS",
      "bound 2500 (2501, 2500)",
      "transactions (2,)",
      "version (9, 0, 0) main",
      "selected [(2, 'b', Decimal('2.00'))]",
      "tables ['py_items', 'py_things'] ['main'] True False",
      "columns [('id', 'DECIMAL(10, 0)', False), ('name', 'VARCHAR(16777216)', True), ('price', 'DECIMAL(10, 2)', True)]",
      "keys ['id', 'name', 'price'] ['id'] 10",
      "reflected ['a', 'b']",
      "kept 2",
      "cancelled 604",
    ]);
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
