/** A query ends in the engine soon after its client wants it to, whatever the way the client says so. */
import { get } from "node:http";
import * as mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  statementsLogged,
  type StatementLog,
} from "@gateway/engines/duckDb/client/statementLog.ts";
import { cancelByKey } from "./cancelByKey.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";
/** Runs for minutes unless it is interrupted. */
const endless =
  "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1";

let gateway: TestGateway;
let log: StatementLog & Disposable;

beforeAll(async () => {
  log = statementsLogged();
  gateway = await gatewayOf(configOf());
}, 30_000);

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  log[Symbol.dispose]();
});

describe("a long query", () => {
  it("ends in the engine when PostgreSQL's cancel request names its key", async () => {
    const client = await pgClient();
    const running = client.query(endless).then(
      () => "finished",
      (error: unknown) => (error as { code?: string }).code,
    );
    await log.started(endless);
    await cancelByKey(client, { host, port: portOf(gateway, "postgresWire") });
    expect(await running).toBe("57014");
    await expect(log.ended(endless)).resolves.toBeUndefined();
    // The connection is as good as new.
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await client.end();
  });

  it("ends in the engine when a PostgreSQL client vanishes", async () => {
    const client = await pgClient();
    client.on("error", () => {});
    client.query(endless).catch(() => {});
    await log.started(endless);
    destroy(client);
    await expect(log.ended(endless)).resolves.toBeUndefined();
  });

  it("ends in the engine when a MySQL client vanishes", async () => {
    const client = await mysql.createConnection({
      host,
      port: portOf(gateway, "mysqlWire"),
      user: "a",
    });
    client.query(endless).catch(() => {});
    await log.started(endless);
    client.destroy();
    await expect(log.ended(endless)).resolves.toBeUndefined();
  });

  it("ends in the engine when its MySQL owner kills it from another connection", async () => {
    const options = { host, port: portOf(gateway, "mysqlWire"), user: "a" };
    const victim = await mysql.createConnection(options);
    const killer = await mysql.createConnection(options);
    const running = victim.query(endless).then(
      () => "finished",
      (error: unknown) => (error as { errno?: number }).errno,
    );
    await log.started(endless);
    await killer.query(`kill query ${victim.threadId}`);
    expect(await running).toBe(1317);
    await expect(log.ended(endless)).resolves.toBeUndefined();
    await Promise.all([victim.end(), killer.end()]);
  });

  it("ends in the engine when a Trino client deletes it, and a later poll says so", async () => {
    const base = `http://${host}:${portOf(gateway, "trinoHttp")}`;
    const headers = { "x-trino-user": "a" };
    const started = await fetch(`${base}/v1/statement`, { method: "POST", headers, body: endless });
    const { nextUri } = (await started.json()) as { nextUri: string };
    await log.started(endless);
    const deleted = await fetch(nextUri, { method: "DELETE", headers });
    expect(deleted.status).toBe(204);
    await expect(log.ended(endless)).resolves.toBeUndefined();
    const polled = (await (await fetch(nextUri, { headers })).json()) as {
      error?: { errorName: string };
      stats: { state: string };
    };
    expect(polled.stats.state).toBe("FAILED");
    expect(polled.error?.errorName).toBe("USER_CANCELED");
  });

  it("ends in the engine when a Trino client hangs up during a held poll", async () => {
    const base = `http://${host}:${portOf(gateway, "trinoHttp")}`;
    const headers = { "x-trino-user": "a" };
    const started = await fetch(`${base}/v1/statement`, { method: "POST", headers, body: endless });
    const { nextUri } = (await started.json()) as { nextUri: string };
    await log.started(endless);
    await hungUp(nextUri, headers);
    await expect(log.ended(endless)).resolves.toBeUndefined();
  });
});

/** Sends a poll and closes the connection as soon as the request has left. */
function hungUp(url: string, headers: Record<string, string>): Promise<void> {
  return new Promise((resolve) => {
    const poll = get(url, { headers, agent: false });
    poll.on("error", () => {});
    poll.on("close", () => resolve());
    poll.on("finish", () => poll.destroy());
  });
}

async function pgClient(): Promise<pg.Client> {
  const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user: "a" });
  await client.connect();
  return client;
}

function destroy(client: pg.Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
}
