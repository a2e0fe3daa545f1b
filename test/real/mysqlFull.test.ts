/** A MariaDB that has no place for one more connection: statements wait for one of the gateway's own, or for a place. */
import mysql from "mysql2/promise";
import { describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";

/** A server with ten places, and three for the account `few`. */
const port = Number(process.env["GATEWAY_TEST_MYSQL_FULL"]);

describe("a full server", () => {
  it.each([
    ["with few places for everybody", "gateway", 14],
    ["with few places for the account", "few", 6],
  ])("%s answers as many clients as there are", async (_how, username, count) => {
    await using gateway = await before(username, { poolSize: 16, connectTimeoutSecs: 30 });
    // Those that count rows found have connections of their own kind, which make way for the others'.
    const clients = await Promise.all(
      Array.from({ length: count }, (_, at) => clientOf(gateway, at % 2 === 0)),
    );
    const answers = await Promise.all(
      clients.flatMap((client) => [1, 2, 3].map(() => client.query("select sleep(0.02), 1 a"))),
    );
    expect(answers.every(([rows]) => Array.isArray(rows) && rows.length === 1)).toBe(true);
    await Promise.all(clients.map((client) => client.end()));
  });

  it("is waited for until others leave it a place", async () => {
    await using gateway = await before("gateway", { connectTimeoutSecs: 30 });
    const client = await clientOf(gateway);
    const others = await filled();
    const running = client.query("select 1 a");
    await expect(directly()).rejects.toMatchObject({ errno: 1040 });
    await others.pop()?.end();
    expect((await running)[0]).toEqual([{ a: 1 }]);
    await client.end();
    await Promise.all(others.map((other) => other.end()));
  });

  it("that stays full is an error", async () => {
    await using gateway = await before("gateway", { connectTimeoutSecs: 1 });
    const client = await clientOf(gateway);
    const others = await filled();
    await expect(client.query("select 1")).rejects.toMatchObject({ errno: expect.any(Number) });
    await client.end();
    await Promise.all(others.map((other) => other.end()));
  });
});

async function before(username: string, more: object): Promise<TestGateway> {
  const auth = { type: "basic", username, password: `${username}-secret` };
  const hosts = [`127.0.0.1:${port}`];
  return await gatewayOf(
    configOf({ clusters: { local: { engine: "mysql", hosts, auth, ...more } } }),
  );
}

async function clientOf(gateway: TestGateway, found = true): Promise<mysql.Connection> {
  const flags = found ? [] : ["-FOUND_ROWS"];
  const own = { port: portOf(gateway, "mysqlWire"), user: "ann", flags };
  return await mysql.createConnection({ host: "127.0.0.1", ...own });
}

async function directly(): Promise<mysql.Connection> {
  const own = { user: "gateway", password: "gateway-secret" };
  const client = await mysql.createConnection({ host: "127.0.0.1", port, ...own });
  client.on("error", () => undefined);
  return client;
}

/** Clients that take all places. */
async function filled(): Promise<mysql.Connection[]> {
  const clients: mysql.Connection[] = [];
  for (;;) {
    const client = await directly().catch(() => undefined);
    if (client === undefined) return clients;
    clients.push(client);
  }
}
