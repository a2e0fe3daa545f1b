/**
 * `node test/bench/trinoRelay.mjs`: pages of a Trino server to a Trino client, direct, through a bare
 * Node relay and through the gateway, in MB/s; `SELECT 1` in milliseconds; and resident memory while
 * ten gigabytes pass. Client and server share a core, relay and gateway take turns on another, so the
 * share of the bare relay's speed is the figure that holds elsewhere. Rounds alternate; medians with
 * lowest and highest.
 */
import { fork } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, quantile, spread } from "./figures.mjs";
import { bareRelay, cpuOf, keepAwake, memoryOf, pinBeside, spawnMeasured } from "./processes.mjs";

const self = fileURLToPath(import.meta.url);
const root = fileURLToPath(new URL("../../", import.meta.url));
const rounds = 5;
const pagesPerRound = 400;
const queriesPerRound = 2_000;
/** Until V8 has compiled what a query runs through: it does so on the core of what is measured. */
const queriesBefore = 20_000;
const memoryBytes = 10e9;
const pageBytes = 1.1e6;
const quantiles = [
  ["p50", 0.5],
  ["p95", 0.95],
  ["p99", 0.99],
];
const [role, port] = process.argv.slice(2);
/** The client's one connection. */
const agent = new Agent({ keepAlive: true });

if (role === "server") serve(Number(port));
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

async function bench() {
  keepAwake();
  pinBeside();
  const [origin, through, admin] = await Promise.all([freePort(), freePort(), freePort()]);
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
  const server = fork(self, ["server", String(origin)]);
  const program = `${root}packages/gateway/bin/gateway.mjs`;
  const gateway = spawnMeasured([program, "start", "--config", file], { stdio: "ignore" });
  const bare = await bareRelay("http", origin);
  try {
    const ways = [
      { way: "direct", at: origin },
      { way: "bare Node relay", at: bare.port, pid: bare.pid },
      { way: "gateway", at: through, pid: gateway.pid },
    ];
    for (const { at } of ways) await untilUp(at);
    console.table(await measured(ways));
    const pages = Math.ceil(memoryBytes / pageBytes);
    const pass = () => run(through, `select pages ${pages}`);
    console.table([await memoryOf("ten gigabytes", gateway.pid, pass)]);
  } finally {
    bare.stop();
    for (const child of [server, gateway]) child.kill("SIGKILL");
    await rm(folder, { recursive: true });
  }
}

async function measured(ways) {
  const found = ways.map((way) => ({ ...way, rates: [], cpu: [], times: [], query: [] }));
  for (const { at } of ways) for (let n = 0; n < queriesBefore; n += 1) await run(at, "select 1");
  for (let round = 0; round <= rounds; round += 1) {
    for (const one of found) {
      const stream = await streamed(one);
      const { times, query } = await timed(one);
      // The first round warms up.
      if (round === 0) continue;
      one.rates.push(stream.rate);
      one.cpu.push(stream.cpu);
      one.times.push(times);
      one.query.push(query);
    }
  }
  console.table(found.map(({ way, times }) => latencyRow(way, times, found[0].times)));
  const reached = median(found.find(({ way }) => way === "bare Node relay").rates);
  return found.map(({ way, rates, cpu, query }) => ({
    way,
    "MB/s": spread(rates, 0),
    "of the bare relay": `${((median(rates) / reached) * 100).toFixed(0)} %`,
    "its CPU s/GB": spread(cpu, 2),
    ...cpuFigures(query),
  }));
}

/** Quantiles of rounds, and what is left of each without the direct way's of the same round. */
function latencyRow(way, rows, direct) {
  const row = { "SELECT 1": way };
  for (const [name, part] of quantiles) {
    const here = rows.map((times) => quantile(times, part));
    row[`${name} ms`] = spread(here, 3);
    if (rows === direct) continue;
    const added = here.map((value, round) => value - quantile(direct[round], part));
    row[`${name} added`] = spread(added, 3);
  }
  return row;
}

/** None where nothing stands between client and server. */
function cpuFigures(micros) {
  if (micros.some((each) => each === undefined)) return {};
  const perCore = micros.map((each) => 1e6 / each);
  return { "its CPU µs": spread(micros, 0), "queries/s per core": spread(perCore, 0) };
}

async function streamed({ at, pid }) {
  const cpu = () => (pid === undefined ? 0 : cpuOf(pid));
  const cpuBefore = cpu();
  const from = performance.now();
  const bytes = await run(at, `select pages ${pagesPerRound}`);
  const rate = bytes / 1e3 / (performance.now() - from);
  return { rate, cpu: (cpu() - cpuBefore) / (bytes / 1e9) };
}

async function timed({ at, pid }) {
  const times = [];
  const cpuBefore = pid === undefined ? 0 : cpuOf(pid);
  for (let query = 0; query < queriesPerRound; query += 1) {
    const from = performance.now();
    await run(at, "select 1");
    times.push(performance.now() - from);
  }
  const micros = pid === undefined ? undefined : (cpuOf(pid) - cpuBefore) * 1e6;
  times.sort((a, b) => a - b);
  return { times, query: micros === undefined ? undefined : micros / queriesPerRound };
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
