/**
 * `node test/bench/httpClient.mjs`: processor time that one short request to an HTTP engine costs the gateway's process,
 * through the pool that Trino clusters use and through undici's. The server is another process and answers with fixed
 * bytes. The ways take turns; one request at a time, then eight.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Pool } from "undici";
import { median } from "./figures.mjs";

const requests = Number(process.env["BENCH_REQUESTS"] ?? 10_000);
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5);
const headers = Object.entries({
  "accept-encoding": "identity",
  "x-trino-user": "bench",
  "x-trino-source": "gateway",
  "x-trino-client-tags": "a",
  "content-type": "text/plain",
  "user-agent": "gateway",
}).flat();
const request = { method: "POST", path: "/v1/statement", headers, body: "select 1" };

if (process.argv[2] === "server") serve();
else await measure();

function serve() {
  const stats = '"stats":{"state":"FINISHED","queued":false}';
  const body = `{"id":"x","infoUri":"http://a","columns":[{"name":"a","type":"integer"}],"data":[[1]],${stats}}`;
  const head = [
    "HTTP/1.1 200 OK",
    "Content-Type: application/json",
    "X-Content-Type-Options: nosniff",
    "Date: Thu, 26 Nov 2026 00:00:00 GMT",
    `Content-Length: ${body.length}`,
  ];
  const answer = Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on("data", () => socket.write(answer));
    socket.on("error", () => undefined);
  });
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
  process.on("disconnect", () => process.exit());
}

async function measure() {
  const server = fork(fileURLToPath(import.meta.url), ["server"]);
  const [port] = await once(server, "message");
  const origin = `http://127.0.0.1:${port}`;
  const ways = { undici: undiciWay(origin), "own pool": await ownWay(origin) };
  const found = new Map();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, ask] of Object.entries(ways)) {
      for (const concurrent of [1, 8]) {
        const key = `${name}, ${concurrent} at a time`;
        found.set(key, [...(found.get(key) ?? []), await microsOf(ask, concurrent)]);
      }
    }
  }
  for (const [key, [, ...micros]] of found) {
    const spread = `${Math.min(...micros).toFixed(1)} to ${Math.max(...micros).toFixed(1)}`;
    console.log(`${key}: ${median(micros).toFixed(1)} us a request (${spread})`);
  }
  process.exit();
}

/** Of the processor, for one request. */
async function microsOf(ask, concurrent) {
  const before = process.cpuUsage();
  let left = requests;
  const one = async () => {
    while (left > 0) {
      left -= 1;
      await ask();
    }
  };
  await Promise.all(Array.from({ length: concurrent }, one));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

function undiciWay(origin) {
  const pool = new Pool(origin, {
    connections: 256,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return () =>
    new Promise((resolve, reject) => {
      let body;
      pool.dispatch(request, {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData: (_controller, bytes) => (body = bytes),
        onResponseEnd: () => resolve(body),
        onResponseError: (_controller, error) => reject(error),
      });
    });
}

async function ownWay(origin) {
  const folder = await mkdtemp(join(tmpdir(), "gateway-bench-"));
  const outfile = join(folder, "pool.mjs");
  const source = new URL("../../packages/engines/src/connect/http1/pool.ts", import.meta.url);
  await build({
    entryPoints: [fileURLToPath(source)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
    banner: {
      js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
    },
  });
  const { Http1Pool } = await import(outfile);
  await rm(folder, { recursive: true });
  const clock = {
    nowMs: () => performance.now(),
    timer: (ms, fire) => {
      const timer = setTimeout(() => fire(), ms);
      return { [Symbol.dispose]: () => clearTimeout(timer) };
    },
  };
  const egress = { refuses: () => false, refusesHost: () => false };
  const log = { bug: (error) => console.error(error) };
  const tls = { minVersion: "TLSv1.2" };
  const options = { origin, tls, connectTimeoutMs: 5_000, connectionsMax: 256 };
  const pool = new Http1Pool(options, { clock, egress, log });
  return () =>
    new Promise((resolve, reject) => {
      let body;
      pool.ask(request, {
        sent() {},
        head() {},
        data: (bytes) => (body = bytes),
        end: () => resolve(body),
        failed: () => reject(new Error("no answer")),
      });
    });
}
