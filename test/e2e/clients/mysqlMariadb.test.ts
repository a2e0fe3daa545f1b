/** The package mariadb (MariaDB's own connector) against a whole gateway over DuckDB. */
import * as mariadb from "mariadb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../gateway.ts";

let gateway: TestGateway;
let client: mariadb.Connection;

const optionsOf = (more: object = {}) => ({
  host: "127.0.0.1",
  port: portOf(gateway, "mysqlWire"),
  user: "ann",
  database: "main",
  ...more,
});

beforeAll(async () => {
  gateway = await gatewayOf(configOf());
  client = await mariadb.createConnection(optionsOf());
  // A lost connection that nobody waits on is an event.
  client.on("error", () => {});
  await client.query("create table t (id integer, name varchar)");
}, 30_000);

afterAll(async () => {
  await client.end();
  await gateway[Symbol.asyncDispose]();
});

describe("mariadb", () => {
  it("sends statements ahead and gets the answers in order", async () => {
    const asked = Array.from({ length: 50 }, (_, n) => client.query(`select ${n} as n`));
    const answers = (await Promise.all(asked)) as { n: number }[][];
    expect(answers.map(([row]) => row?.n)).toEqual(Array.from({ length: 50 }, (_, n) => n));
  });

  it("writes in batches with bound values", async () => {
    const rows = Array.from({ length: 100 }, (_, n) => [n, n % 7 === 0 ? null : `name ${n}`]);
    await client.batch("insert into t values (?, ?)", rows);
    const answer: unknown = await client.query("select count(*) as n, count(name) as named from t");
    expect(answer).toMatchObject([{ n: 100n, named: 85n }]);
  });

  it.each([false, true])("prepares and executes, compressed: %s", async (compress) => {
    const other = await mariadb.createConnection(optionsOf({ compress }));
    const statement = await other.prepare("select id, name from t where id = ?");
    expect(await statement.execute([3])).toMatchObject([{ id: 3, name: "name 3" }]);
    expect(await statement.execute([7])).toMatchObject([{ id: 7, name: null }]);
    statement.close();
    const long = "x".repeat(300_000);
    expect(await other.query("select ? as x", [long])).toMatchObject([{ x: long }]);
    await other.end();
  });

  it("streams rows as they come", async () => {
    const stream = client.queryStream("select i from range(10000) t(i)");
    let sum = 0n;
    for await (const row of stream) sum += (row as { i: bigint }).i;
    expect(sum).toBe(49_995_000n);
  });

  it("resets its session and stays in its database", async () => {
    const other = await mariadb.createConnection(optionsOf());
    await other.query("set @x = 1");
    await other.reset();
    expect(await other.query("select @x as x, database() as d")).toMatchObject([
      { x: null, d: "main" },
    ]);
    await other.end();
  });

  it("gets errors with their number and SQLSTATE", async () => {
    await expect(client.query("select * from nosuch")).rejects.toMatchObject({
      errno: 1146,
      sqlState: "42S02",
    });
  });
});
