/**
 * Attack 8: the largest statements each wire can carry, one and many at once. Each gets a typed answer, its
 * connection goes on where the protocol lets it, and nobody else waits long.
 */
import mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";

const host = "127.0.0.1";
const megabyte = 1 << 20;

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await gatewayOf(configOf());
});

afterAll(() => gateway[Symbol.asyncDispose]());

/** Texts that took the process for seconds; each as long as asked. */
const shapes: readonly (readonly [string, (length: number) => string])[] = [
  ["words", (length) => filled("select a", " a", length)],
  ["semicolons", (length) => filled("select 1", ";", length)],
  ["conditions", (length) => filled("select 1 where true", " and a.b=1", length)],
];

describe.each(["postgres", "mysql", "trino"] as const)("over %s", (wire) => {
  it.each(shapes)("a text of %s beyond the limit is refused unread", async (name, text) => {
    await using client = await clientOf(wire);
    const length = wire === "mysql" && name === "words" ? 60 * megabyte : 2 * megabyte;
    expect(await client.failure(text(length))).toBe(tooLarge[wire]);
    expect(await client.one()).toBe(1);
  });

  it.each(shapes)("a text of %s within the limit has too many tokens", async (_, text) => {
    await using client = await clientOf(wire);
    expect(await client.failure(text(megabyte - 8))).toBe(tooManyTokens[wire]);
    expect(await client.one()).toBe(1);
  });
});

it("a bulk insert of a megabyte is taken", async () => {
  await using client = await clientOf("postgres");
  await client.run("create table bulk (a integer, b varchar, c double, d varchar)");
  const rows = Array.from({ length: 22_000 }, (_, row) => `(${row},'Some name here',19.99,'2024')`);
  const sql = `insert into bulk values ${rows.join(",")}`;
  expect(sql.length).toBeGreaterThan(800_000);
  await client.run(sql);
  expect(await client.one("select count(*) from bulk")).toBe(22_000);
});

it("64 of the largest at once get a typed answer each, and others are served between them", async () => {
  const largest = filled("select 1 -- ", "x ", megabyte - 8);
  const senders = await Promise.all(Array.from({ length: 64 }, () => clientOf("postgres")));
  await using other = await clientOf("mysql");
  const sending = { on: true };
  let served = 0;
  const answers = Promise.all(senders.map((sender) => sender.failure(largest))).finally(() => {
    sending.on = false;
  });
  while (sending.on) {
    expect(await other.one()).toBe(1);
    served += 1;
  }
  const codes = new Set(await answers);
  expect(codes).toContain(undefined);
  expect([...codes].filter((code) => code !== undefined && code !== "53400")).toEqual([]);
  expect(served).toBeGreaterThan(5);
  await Promise.all(senders.map((sender) => sender[Symbol.asyncDispose]()));
});

const tooLarge = { postgres: "54000", mysql: "1153", trino: "QUERY_TEXT_TOO_LARGE" } as const;
const tooManyTokens = { ...tooLarge, postgres: "54001" } as const;

interface Client extends AsyncDisposable {
  run(sql: string): Promise<unknown>;
  /** The code of the error; undefined where there is none. */
  failure(sql: string): Promise<string | undefined>;
  /** The one value of a query, on the same connection. */
  one(sql?: string): Promise<number>;
}

type Wire = "postgres" | "mysql" | "trino";

function clientOf(wire: Wire): Promise<Client> {
  if (wire === "postgres") return postgresClient();
  return wire === "mysql" ? mysqlClient() : Promise.resolve(trinoClient());
}

async function postgresClient(): Promise<Client> {
  const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user: "u" });
  await client.connect();
  const run = (sql: string) => client.query<Record<string, string>>(sql);
  return {
    run,
    failure: (sql) => codeOf(run(sql)),
    one: async (sql = "select 1") => Number(Object.values((await run(sql)).rows[0] ?? {})[0]),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

async function mysqlClient(): Promise<Client> {
  const client = await mysql.createConnection({
    host,
    port: portOf(gateway, "mysqlWire"),
    user: "u",
  });
  const run = (sql: string) => client.query({ sql, rowsAsArray: true });
  return {
    run,
    failure: (sql) => codeOf(run(sql)),
    one: async (sql = "select 1") => Number(((await run(sql))[0] as unknown[][])[0]?.[0]),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

interface TrinoPage {
  readonly nextUri?: string;
  readonly data?: readonly (readonly unknown[])[];
  readonly error?: { readonly errorName: string };
}

function trinoClient(): Client {
  const url = `http://${host}:${portOf(gateway, "trinoHttp")}/v1/statement`;
  const run = async (sql: string): Promise<unknown[]> => {
    const headers = { "X-Trino-User": "u" };
    let page = (await (
      await fetch(url, { method: "POST", headers, body: sql })
    ).json()) as TrinoPage;
    const rows: unknown[] = [...(page.data ?? [])];
    while (page.nextUri !== undefined) {
      page = (await (await fetch(page.nextUri, { headers })).json()) as TrinoPage;
      rows.push(...(page.data ?? []));
    }
    if (page.error !== undefined)
      throw Object.assign(new Error("failed"), { code: page.error.errorName });
    return rows;
  };
  return {
    run,
    failure: (sql) => codeOf(run(sql)),
    one: async (sql = "select 1") => Number(((await run(sql)) as unknown[][])[0]?.[0]),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function codeOf(run: Promise<unknown>): Promise<string | undefined> {
  try {
    await run;
    return undefined;
  } catch (failure) {
    const { code, errno } = failure as { readonly code?: string; readonly errno?: number };
    return errno === undefined ? code : String(errno);
  }
}

function filled(head: string, unit: string, length: number): string {
  return head + unit.repeat(Math.floor((length - head.length) / unit.length));
}
