/**
 * Statements of many megabytes, on a server of MySQL's family and through the gateway before it: what the server stored
 * is the same, nobody else waits for them, and one beyond the limit is refused by its number.
 */
import { createHash } from "node:crypto";
import mysql from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { portOf, type TestGateway } from "../e2e/gateway.ts";
import { openBefore, password, port, user } from "./mysqlGateway.ts";

const mebibyte = 1 << 20;
/** Without a value in the configuration. */
const limitBytes = 16 * mebibyte;
const waysToSend = ["query", "prepare"] as const;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await openBefore();
});
afterAll(() => gateway[Symbol.asyncDispose]());

describe.each(waysToSend)("a long text by %s", (way) => {
  it.each([
    ["one value of 2 MiB", () => oneValue(2 * mebibyte)],
    ["one value up to the limit", () => oneValue(limitBytes)],
    ["many small values of 2 MiB", () => manyValues(2 * mebibyte)],
    ["many small values up to the limit", () => manyValues(limitBytes)],
  ])("with %s is stored as it is direct", async (_, make) => {
    const sql = make();
    const through = await stored(portOf(gateway, "mysqlWire"), sql, way);
    expect(through).toEqual(await stored(port, sql, way));
  });
});

it("beside a long text another client is answered before it", async () => {
  await using long = await clientOf(portOf(gateway, "mysqlWire"));
  await using other = await clientOf(portOf(gateway, "mysqlWire"));
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
  "beyond the limit by %s is refused by its number, and the connection goes on",
  async (way) => {
    await using client = await clientOf(portOf(gateway, "mysqlWire"));
    const refused = await run(client, oneValue(limitBytes + 1), way).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ errno: 1153, sqlState: "42000" });
    expect(String(refused)).toContain(`${limitBytes} bytes, maxStatementBytes`);
    expect((await client.query("select 1 n"))[0]).toEqual([{ n: 1 }]);
  },
);

/** Exactly so many bytes. */
function oneValue(bytes: number): string {
  const [head, tail] = ["insert into t (v) values (", ")"];
  return head + quoted(bytes - head.length - tail.length) + tail;
}

/** With escapes and characters beyond ASCII in it. */
function quoted(bytes: number): string {
  const unit = "it\\'s é @x ";
  const count = Math.floor((bytes - 2) / Buffer.byteLength(unit));
  const rest = bytes - 2 - count * Buffer.byteLength(unit);
  return `'${unit.repeat(count)}${"x".repeat(rest)}'`;
}

function manyValues(bytes: number): string {
  const row = "(12345,'it is a value of a@b.example',null)";
  const count = Math.floor((bytes - 64) / (row.length + 1));
  return `insert into t (a, v, b) values ${Array.from({ length: count }, () => row).join(",")}`;
}

/** What the server has of it afterwards. */
async function stored(at: number, sql: string, way: (typeof waysToSend)[number]): Promise<unknown> {
  await using client = await clientOf(at);
  await client.query("drop table if exists t");
  await client.query("create table t (a int, v longtext, b int)");
  const done = await run(client, sql, way);
  const [found] = await client.query(
    "select count(*) n, sum(length(v)) bytes, min(sha2(v, 256)) least, max(sha2(v, 256)) most, sum(a) a from t",
  );
  await client.query("drop table t");
  return { found, done, sent: createHash("md5").update(sql).digest("hex") };
}

async function run(client: mysql.Connection, sql: string, way: (typeof waysToSend)[number]) {
  if (way === "query") return affectedOf(await client.query(sql));
  const prepared = await client.prepare(sql);
  const done = affectedOf(await prepared.execute([]));
  await prepared.close();
  return done;
}

function affectedOf([header]: readonly unknown[]): number {
  return (header as mysql.ResultSetHeader).affectedRows;
}

async function clientOf(at: number) {
  const own = { host: "127.0.0.1", user, password, database: "demo" };
  const client = await mysql.createConnection({ ...own, port: at, charset: "utf8mb4" });
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
