/**
 * Engines that take a cancel and go on. Their client is answered all the same, in its protocol's own words; the slot
 * stays taken for as long as the engine works, because the engine is as full as it says.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { certificateOf } from "../../packages/frontends/src/listener/rig/certificate.ts";
import { fakeClickHouse, type FakeClickHouse } from "../fake/clickHouse.ts";
import { FakeMysql } from "../fake/mysql.ts";
import { fakeTrino, type FakeTrino } from "../fake/trino.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";
const maxExecutionSecs = 2;

interface Deaf {
  readonly sql: string;
  readonly cluster: object;
  /** Statements of this test's that the engine works on. */
  readonly running: () => number;
  readonly endAll: () => void;
}

const folder = mkdtempSync(join(tmpdir(), "gateway-deaf-"));
const open: AsyncDisposable[] = [];
let trino: FakeTrino;
let clickHouse: FakeClickHouse;
let starRocks: FakeMysql;
const engines: Record<string, Deaf> = {};

beforeAll(async () => {
  trino = kept(await fakeTrino());
  clickHouse = kept(await fakeClickHouse());
  const certificate = certificateOf("localhost");
  const caFile = join(folder, "ca.pem");
  writeFileSync(caFile, certificate.cert);
  starRocks = kept(
    await FakeMysql.start(
      { key: certificate.key, cert: certificate.cert },
      new Map([["gateway", "gateway-secret"]]),
    ),
  );
  for (const engine of [trino, starRocks]) engine.deaf = true;
  clickHouse.deafTo = "41 + 1";
  const auth = { type: "basic", username: "gateway", password: "gateway-secret" };
  Object.assign(engines, {
    Trino: {
      sql: "select n from endless",
      cluster: { engine: "trino", endpoint: trino.origin },
      running: () => trino.running(),
      endAll: () => trino.endAll(),
    },
    ClickHouse: {
      sql: "select 41 + 1",
      cluster: { engine: "clickHouse", endpoint: clickHouse.endpoint, auth },
      running: () => clickHouse.running.size,
      endAll: () => clickHouse.endAll(),
    },
    StarRocks: {
      sql: "select sleep",
      cluster: {
        engine: "starRocks",
        endpoint: `mysql://localhost:${starRocks.port}?require_ssl=true`,
        auth,
        tls: { caFile },
      },
      running: () => starRocks.waiting,
      endAll: () => starRocks.endAll(),
    },
  } satisfies Record<string, Deaf>);
}, 60_000);
afterAll(async () => {
  for (const one of open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

interface Began {
  /** Resolves with the code of the refusal, or with what was answered. */
  readonly answered: Promise<string>;
  readonly cancel: () => Promise<void>;
}

/** Each protocol's way to begin a statement and to ask for its end. */
const wires: Readonly<Record<string, (gateway: TestGateway, sql: string) => Promise<Began>>> = {
  PostgreSQL: async (gateway, sql) => {
    const at = { host, port: portOf(gateway, "postgresWire"), user: "a" };
    const client = new pg.Client(at);
    await client.connect();
    const answered = client
      .query(sql)
      .then(() => "rows", codeOf)
      .finally(() => void client.end());
    const cancel = async () => {
      const other = new pg.Client(at);
      // @ts-expect-error Not in its types: a request for a cancel over a connection of its own.
      other.cancel(client, (client as unknown as { activeQuery: unknown }).activeQuery);
    };
    return { answered, cancel };
  },
  MySQL: async (gateway, sql) => {
    const at = { host, port: portOf(gateway, "mysqlWire"), user: "a" };
    const client = await mysql.createConnection(at);
    const answered = client
      .query(sql)
      .then(
        () => "rows",
        (error: { errno: number }) => String(error.errno),
      )
      .finally(() => void client.end());
    const cancel = async () => {
      const other = await mysql.createConnection(at);
      await other.query(`kill query ${client.threadId}`);
      await other.end();
    };
    return { answered, cancel };
  },
  Trino: async (gateway, sql) => {
    const headers = { "x-trino-user": "a" };
    const url = `http://${host}:${portOf(gateway, "trinoHttp")}/v1/statement`;
    let next: string | undefined = url;
    const polled = async (): Promise<string> => {
      let init: RequestInit = { method: "POST", headers, body: sql };
      for (;;) {
        if (next === undefined) return "rows";
        const answer = await fetch(next, init);
        if (answer.status !== 200) return `status ${answer.status}`;
        const page = (await answer.json()) as Page;
        if (page.error !== undefined) return page.error.errorName;
        next = page.nextUri;
        init = { headers };
      }
    };
    const answered = polled();
    const cancel = async () => {
      await expect.poll(() => next).not.toBe(url);
      await fetch(next ?? url, { method: "DELETE", headers });
    };
    return { answered, cancel };
  },
};

interface Page {
  readonly nextUri?: string;
  readonly error?: { readonly errorName: string };
}

const cancelled: Readonly<Record<string, string>> = {
  PostgreSQL: "57014",
  MySQL: "1317",
  Trino: "USER_CANCELED",
};
const tooLong: Readonly<Record<string, string>> = {
  PostgreSQL: "57014",
  MySQL: "3024",
  Trino: "EXCEEDED_TIME_LIMIT",
};

describe.each(["Trino", "ClickHouse", "StarRocks"])("%s, which ignores a cancel,", (engine) => {
  it("does not keep clients waiting that ask for the end, and keeps their slots", async () => {
    await using gateway = await gatewayBefore(engine, {});
    const began = await allBegun(gateway, engine);
    await Promise.all(Object.values(began).map(({ cancel }) => cancel()));
    const said = await saidTo(began);
    // A DELETE may come between two polls: what that client reads then is that there is no such query.
    if (said["Trino"] === "status 404") said["Trino"] = cancelled["Trino"] ?? "";
    expect(said).toEqual(cancelled);
    await stillRun(gateway, engine);
  }, 60_000);

  it("does not keep clients waiting whose time is over, and keeps their slots", async () => {
    await using gateway = await gatewayBefore(engine, { maxExecutionSecs });
    expect(await saidTo(await allBegun(gateway, engine))).toEqual(tooLong);
    await stillRun(gateway, engine);
  }, 60_000);
});

/** One statement over each wire, which the engine works on. */
async function allBegun(gateway: TestGateway, engine: string): Promise<Record<string, Began>> {
  const { sql, running } = deafOf(engine);
  const began = await Promise.all(
    Object.entries(wires).map(async ([wire, begin]) => [wire, await begin(gateway, sql)] as const),
  );
  await expect.poll(running, { timeout: 10_000 }).toBe(began.length);
  return Object.fromEntries(began);
}

async function saidTo(began: Record<string, Began>): Promise<Record<string, string>> {
  const said = Object.entries(began).map(
    async ([wire, { answered }]) => [wire, await answered] as const,
  );
  return Object.fromEntries(await Promise.all(said));
}

/** Every client was answered; the engine ends its statements when it likes, and the slots follow it. */
async function stillRun(gateway: TestGateway, engine: string): Promise<void> {
  const { running, endAll } = deafOf(engine);
  const statements = Object.keys(wires).length;
  expect(running()).toBe(statements);
  expect(await runningIn(gateway)).toBe(statements);
  endAll();
  await expect.poll(() => runningIn(gateway), { timeout: 10_000 }).toBe(0);
}

async function runningIn(gateway: TestGateway): Promise<number> {
  const text = await gateway.metrics();
  return Number(/^gateway_running_queries\{.*\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

async function gatewayBefore(engine: string, group: object): Promise<TestGateway> {
  const { cluster } = deafOf(engine);
  const groups = { default: { members: ["local"], maxRunningQueries: 4, ...group } };
  return gatewayOf(configOf({ clusters: { local: cluster }, clusterGroups: groups }));
}

function deafOf(engine: string): Deaf {
  const deaf = engines[engine];
  if (deaf === undefined) throw new Error("no such engine");
  return deaf;
}

function codeOf(error: unknown): string {
  return String((error as { code?: string }).code);
}

function kept<T extends AsyncDisposable>(one: T): T {
  open.push(one);
  return one;
}
