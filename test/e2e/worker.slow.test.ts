/** A control plane and a worker in one test: configuration down, records up, and what an operator ends. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminOf, adminUrl, ask } from "./admin.ts";
import { askMysql2, askPg } from "./clients.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const sharedSecret = "a fleet secret of more than thirty-two characters";
const endless =
  "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1";
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gateway-worker-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("a worker", () => {
  it("serves what its control plane says, takes its edits, and sends its records there", async () => {
    await using control = await controlPlane();
    const admin = await adminOf(control);
    await using worker = await workerOf(adminUrl(control));
    await ready(worker);
    expect(await askPg(worker, { sql: "select 40 + 2" })).toBe("42");
    expect(await askMysql2(worker, { sql: "select 40 + 2" })).toBe("42");

    const { body, etag } = await admin("GET", "/admin/groups/default");
    const group = { ...(body as { body: object }).body, maxRows: 1 };
    const put = await admin("PUT", "/admin/groups/default", group, { "if-match": etag });
    expect(put.status).toBe(200);
    await until(async () => (await askPg(worker, { sql: "from range(2)" })) === "54000");

    const found = await until(async () => {
      const { body: page } = await admin("GET", "/admin/queries?worker=w1");
      const { items } = page as { items: { sql: string; worker: string; frontend: string }[] };
      return items.find(({ sql }) => sql === "select 40 + 2");
    });
    expect(found).toMatchObject({ worker: "w1" });
    const { body: workers } = await admin("GET", "/admin/workers");
    expect(workers).toMatchObject({ items: [{ name: "w1", labels: { site: "test" } }] });
  }, 60_000);

  it("ends a query that an operator ends at the control plane", async () => {
    await using control = await controlPlane();
    const admin = await adminOf(control);
    await using worker = await workerOf(adminUrl(control));
    await ready(worker);
    const answer = askPg(worker, { sql: endless });
    const running = await until(async () => {
      const { body } = await admin("GET", "/admin/queries/running");
      const { items } = body as { items: { id: string; state: string; worker?: string }[] };
      return items.find(({ state, worker: name }) => state === "running" && name === "w1");
    });
    const asked = await admin("POST", `/admin/queries/${running.id}/cancel`, {});
    expect(asked.status).toBe(202);
    expect(await answer).toBe("57014");
  }, 60_000);

  it("tells every client that it is not configured, and serves on what it kept when all else is dead", async () => {
    const stateDir = join(folder, "state");
    let url: string;
    {
      await using control = await controlPlane();
      url = adminUrl(control);
      await using worker = await workerOf(url, { stateDir, lastGood: { enabled: true } });
      await ready(worker);
    }
    // Nobody is there who could lease a slot: a query would wait for that, as it should.
    const alone = { coordination: { mode: "local" } };
    await using kept = await workerOf(url, { ...alone, stateDir, lastGood: { enabled: true } });
    await ready(kept);
    expect(await askPg(kept, { sql: "select 1" })).toBe("1");
    const status = await ask(adminUrl(kept), { method: "GET", path: "/worker/status" });
    expect(status.body).toMatchObject({ configSource: "disk", stale: true });

    await using empty = await workerOf(url);
    expect(await askPg(empty, { sql: "select 1" })).toBe("57P03");
    expect(await askMysql2(empty, { sql: "select 1" })).toBe("1053");
    const port = portOf(empty, "trinoHttp");
    const refused = await fetch(`http://127.0.0.1:${port}/v1/statement`, {
      method: "POST",
      headers: { "x-trino-user": "ann" },
      body: "select 1",
    });
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).not.toBeNull();
  }, 60_000);

  it("refuses a configuration whose users its own listeners would expose", async () => {
    await using control = await controlPlane();
    const admin = await adminOf(control);
    const listener = { host: "0.0.0.0", port: 0 };
    await using worker = await workerOf(adminUrl(control), {
      frontends: { postgresWire: listener },
    });
    // Nobody is verified, and somebody wrote that.
    await ready(worker);
    const { etag } = await admin("GET", "/admin/settings/auth");
    const users = { provider: "static", staticUsers: { users: {} } };
    const put = await admin("PUT", "/admin/settings/auth", users, { "if-match": etag });
    expect(put.status).toBe(200);
    const told = await until(async () => {
      const { body } = await ask(adminUrl(worker), { method: "GET", path: "/worker/status" });
      const { lastError } = body as { lastError: string | null };
      return lastError;
    });
    expect(told).toContain("gateway.frontends.postgresWire.tls");
    expect(await connects(worker)).toBe(true);
  }, 60_000);
});

async function connects(gateway: TestGateway): Promise<boolean> {
  const client = new pg.Client({
    host: "127.0.0.1",
    port: portOf(gateway, "postgresWire"),
    user: "ann",
  });
  client.on("error", () => {});
  await client.connect();
  await client.end();
  return true;
}

function controlPlane(): Promise<TestGateway> {
  const config = configOf() as { gateway: object };
  const workerApi = { sharedSecret };
  return gatewayOf({ ...config, gateway: { ...config.gateway, role: "controlPlane", workerApi } });
}

function workerOf(url: string, more: object = {}): Promise<TestGateway> {
  const listener = { host: "127.0.0.1", port: 0 };
  return gatewayOf({
    gateway: {
      role: "worker",
      workerName: "w1",
      workerLabels: { site: "test" },
      frontends: { trinoHttp: listener, postgresWire: listener, mysqlWire: listener },
      adminApi: listener,
      controlPlane: {
        url,
        auth: { sharedSecret },
        allowInsecureHttp: true,
        heartbeatIntervalSecs: 1,
      },
      ...more,
    },
  });
}

async function ready(worker: TestGateway): Promise<void> {
  await until(async () => (await fetch(`${adminUrl(worker)}/readyz`)).status === 200);
}

async function until<Value>(look: () => Promise<Value>): Promise<NonNullable<Value>> {
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== null && value !== false) return value;
  }
}
