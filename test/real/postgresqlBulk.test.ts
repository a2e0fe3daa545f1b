/**
 * Large results, byte for byte, while many read at once: what was sent on is the memory that the next rows are read into,
 * so whoever is slow, leaves or cancels must not see another one's rows, nor older ones of his own.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { queryOf, startupOf } from "../../packages/frontends/src/postgres/rig/rawClient.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

/** Some 40 MB: rows of nothing up to 19 KB, and now and then one of 200 KB. */
const rowsOf = (seed: number): string =>
  `select i, repeat(md5((i + ${seed})::text), case i % 500 when 7 then 6400 else i * 7919 % 600 end) from generate_series(1, 4000) i`;
/** Rows of some forty bytes. */
const manyOf = (seed: number): string =>
  `select i, md5((i + ${seed})::text) from generate_series(1, 300000) i`;
const copyOf = (seed: number): string => `copy (${rowsOf(seed)}) to stdout`;
const ready = Buffer.of(0x5a, 0, 0, 0, 5, 0x49);

let server: URL;
let gateway: TestGateway;
beforeAll(async () => {
  server = await emptyDatabase("bulk");
  const local = {
    engine: "postgresql",
    hosts: [server.host],
    database: "bulk",
    auth: { type: "basic", username: server.username, password: "none" },
    poolSize: 12,
  };
  gateway = await gatewayOf(configOf({ clusters: { local } }));
});
afterAll(async () => await gateway[Symbol.asyncDispose]());

describe("a large result", () => {
  it("is the server's, byte for byte, for each of many at once, whatever the others do", async () => {
    const through = portOf(gateway, "postgresWire");
    const texts = [1, 2, 3].flatMap((seed) => [rowsOf(seed), manyOf(seed), copyOf(seed)]);
    const expected: string[] = [];
    for (const sql of texts) expected.push(await digest(Number(server.port), sql));
    const leaving = [leaves(through, rowsOf(9)), leaves(through, manyOf(9)), cancels(through)];
    const asked = texts.map((sql, at) => digest(through, sql, at % 3 === 0 ? slowly : undefined));
    expect(await Promise.all(asked)).toEqual(expected);
    await Promise.all(leaving);
    // Connections that another one left in the middle are as good as new ones, or gone.
    for (const [at, sql] of texts.entries()) expect(await digest(through, sql)).toBe(expected[at]);
  });
});

/** Takes what comes until `take` says that it was the last. */
type Reading = (socket: Socket, take: (bytes: Buffer) => boolean) => Promise<void>;

/** Of all bytes of the answer. */
async function digest(port: number, sql: string, read: Reading = freely): Promise<string> {
  const { socket } = await started(port);
  const hash = createHash("sha256");
  const ends = endOf(ready);
  socket.write(queryOf(sql));
  await read(socket, (bytes) => {
    hash.update(bytes);
    return ends(bytes);
  });
  socket.destroy();
  return hash.digest("hex");
}

/** Goes away in the middle. */
async function leaves(port: number, sql: string): Promise<void> {
  const { socket } = await started(port);
  socket.write(queryOf(sql));
  await freely(socket, muchCame());
  socket.destroy();
}

async function cancels(port: number): Promise<void> {
  const { socket, key } = await started(port);
  socket.write(queryOf("select i, repeat('x', 8000) from generate_series(1, 10000000) i"));
  await freely(socket, muchCame());
  const canceller = connect(port, "127.0.0.1");
  canceller.end(Buffer.concat([Buffer.of(0, 0, 0, 16, 4, 210, 22, 46), key]));
  const ends = endOf(ready);
  let text = "";
  await freely(socket, (bytes) => {
    text = (text + bytes.toString("latin1")).slice(-1000);
    return ends(bytes);
  });
  expect(text).toContain("57014");
  socket.destroy();
}

const freely: Reading = (socket, take) =>
  new Promise((resolve, reject) => {
    const closed = (): void => reject(new Error("closed"));
    const read = (bytes: Buffer): void => {
      if (!take(bytes)) return;
      socket.off("data", read).off("close", closed).pause();
      resolve();
    };
    socket.on("close", closed).on("data", read).resume();
  });

/** A piece in so many turns of the event loop that what is sent waits for it. */
const slowly: Reading = (socket, take) =>
  freely(socket, (bytes) => {
    socket.pause();
    void rested(20).then(() => socket.resume());
    return take(bytes);
  });

async function rested(turns: number): Promise<void> {
  for (let count = 0; count < turns; count += 1) await turn();
}

function muchCame(): (bytes: Buffer) => boolean {
  let came = 0;
  return ({ length }) => {
    came += length;
    return came > 3_000_000;
  };
}

function endOf(end: Buffer): (bytes: Buffer) => boolean {
  let tail = Buffer.alloc(0);
  return (bytes) => {
    tail = Buffer.concat([tail, bytes.subarray(-end.length)]).subarray(-end.length);
    return tail.equals(end);
  };
}

async function started(
  port: number,
): Promise<{ readonly socket: Socket; readonly key: Uint8Array }> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(startupOf({ user: server.username, database: "bulk" }));
  let came = Buffer.alloc(0);
  const ends = endOf(ready);
  await freely(socket, (bytes) => {
    came = Buffer.concat([came, bytes]);
    return ends(bytes);
  });
  const at = came.indexOf(Buffer.of(0x4b, 0, 0, 0, 12)) + 5;
  return { socket, key: came.subarray(at, at + 8) };
}
