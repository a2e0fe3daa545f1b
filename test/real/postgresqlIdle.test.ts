/** A client's own limits of what is at rest: a transaction's, which the server holds, and a session's. In each way of pooling. */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

let server: URL;
let watcher: pg.Client;
beforeAll(async () => {
  server = await emptyDatabase("idle");
  watcher = new pg.Client({ connectionString: server.href });
  await watcher.connect();
});
afterAll(async () => await watcher.end());

const restingSql =
  "select pid from pg_stat_activity where datname = 'idle' and state like 'idle in transaction%'";

describe.each(["transaction", "session"])("in %s mode", (poolMode) => {
  it.each([
    ["right behind BEGIN", []],
    ["behind a statement", ["select 1"]],
  ])("ends a transaction at rest %s, in the server's words", async (_where, statements) => {
    await using gateway = await pooled(poolMode);
    const { client, told, note } = await clientOf(gateway);
    await client.query("begin");
    for (const sql of statements) await client.query(sql);
    await client.query("set idle_in_transaction_session_timeout = 200");
    await vi.waitFor(
      async () => expect((await watcher.query(restingSql)).rows).toEqual([]),
      10_000,
    );
    await client.query("select 1").catch(note);
    expect(told[0]).toBe("25P03");
    await client.end();
  });

  it.each([
    ["set by a statement", {}, "set idle_session_timeout = 200"],
    ["that it began with", { options: "-c idle_session_timeout=200" }, "select 1"],
  ])("ends a session at rest by a limit %s", async (_how, more, sql) => {
    await using gateway = await pooled(poolMode);
    const { client, told } = await clientOf(gateway, more);
    const over = new Promise((resolve) => client.on("end", () => resolve(undefined)));
    await client.query(sql);
    await over;
    expect(told[0]).toBe("57P05");
  });
});

async function pooled(poolMode: string): Promise<TestGateway> {
  const local = {
    engine: "postgresql",
    hosts: [server.host],
    database: "idle",
    auth: { type: "basic", username: server.username, password: "none" },
    poolMode,
  };
  return await gatewayOf(configOf({ clusters: { local } }));
}

async function clientOf(gateway: TestGateway, more: object = {}) {
  const port = portOf(gateway, "postgresWire");
  const settings = { host: "127.0.0.1", port, user: "ann", database: "idle", ...more };
  const client = new pg.Client(settings);
  const told: unknown[] = [];
  const note = (error: unknown) => void told.push(error instanceof pg.DatabaseError && error.code);
  client.on("error", note);
  await client.connect();
  return { client, told, note };
}
