/** A drain: what runs may finish, also where the client polls over new connections; nothing new begins; the deadline ends the rest. */
import { describe, expect, it } from "vitest";
import { statementsLogged } from "@gateway/engines/duckDb/client/statementLog.ts";
import { askMysql2, askPg, lastOf, type TrinoPage } from "./clients.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const long = "select count(*) as long from range(150000000) t(i) where hash(i) % 7 = 0";
const endless =
  "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1";
const headers = { "x-trino-user": "alice" };

describe("a drain", () => {
  it("lets connected and polling clients finish, and takes nothing new", async () => {
    using log = statementsLogged();
    const gateway = await gatewayOf(configOf());
    const ready = `http://127.0.0.1:${portOf(gateway, "adminApi")}/readyz`;
    expect((await fetch(ready)).status).toBe(200);
    const connected = askPg(gateway, { sql: long });
    const polled = await begin(gateway, long.replace("long", "polled"));
    await log.started(long);
    await log.started(long.replace("long", "polled"));

    const drained = gateway.running.drain(AbortSignal.timeout(60_000));
    expect((await fetch(ready)).status).toBe(503);
    expect((await post(gateway, "select 1")).status).toBe(503);
    expect(Number(await lastOf(polled, headers))).toBeGreaterThan(0);
    expect(Number(await connected)).toBeGreaterThan(0);
    expect(await drained).toBe(true);
  }, 90_000);

  it("ends at its deadline what still runs, in the engine too, and says so", async () => {
    using log = statementsLogged();
    const gateway = await gatewayOf(configOf());
    const connected = askPg(gateway, { sql: endless });
    await log.started(endless);
    expect(await gateway.running.drain(AbortSignal.abort())).toBe(false);
    await expect(log.ended(endless)).resolves.toBeUndefined();
    expect(await connected).not.toMatch(/^\d{1,4}$/);
  }, 30_000);

  it("counts a polled query that its deadline cuts off, and tells connected clients why", async () => {
    using log = statementsLogged();
    const gateway = await gatewayOf(configOf());
    const { nextUri = "" } = await begin(gateway, endless);
    await log.started(endless);
    const polled = fetch(nextUri, { headers });
    const [overPg, overMysql] = [endless.replace("= 1", "= 2"), endless.replace("= 1", "= 3")];
    const connected = [
      askPg(gateway, { sql: overPg }),
      askMysql2(gateway, { sql: overMysql }),
    ] as const;
    await Promise.all([log.started(overPg), log.started(overMysql)]);
    expect(await gateway.running.drain(AbortSignal.abort())).toBe(false);
    expect(await connected[0]).toContain("57P01");
    expect(await connected[1]).toContain("1053");
    expect(await (await polled).json()).toMatchObject({
      error: { errorName: "SERVER_SHUTTING_DOWN" },
    });
  }, 30_000);

  it("does not wait for polls of a query that its client cancelled", async () => {
    using log = statementsLogged();
    const gateway = await gatewayOf(configOf());
    const { nextUri = "" } = await begin(gateway, endless);
    await log.started(endless);
    expect((await fetch(nextUri, { method: "DELETE", headers })).status).toBe(204);
    expect(await gateway.running.drain(new AbortController().signal)).toBe(true);
  }, 30_000);
});

function post(gateway: TestGateway, body: string): Promise<Response> {
  const url = `http://127.0.0.1:${portOf(gateway, "trinoHttp")}/v1/statement`;
  return fetch(url, { method: "POST", headers, body });
}

async function begin(gateway: TestGateway, sql: string): Promise<TrinoPage> {
  return (await (await post(gateway, sql)).json()) as TrinoPage;
}
