/** Values that no single packet can carry, on a server of MySQL's family and through the gateway before it. */
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
