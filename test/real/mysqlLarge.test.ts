/** Values that no single packet can carry, on a server of MySQL's family and through the gateway before it. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import type { Connection } from "mysql2";
import mysql from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { portOf, type TestGateway } from "../e2e/gateway.ts";
import { openBefore, password, port, user } from "./mysqlGateway.ts";

/** The most bytes of one packet. */
const packetBytes = 0xff_ffff;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await openBefore();
});
afterAll(() => gateway[Symbol.asyncDispose]());

describe("a value of an execution", () => {
  it.each([
    ["all but a packet", packetBytes - 100],
    ["a packet and more", packetBytes + 100],
    ["three packets", 3 * packetBytes],
  ])("of %s goes there and back", async (_name, length) => {
    const value = Buffer.alloc(length, "value ");
    expect(await answers(portOf(gateway, "mysqlWire"), value)).toEqual(await answers(port, value));
  });
});

/**
 * What was sent on is the memory that the next rows are read into: whoever is slow or leaves must not see another one's
 * rows, nor older ones of his own.
 */
describe("a large result", () => {
  it("is the server's for each of many at once, whatever the others do", async () => {
    const through = portOf(gateway, "mysqlWire");
    const texts = [1, 2].flatMap((seed) => [rowsOf(seed, 300, 4_000), rowsOf(seed, 2, 100_000)]);
    const ways: readonly Way[] = ["query", "execute"];
    const asked = ways.flatMap((way) => texts.map((sql) => ({ way, sql })));
    const expected: string[] = [];
    for (const { way, sql } of asked) expected.push(await digest(port, way, sql));
    const leaving = texts.map((sql) => leaves(through, sql));
    const found = asked.map(({ way, sql }, at) => digest(through, way, sql, at % 2 === 0 ? 20 : 0));
    expect(await Promise.all(found)).toEqual(expected);
    await Promise.all(leaving);
  });
});

/** Rows of nothing up to `times` × 64 bytes. */
function rowsOf(seed: number, times: number, count: number): string {
  const digits = Array.from({ length: 10 }, (_, digit) => `select ${digit} i`).join(" union all ");
  const places = ["a", "b", "c", "d", "e"];
  const tables = places.map((name) => `(${digits}) ${name}`).join(", ");
  const number = places.map((name, at) => `${10 ** at} * ${name}.i`).join(" + ");
  const numbers = `select ${number} n from ${tables} having n < ${count}`;
  return `select n, repeat(sha2(n + ${seed}, 256), (n * 7919) % ${times}) v from (${numbers}) t order by n`;
}

type Way = "query" | "execute";

/** `turns`: of the event loop, that it waits for before it reads on. */
async function digest(at: number, way: Way, sql: string, turns = 0): Promise<string> {
  const client = await clientAt(at);
  const hash = createHash("sha256");
  const rows = client[way](sql).stream({ highWaterMark: 100 });
  let count = 0;
  for await (const { n, v } of rows as AsyncIterable<{ readonly n: number; readonly v: string }>) {
    hash.update(`${n}:${v};`);
    count += 1;
    for (let left = count % 100 === 0 ? turns : 0; left > 0; left -= 1) await turn();
  }
  client.destroy();
  return `${count} ${hash.digest("hex")}`;
}

/** Goes away in the middle. */
async function leaves(at: number, sql: string): Promise<void> {
  const client = await clientAt(at);
  const rows = client.query(sql).stream();
  rows.on("error", () => undefined);
  await once(rows, "data");
  client.destroy();
}

async function clientAt(at: number): Promise<Connection> {
  const own = { host: "127.0.0.1", user, password, database: "demo" };
  const client = await mysql.createConnection({ ...own, port: at });
  client.on("error", () => undefined);
  return (client as unknown as { readonly connection: Connection }).connection;
}

async function answers(at: number, value: Buffer): Promise<readonly unknown[]> {
  const own = { host: "127.0.0.1", user, password, database: "demo" };
  const client = await mysql.createConnection({ ...own, port: at });
  try {
    const [short] = await client.execute("select length(v) l, crc32(v) c from (select ? v) t", [
      value,
    ]);
    const [long] = await client.execute<mysql.RowDataPacket[]>("select concat(?, 'x') v", [value]);
    const returned: unknown = long[0]?.["v"];
    const told = Buffer.isBuffer(returned) ? returned : Buffer.from(String(returned));
    // The connection is as good as before.
    const [next] = await client.execute("select ? n", [1]);
    return [short, told.length, told.subarray(0, -1).equals(value), next];
  } finally {
    await client.end();
  }
}
