/**
 * `node test/bench/trinoRelay.mjs`: pages of a Trino server to a Trino client, direct, through a bare
 * Node relay and through the gateway, in MB/s; and `SELECT 1` in milliseconds. Server, relay, gateway
 * and client are processes of their own. Rounds alternate; medians with lowest and highest.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { quantile, spread } from "./figures.mjs";

const self = fileURLToPath(import.meta.url);
const root = fileURLToPath(new URL("../../", import.meta.url));
const rounds = 5;
const pagesPerRound = 400;
const queriesPerRound = 500;
const [role, port, target] = process.argv.slice(2);
/** The client's one connection, and the relay's. */
const agent = new Agent({ keepAlive: true });

if (role === "server") serve(Number(port));
else if (role === "relay") relay(Number(port), Number(target));
else await bench();

/** A server of one large page, given as often as the statement says. */
function serve(at) {
  const rows = Array.from({ length: 10_000 }, (_, index) => [
    index,
    `Customer#${String(index).padStart(9, "0")}`,
    (index * 1.37).toFixed(2),
    index % 2 === 0,
    "2024-02-29 12:34:56.789000",
    "carefully final deposits detect slyly agai",
  ]);
  const types = ["bigint", "varchar", "decimal(12, 2)", "boolean", "timestamp(6)", "varchar"];
  const columns = types.map((type, index) => ({
    name: `c${index}`,
    type,
    typeSignature: { rawType: type.replace(/\(.*/, ""), arguments: [] },
  }));
  const stats = {
    state: "RUNNING",
    queued: false,
    scheduled: true,
    nodes: 1,
    totalSplits: 1,
    queuedSplits: 0,
    runningSplits: 1,
    completedSplits: 0,
  };
  const page = (id, next, data) =>
    `{"id":"${id}","infoUri":"http://127.0.0.1:${at}/","columns":${JSON.stringify(columns)}${next}${data},"stats":${JSON.stringify(stats)},"warnings":[]}`;
  // Encoded once, so that the server is not what is measured.
  const large = Buffer.from(`,"data":${JSON.stringify(rows)}`);
  const link = (id, left) =>
    `,"nextUri":"http://127.0.0.1:${at}/v1/statement/executing/${id}/x/${left}"`;
  let count = 0;
  createServer((asked, answer) => {
    asked.resume();
    answer.setHeader("content-type", "application/json");
    if (asked.url === "/v1/info") return answer.end('{"starting":false}');
    if (asked.url === "/v1/query") return answer.end("[]");
    if (asked.method === "DELETE") return answer.writeHead(204).end();
    if (asked.method === "POST") {
      let sql = "";
      asked.on("data", (chunk) => {
        sql += chunk;
      });
      asked.on("end", () => {
        count += 1;
        const id = `q${count}`;
        answer.end(page(id, link(id, /pages (\d+)/.exec(sql)?.[1] ?? 0), ""));
      });
      return undefined;
    }
    const [id, , left] = asked.url.split("/").slice(-3);
    if (left === "0")
      return answer.end(
        page(id, "", ',"data":[[1,"x","1.00",true,"2024-02-29 12:34:56.789000","y"]]'),
      );
    const [head, tail] = page(id, link(id, Number(left) - 1), "\0").split("\0");
    return answer.end(Buffer.concat([Buffer.from(head), large, Buffer.from(tail)]));
  }).listen(at, "127.0.0.1");
}

/** Bytes in, bytes out. */
function relay(at, to) {
  createServer((asked, answer) => {
    const { method, url: path, headers } = asked;
    const onward = request(
      { host: "127.0.0.1", port: to, method, path, headers, agent },
      (came) => {
        answer.writeHead(came.statusCode, came.headers);
        came.pipe(answer);
      },
    );
    asked.pipe(onward);
  }).listen(at, "127.0.0.1");
}

async function bench() {
  const [origin, bare, through, admin] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ]);
  const folder = await mkdtemp(join(tmpdir(), "bench-"));
  const file = join(folder, "gateway.yaml");
  const listener = (at) => ({ host: "127.0.0.1", port: at });
  const config = {
    gateway: {
      frontends: { trinoHttp: listener(through) },
      adminApi: listener(admin),
      persistence: { type: "inMemory" },
    },
    clusters: { trino: { engine: "trino", endpoint: `http://127.0.0.1:${origin}` } },
    clusterGroups: { default: { members: ["trino"], maxRunningQueries: 8 } },
    routingFallback: "default",
    auth: { provider: "none" },
  };
  await writeFile(file, JSON.stringify(config));
  const gateway = [`${root}packages/gateway/bin/gateway.mjs`, "start", "--config", file];
  const children = [[self, "server", origin], [self, "relay", bare, origin], gateway].map((args) =>
    spawn(process.execPath, args.map(String), { cwd: root, stdio: "ignore" }),
  );
  try {
    const ways = { direct: origin, "bare Node relay": bare, gateway: through };
    for (const at of Object.values(ways)) await untilUp(at);
    console.table(await measured(ways));
  } finally {
    for (const child of children) child.kill("SIGKILL");
    await rm(folder, { recursive: true });
  }
}

async function measured(ways) {
  const found = Object.entries(ways).map(([way, at]) => ({ way, at, rates: [], p50: [] }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const one of found) {
      const from = performance.now();
      const bytes = await run(one.at, `select pages ${pagesPerRound}`);
      const rate = bytes / 1e3 / (performance.now() - from);
      const times = [];
      for (let query = 0; query < queriesPerRound; query += 1) {
        const begun = performance.now();
        await run(one.at, "select 1");
        times.push(performance.now() - begun);
      }
      // The first round warms up.
      if (round === 0) continue;
      one.rates.push(rate);
      one.p50.push(
        quantile(
          times.toSorted((a, b) => a - b),
          0.5,
        ),
      );
    }
  }
  return found.map(({ way, rates, p50 }) => ({
    way,
    "MB/s": spread(rates, 0),
    "SELECT 1 p50 ms": spread(p50, 3),
  }));
}

/** Runs a statement through a port, whatever host its links name; answers the bytes of all answers. */
async function run(at, sql) {
  let bytes = 0;
  let path = "/v1/statement";
  let method = "POST";
  while (path !== undefined) {
    const answer = await exchange({ host: "127.0.0.1", port: at, method, path, agent }, sql);
    bytes += answer.bytes;
    path = answer.next;
    method = "GET";
  }
  return bytes;
}

function exchange({ method, ...options }, sql) {
  const headers = {
    "x-trino-user": "bench",
    "user-agent": "trino-cli/476",
    "x-trino-client-capabilities": "PARAMETRIC_DATETIME",
  };
  return new Promise((resolve, reject) => {
    const asked = request({ ...options, method, headers }, (came) => {
      let bytes = 0;
      let head = "";
      let last = Buffer.alloc(0);
      came.on("data", (chunk) => {
        bytes += chunk.length;
        if (head.length < 2_000) head += chunk.subarray(0, 4_000).toString("latin1");
        last = chunk;
      });
      came.on("end", () => {
        const tail = last.subarray(-4_000).toString("latin1");
        if (came.statusCode !== 200 || tail.includes('"error":'))
          return reject(new Error(head.slice(0, 300) + tail));
        const link = /"nextUri":"http:\/\/[^/"]+([^"]+)"/;
        const [, next] = link.exec(head) ?? [];
        return resolve({ bytes, next });
      });
    });
    asked.on("error", reject);
    asked.end(method === "POST" ? sql : undefined);
  });
}

async function untilUp(at) {
  const until = performance.now() + 60_000;
  for (;;) {
    try {
      await run(at, "select 1");
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, 100);
      });
    }
  }
}

function freePort() {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port: free } = server.address();
      server.close(() => resolve(free));
    });
  });
}
