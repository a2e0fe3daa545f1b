/** Large results of a ClickHouse, byte by byte: the memory that they are read into is read into again as soon as a client has them. */
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";
const resultBytes = 32 * 1024 * 1024;
const open: AsyncDisposable[] = [];
let gateway: TestGateway;

beforeAll(async () => {
  const server = createServer((asked, answer) => {
    let sql = "";
    asked.on("data", (bytes: Buffer) => {
      sql += bytes.toString();
    });
    asked.on("end", () => {
      const seed = /'seed (\d+)'/.exec(sql)?.[1];
      answer.setHeader("X-ClickHouse-Format", seed === undefined ? "Native" : "RowBinary");
      if (seed === undefined) return answer.end();
      const whole = resultOf(Number(seed));
      // Chunks of all sizes: several in one reading, and some that are several readings.
      const send = (at: number, size: number): void => {
        if (at >= whole.length) return void answer.end();
        const more = (): void => send(at + size, (size * 7) % 6_000_011);
        if (answer.write(whole.subarray(at, at + size))) setImmediate(more);
        else answer.once("drain", more);
      };
      return send(0, 1 + Number(seed));
    });
  });
  const port = await listening(server);
  const listener = { host, port: 0 };
  const more = {
    gateway: {
      frontends: { clickhouseHttp: listener },
      adminApi: listener,
      persistence: { type: "inMemory" },
    },
    clusters: { local: { engine: "clickHouse", endpoint: `http://${host}:${port}` } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: 8 } },
  };
  gateway = await gatewayOf(configOf(more));
  open.push(gateway, { [Symbol.asyncDispose]: async () => void server.close() });
}, 60_000);
afterAll(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

describe("a large result of a ClickHouse", () => {
  it("comes to each of several clients as it was sent, though some wait and some leave", async () => {
    const readers = [0, 1, 2].map((seed) => wrongBytesOf(seed));
    const over = Promise.all(readers);
    // Far more than systems keep for one who does not read.
    const waiting = [3, 4].map((seed) => wrongBytesOf(seed, over));
    const leaving = [7, 8].map((seed) => leave(seed));
    expect(await over).toEqual([0, 0, 0]);
    expect(await Promise.all(waiting)).toEqual([0, 0]);
    await Promise.all(leaving);
    // On connections that were read into before.
    const again = [11, 12, 13].map((seed) => wrongBytesOf(seed));
    expect(await Promise.all(again)).toEqual([0, 0, 0]);
  }, 60_000);
});

/** Words that say where they stand, and in which result. */
function resultOf(seed: number): Buffer {
  const words = new Uint32Array(resultBytes / 4);
  for (let at = 0; at < words.length; at += 1) words[at] = at * 97 + seed;
  return Buffer.from(words.buffer);
}

/** How many are not what was sent, or are missing. `until`: reads no more than the beginning before. */
async function wrongBytesOf(seed: number, until?: Promise<unknown>): Promise<number> {
  const answer = await ask(seed);
  const expected = resultOf(seed);
  let [at, wrong] = [0, 0];
  answer.on("data", (bytes: Buffer) => {
    const part = expected.subarray(at, at + bytes.length);
    if (!part.equals(bytes)) wrong += bytes.length;
    if (at === 0 && until !== undefined) {
      answer.pause();
      void until.then(() => answer.resume());
    }
    at += bytes.length;
  });
  await once(answer, "end");
  return wrong + Math.abs(expected.length - at);
}

async function leave(seed: number): Promise<void> {
  const answer = await ask(seed);
  await once(answer, "data");
  answer.destroy();
}

async function ask(seed: number): Promise<IncomingMessage> {
  const port = portOf(gateway, "clickhouseHttp");
  const asked = request({ host, port, method: "POST", path: "/?user=a", agent: false });
  asked.end(`SELECT 'seed ${seed}'`);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  expect(answer.statusCode).toBe(200);
  // Leaving is told as an error.
  answer.on("error", () => {});
  return answer;
}

async function listening(server: Server): Promise<number> {
  server.listen(0, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
