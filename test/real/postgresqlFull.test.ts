/** A PostgreSQL that has no place for one more connection: statements wait for one of the gateway's own, or for a place. */
import pg from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";

/** Of a server with few places for all but superusers. */
const server = new URL(process.env["GATEWAY_TEST_POSTGRES_FULL"] ?? "postgresql://nobody");
beforeAll(async () => {
  const client = await directly("gateway");
  await client.query("drop role if exists plain");
  await client.query("create role plain login");
  await client.end();
});

describe("a full server", () => {
  it("answers as many clients as there are, on the places that it has", async () => {
    await using gateway = await before({ poolSize: 12, connectTimeoutSecs: 30 });
    const clients = await Promise.all(Array.from({ length: 12 }, () => clientOf(gateway)));
    const answers = await Promise.all(
      clients.flatMap((client) => [1, 2, 3].map(() => client.query("select pg_sleep(0.02), 1 a"))),
    );
    expect(answers.every(({ rows }) => rows.length === 1)).toBe(true);
    await Promise.all(clients.map((client) => client.end()));
  });

  it("is waited for until others leave it a place", async () => {
    await using gateway = await before({ connectTimeoutSecs: 30 });
    const others = await filled();
    const client = await clientOf(gateway);
    const running = client.query("select 1 a");
    // It was refused at least once before there is a place.
    await refusedTo("plain");
    await others.pop()?.end();
    expect((await running).rows).toEqual([{ a: 1 }]);
    await client.end();
    await Promise.all(others.map((other) => other.end()));
  });

  it("that stays full is an error", async () => {
    await using gateway = await before({ poolSize: 8, connectTimeoutSecs: 1 });
    const client = await clientOf(gateway);
    const others = await filled();
    // Of the login itself, or of a cluster that a check found so meanwhile.
    const code: unknown = expect.stringMatching(/^(?:08001|57P03)$/);
    await expect(client.query("select 1")).rejects.toMatchObject({ code });
    await client.end();
    await Promise.all(others.map((other) => other.end()));
  });
});

async function before(more: object): Promise<TestGateway> {
  const auth = { type: "basic", username: "plain", password: "none" };
  const hosts = [server.host];
  const local = { engine: "postgresql", hosts, database: "postgres", auth, ...more };
  return await gatewayOf(configOf({ clusters: { local } }));
}

async function clientOf(gateway: TestGateway): Promise<pg.Client> {
  const port = portOf(gateway, "postgresWire");
  const client = new pg.Client({ host: "127.0.0.1", port, user: "ann", database: "postgres" });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

async function directly(user: string): Promise<pg.Client> {
  const url = new URL(server);
  url.username = user;
  const client = new pg.Client({ connectionString: url.href });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** Clients that take all places. */
async function filled(): Promise<pg.Client[]> {
  const clients: pg.Client[] = [];
  for (;;) {
    const client = await directly("plain").catch(() => undefined);
    if (client === undefined) return clients;
    clients.push(client);
  }
}

async function refusedTo(user: string): Promise<void> {
  await expect(directly(user)).rejects.toMatchObject({ code: "53300" });
}
