/** One join over the sample, asked by clients nobody here wrote: they all get the same rows. */
import * as mariadb from "mariadb";
import * as mysql from "mysql2/promise";
import pg from "pg";
import postgres from "postgres";
import { BasicAuth, Trino } from "trino-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";
const sql = `
  select c.country, count(distinct o.order_id) as orders, sum(l.quantity) as quantity,
         cast(sum(l.quantity * l.unit_price) as decimal(18,2)) as revenue
  from customers c
  join orders o on o.customer_id = c.customer_id
  join line_items l on l.order_id = o.order_id
  group by c.country
  order by revenue desc
  limit 5`;

type Rows = readonly (readonly string[])[];

let gateway: TestGateway;
let expected: Rows;

beforeAll(async () => {
  gateway = await gatewayOf(configOf(), { kind: "sample" });
  expected = await byPg();
}, 60_000);

afterAll(() => gateway[Symbol.asyncDispose]());

describe("a join over the sample", () => {
  it("has five rows with exact decimals", () => {
    expect(expected).toHaveLength(5);
    for (const row of expected) expect(row[3]).toMatch(/^\d+\.\d\d$/);
  });

  it.each([
    ["pg prepared", byPgPrepared],
    ["postgres.js", byPostgresJs],
    ["mysql2 text", byMysql2],
    ["mysql2 prepared", byMysql2Prepared],
    ["mariadb", byMariadb],
    ["trino-client", byTrino],
  ] as const)("is the same through %s", async (_name, ask) => {
    expect(await ask()).toEqual(expected);
  });
});

async function byPg(): Promise<Rows> {
  const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user: "alice" });
  await client.connect();
  const result = await client.query({ text: sql, rowMode: "array" });
  await client.end();
  return textOf(result.rows);
}

async function byPgPrepared(): Promise<Rows> {
  const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user: "alice" });
  await client.connect();
  const text = sql.replace("limit 5", "limit $1::int");
  const result = await client.query({ name: "join", text, values: [5], rowMode: "array" });
  await client.end();
  return textOf(result.rows);
}

async function byPostgresJs(): Promise<Rows> {
  const client = postgres({ host, port: portOf(gateway, "postgresWire"), user: "alice", max: 1 });
  const rows = await client.unsafe(sql).values();
  await client.end();
  return textOf(rows);
}

async function byMysql2(): Promise<Rows> {
  const client = await mysql.createConnection({
    host,
    port: portOf(gateway, "mysqlWire"),
    user: "alice",
  });
  const [rows] = await client.query({ sql, rowsAsArray: true });
  await client.end();
  return textOf(rows);
}

async function byMysql2Prepared(): Promise<Rows> {
  const client = await mysql.createConnection({
    host,
    port: portOf(gateway, "mysqlWire"),
    user: "alice",
  });
  const text = sql.replace("limit 5", "limit ?");
  const [rows] = await client.execute({ sql: text, rowsAsArray: true }, [5]);
  await client.end();
  return textOf(rows);
}

async function byMariadb(): Promise<Rows> {
  const client = await mariadb.createConnection({
    host,
    port: portOf(gateway, "mysqlWire"),
    user: "alice",
  });
  const rows: unknown = await client.query({ sql, rowsAsArray: true });
  await client.end();
  return textOf(rows);
}

async function byTrino(): Promise<Rows> {
  const server = `http://${host}:${portOf(gateway, "trinoHttp")}`;
  const client = Trino.create({ server, auth: new BasicAuth("alice") });
  const rows: unknown[] = [];
  for await (const page of await client.query(sql)) {
    expect(page.error).toBeUndefined();
    rows.push(...(page.data ?? []));
  }
  return textOf(rows);
}

/** Drivers differ in what they make of a bigint or a decimal; its text is the same. */
function textOf(rows: unknown): Rows {
  return (rows as unknown[][]).map((row) => row.map(String));
}
