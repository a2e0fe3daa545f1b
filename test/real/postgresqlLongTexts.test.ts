/**
 * Statements of many megabytes, on a PostgreSQL and through the gateway before it: what the server stored is the same,
 * nobody else waits for them, and one beyond the limit is refused by its number.
 */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";

const server = new URL(process.env["GATEWAY_TEST_POSTGRES"] ?? "postgresql://127.0.0.1:1");
const mebibyte = 1 << 20;
/** Without a value in the configuration. */
const limitBytes = 16 * mebibyte;
const waysToSend = ["simple", "extended"] as const;

let gateway: TestGateway;
let through: number;
beforeAll(async () => {
  const local = {
    engine: "postgresql",
    hosts: [server.host],
    database: "postgres",
    auth: { type: "basic", username: server.username, password: "unused" },
  };
  gateway = await gatewayOf(configOf({ clusters: { local } }));
  through = portOf(gateway, "postgresWire");
});
afterAll(() => gateway[Symbol.asyncDispose]());

describe.each(waysToSend)("a long text by the %s protocol", (way) => {
  it.each([
    ["one value of 2 MiB", () => oneValue(2 * mebibyte)],
    ["one value up to the limit", () => oneValue(limitBytes)],
    ["many small values of 2 MiB", () => manyValues(2 * mebibyte)],
    ["many small values up to the limit", () => manyValues(limitBytes)],
  ])("with %s is stored as it is direct", async (_, make) => {
    const sql = make();
    expect(await stored(through, sql, way)).toEqual(await stored(Number(server.port), sql, way));
  });
});

it("a value of 17 MiB by its own is no text, and goes there", async () => {
  await using client = await clientOf(through);
  const value = "é".repeat((17 * mebibyte) / 2);
  const asked = { text: "select octet_length($1::text) n", values: [value] };
  expect((await client.query(asked)).rows).toEqual([{ n: 17 * mebibyte }]);
});

it("beside a long text another client is answered before it", async () => {
  await using long = await clientOf(through);
  await using other = await clientOf(through);
  await other.query("select 1");
  const ends: string[] = [];
  const sent = long
    .query(`select length(${quoted(limitBytes - 64)}) n`)
    .then(() => ends.push("long"));
  await other.query("select 1");
  ends.push("other");
  await sent;
  expect(ends).toEqual(["other", "long"]);
});

it.each(waysToSend)(
  "beyond the limit by the %s protocol is refused by its number, and the connection goes on",
  async (way) => {
    await using client = await clientOf(through);
    const refused = await run(client, oneValue(limitBytes + 1), way).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: "54000" });
    expect(String(refused)).toContain(`${limitBytes} bytes`);
    expect((await client.query("select 1 n")).rows).toEqual([{ n: 1 }]);
  },
);

/** Exactly so many bytes. */
function oneValue(bytes: number): string {
  const [head, tail] = ["insert into long_texts (v) values (", ")"];
  return head + quoted(bytes - head.length - tail.length) + tail;
}

/** With quotes and characters beyond ASCII in it. */
function quoted(bytes: number): string {
  const unit = "it''s é $1 ";
  const count = Math.floor((bytes - 2) / Buffer.byteLength(unit));
  const rest = bytes - 2 - count * Buffer.byteLength(unit);
  return `'${unit.repeat(count)}${"x".repeat(rest)}'`;
}

function manyValues(bytes: number): string {
  const row = "(12345,'it is a value of a@b.example',null)";
  const count = Math.floor((bytes - 64) / (row.length + 1));
  return `insert into long_texts (a, v, b) values ${Array.from({ length: count }, () => row).join(",")}`;
}

/** What the server has of it afterwards. */
async function stored(at: number, sql: string, way: (typeof waysToSend)[number]) {
  await using client = await clientOf(at);
  await client.query("drop table if exists long_texts");
  await client.query("create table long_texts (a int, v text, b int)");
  const { rowCount, command } = await run(client, sql, way);
  const { rows } = await client.query(
    "select count(*) n, sum(octet_length(v)) bytes, min(md5(v)) least, max(md5(v)) most, sum(a) a from long_texts",
  );
  await client.query("drop table long_texts");
  return { rows: rows as unknown, rowCount, command };
}

function run(client: pg.Client, text: string, way: (typeof waysToSend)[number]) {
  const extended: pg.QueryConfig & { queryMode: string } = {
    text,
    values: [],
    queryMode: "extended",
  };
  return way === "simple" ? client.query(text) : client.query(extended);
}

async function clientOf(port: number) {
  const client = new pg.Client({
    host: "127.0.0.1",
    port,
    user: server.username,
    database: "postgres",
  });
  client.on("error", () => undefined);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
