/** Whoever leaves without a word leaves no query behind in an engine that is reached over the network. */
import { get } from "node:http";
import { watchStatements } from "@gateway/engines/duckDb/client/statementLog.ts";
import * as mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fakeClickHouse, type FakeClickHouse } from "../fake/clickHouse.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";
const open: AsyncDisposable[] = [];
let clickHouse: FakeClickHouse;
let gateways: Readonly<Record<string, TestGateway>>;

beforeAll(async () => {
  clickHouse = kept(await fakeClickHouse());
  const mysqlWire = kept(await gatewayOf(configOf()));
  const auth = { type: "basic", username: "gateway", password: "gateway-secret" };
  const clusters = {
    ClickHouse: { engine: "clickHouse", endpoint: clickHouse.endpoint, auth },
    StarRocks: {
      engine: "starRocks",
      endpoint: `mysql://${host}:${portOf(mysqlWire, "mysqlWire")}`,
    },
  };
  const started = Object.entries(clusters).map(
    async ([engine, local]) =>
      [engine, kept(await gatewayOf(configOf({ clusters: { local } })))] as const,
  );
  gateways = Object.fromEntries(await Promise.all(started));
}, 60_000);
afterAll(async () => {
  for (const one of open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

/** How a client of each protocol begins a statement; what it answers makes it vanish. */
const clients: Readonly<
  Record<string, (gateway: TestGateway, sql: string) => Promise<() => void>>
> = {
  PostgreSQL: async (gateway, sql) => {
    const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user: "a" });
    client.on("error", () => {});
    await client.connect();
    client.query(sql).catch(() => {});
    return () => {
      (
        client as unknown as { connection: { stream: { destroy(): void } } }
      ).connection.stream.destroy();
    };
  },
  MySQL: async (gateway, sql) => {
    const port = portOf(gateway, "mysqlWire");
    const client = await mysql.createConnection({ host, port, user: "a" });
    client.query(sql).catch(() => {});
    return () => client.destroy();
  },
  Trino: async (gateway, sql) => {
    const url = `http://${host}:${portOf(gateway, "trinoHttp")}/v1/statement`;
    const headers = { "x-trino-user": "a" };
    const answer = await fetch(url, { method: "POST", headers, body: sql });
    const { nextUri } = (await answer.json()) as { nextUri: string };
    return () => {
      const poll = get(nextUri, { headers, agent: false });
      poll.on("error", () => {});
      poll.on("finish", () => poll.destroy());
    };
  },
};

describe.each(["ClickHouse", "StarRocks"])("a query of %s", (engine) => {
  it.each(Object.keys(clients))("ends there when its %s client vanishes", async (protocol) => {
    const gateway = gateways[engine];
    const begin = clients[protocol];
    if (gateway === undefined || begin === undefined) throw new Error("no such setting");
    using statement = endless();
    const vanish = await begin(gateway, statement.sql);
    await statement.started;
    vanish();
    await expect(statement.ended).resolves.toBeUndefined();
    await expect.poll(() => clickHouse.running.size).toBe(0);
  });
});

let count = 0;

/** A statement that runs for minutes unless it is ended, as the DuckDB below the stand-in sees it: whatever is put around its text. */
function endless(): Disposable & {
  readonly sql: string;
  readonly started: Promise<void>;
  readonly ended: Promise<void>;
} {
  count += 1;
  const sql = `select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = ${count}`;
  let begin = (): void => undefined;
  let end = (): void => undefined;
  const watching = watchStatements({
    started: (_cluster, text) => {
      if (text.includes(sql)) begin();
    },
    ended: (_cluster, text) => {
      if (text.includes(sql)) end();
    },
  });
  return {
    sql,
    started: new Promise((resolve) => (begin = resolve)),
    ended: new Promise((resolve) => (end = resolve)),
    [Symbol.dispose]: () => watching[Symbol.dispose](),
  };
}

function kept<T extends AsyncDisposable>(one: T): T {
  open.push(one);
  return one;
}
