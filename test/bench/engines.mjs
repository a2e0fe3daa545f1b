/**
 * Engines behind the gateway: rows and bytes of a ClickHouse and of a MySQL wire stand-in to readers that
 * only take bytes, what the gateway adds to `SELECT 1`, and resident memory while ten gigabytes pass.
 * A relay that only passes bytes on stands beside it, and says what this machine lets anybody reach.
 */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import mysql from "mysql2/promise";
import pg from "pg";
import { quantile, spread } from "./figures.mjs";
import { bareRelay, cpuOf, memoryOf, pinBeside, spawnMeasured } from "./processes.mjs";
import { pgQuery, pgStartup, readUntilReady } from "./rawPostgres.mjs";

const program = fileURLToPath(new URL("../../packages/gateway/bin/gateway.mjs", import.meta.url));
const standIns = fileURLToPath(new URL("enginesServer.mjs", import.meta.url));
const host = "127.0.0.1";
/** The one connection of the straight way to ClickHouse. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const rounds = 5;
/** Of full rounds, for a busy machine: `BENCH_SHARE=0.2 npm run bench engines`. */
const share = Number(process.env["BENCH_SHARE"] ?? 1);
const perRound = 1_000 * share;
/** Until V8 has compiled what a query runs through: it does so on the core of what is measured. */
const queriesBefore = 20_000 * share;
const count = Math.ceil(16 * share) * 65_536;
const memoryBytes = 10e9 * share;
/** Bytes of a row on MySQL's wire, about. */
const mysqlRowBytes = 103;
/** And on PostgreSQL's. */
const postgresRowBytes = 128;

/** `only` chooses among the engines: `clickHouse`, `postgresql`, `starRocks`, `mysql`. */
export async function engineRows(only = () => true) {
  pinBeside();
  const child = fork(standIns);
  const ports = await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", () => reject(new Error("the stand-in ended")));
  });
  const found = [];
  try {
    if (only("clickHouse")) found.push(...(await clickHouseRows(ports.clickHouse)));
    if (only("postgresql")) found.push(...(await postgresRowsOf(ports.postgres)));
    const port = ports.starRocks;
    const family = { engine: "starRocks", endpoint: `mysql://${host}:${port}` };
    if (only("starRocks")) found.push(...(await mysqlRowsOf("MySQL wire", family, port)));
    const auth = { type: "basic", username: "bench", password: "bench" };
    const relayed = { engine: "mysql", hosts: [`${host}:${port}`], auth };
    const byMysql = "MySQL wire by engine mysql";
    if (only("mysql")) found.push(...(await mysqlRowsOf(byMysql, relayed, port)));
  } finally {
    child.kill("SIGKILL");
  }
  return found;
}

async function clickHouseRows(port) {
  const cluster = { engine: "clickHouse", endpoint: `http://${host}:${port}` };
  const gateway = await startBefore(cluster);
  const bare = await bareRelay("http", port);
  try {
    const direct = () => clickHouseBytes(port, `select rows ${count}`);
    const through = () => rawPostgres(gateway.ports.postgresWire, `select rows ${count}`);
    const client = new pg.Client({ host, port: gateway.ports.postgresWire, user: "bench" });
    await client.connect();
    const answer = [
      ...(await alternating("ClickHouse", gateway, { direct, through })),
      await latency("ClickHouse", {
        direct: () => clickHouseBytes(port, "select 1"),
        bare: () => clickHouseBytes(bare.port, "select 1"),
        through: () => client.query("select 1"),
      }),
      await memoryOf(
        "ClickHouse to PostgreSQL text, ten gigabytes, slow at first",
        gateway.pid,
        () => {
          const rows = Math.ceil(memoryBytes / postgresRowBytes);
          return rawPostgres(gateway.ports.postgresWire, `select rows ${rows}`, slowAtFirst());
        },
      ),
    ];
    await client.end();
    return answer;
  } finally {
    bare.stop();
    await gateway.stop();
  }
}

/** A client of PostgreSQL before engine `postgresql`: the rows are the server's bytes. */
async function postgresRowsOf(port) {
  const what = "PostgreSQL wire by engine postgresql";
  const auth = { type: "basic", username: "bench", password: "bench" };
  const hosts = [`${host}:${port}`];
  const gateway = await startBefore({ engine: "postgresql", hosts, auth });
  const bare = await bareRelay("tcp", port);
  const at = gateway.ports.postgresWire;
  try {
    return [
      ...(await alternating(what, gateway, {
        direct: () => rawPostgres(port, `select rows ${count}`),
        bare: () => rawPostgres(bare.port, `select rows ${count}`),
        through: () => rawPostgres(at, `select rows ${count}`),
      })),
      await memoryOf(`${what}, ten gigabytes, slow at first`, gateway.pid, () => {
        const rows = Math.ceil(memoryBytes / postgresRowBytes);
        return rawPostgres(at, `select rows ${rows}`, slowAtFirst());
      }),
    ];
  } finally {
    bare.stop();
    await gateway.stop();
  }
}

async function mysqlRowsOf(what, cluster, port) {
  const gateway = await startBefore(cluster);
  const bare = await bareRelay("tcp", port);
  try {
    const at = gateway.ports.mysqlWire;
    const one = await mysql.createConnection({ host, port, user: "bench" });
    const other = await mysql.createConnection({ host, port: at, user: "bench" });
    const passed = await mysql.createConnection({ host, port: bare.port, user: "bench" });
    const answer = [
      ...(await alternating(what, gateway, {
        direct: () => rawMysql(port, `select rows ${count}`),
        bare: () => rawMysql(bare.port, `select rows ${count}`),
        through: () => rawMysql(at, `select rows ${count}`),
      })),
      await latency(what, {
        direct: () => one.query("select 1"),
        bare: () => passed.query("select 1"),
        through: () => other.query("select 1"),
      }),
      await memoryOf(`${what}, ten gigabytes, slow at first`, gateway.pid, () => {
        const rows = Math.ceil(memoryBytes / mysqlRowBytes);
        return rawMysql(at, `select rows ${rows}`, slowAtFirst());
      }),
    ];
    await Promise.all([one.end(), other.end(), passed.end()]);
    return answer;
  } finally {
    bare.stop();
    await gateway.stop();
  }
}

/** Rows and bytes a second, straight and through. */
async function alternating(what, { pid }, { direct, bare, through }) {
  const asked = [
    [`${what}, straight`, direct],
    [`${what} through a bare relay`, bare],
    [`${what} through the gateway`, through],
  ].filter(([, ask]) => ask !== undefined);
  const ways = asked.map(([name, ask]) => ({ what: name, ask, rows: [], megabytes: [], cpu: [] }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const way of ways) {
      const from = performance.now();
      const cpuBefore = cpuOf(pid);
      const bytes = await way.ask();
      const seconds = (performance.now() - from) / 1000;
      // The first round warms up.
      if (round === 0) continue;
      way.rows.push(count / seconds);
      way.megabytes.push(bytes / 1e6 / seconds);
      way.cpu.push(cpuOf(pid) - cpuBefore);
    }
  }
  return ways.map((way) => ({
    what: `${way.what}, 1 M rows × 6`,
    "rows/s": spread(way.rows, 0),
    "MB/s": spread(way.megabytes, 0),
    ...(way.ask === through ? { "gateway CPU s": spread(way.cpu, 2) } : {}),
  }));
}

/** p50 and p99 of rounds, straight, through a bare relay and through the gateway, and what lies between. */
async function latency(what, ways) {
  const names = Object.keys(ways);
  for (const way of names) for (let n = 0; n < queriesBefore; n += 1) await ways[way]();
  const found = Object.fromEntries(names.map((way) => [way, { p50: [], p99: [], added: [] }]));
  for (let round = 0; round <= rounds; round += 1) {
    let direct = 0;
    for (const way of names) {
      const { p50, p99 } = await timesOf(ways[way]);
      if (way === "direct") direct = p50;
      if (round === 0) continue;
      found[way].p50.push(p50);
      found[way].p99.push(p99);
      found[way].added.push(p50 - direct);
    }
  }
  const { direct, bare, through } = found;
  return {
    what: `${what}, SELECT 1`,
    "straight p50 ms": spread(direct.p50, 3),
    "through p50 ms": spread(through.p50, 3),
    "added p50 ms": spread(through.added, 3),
    "bare relay adds ms": spread(bare.added, 3),
    "straight p99 ms": spread(direct.p99, 2),
    "bare relay p99 ms": spread(bare.p99, 2),
    "through p99 ms": spread(through.p99, 2),
  };
}

async function timesOf(ask) {
  const times = [];
  for (let query = 0; query < perRound; query += 1) {
    const from = performance.now();
    await ask();
    times.push(performance.now() - from);
  }
  times.sort((a, b) => a - b);
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

/** A pace of 20 MB/s for ten seconds, and none behind them. */
function slowAtFirst() {
  const from = performance.now();
  let read = 0;
  return (bytes) => {
    read += bytes;
    const seconds = (performance.now() - from) / 1000;
    const aheadMs = (read / 20e6 - seconds) * 1000;
    return seconds < 10 && aheadMs > 5 ? wait(aheadMs) : undefined;
  };
}

function clickHouseBytes(port, sql) {
  return new Promise((resolve, reject) => {
    const asked = request({ host, port, method: "POST", agent }, (answer) => {
      let bytes = 0;
      answer.on("data", (chunk) => {
        bytes += chunk.length;
      });
      answer.on("end", () => resolve(bytes));
    });
    asked.on("error", reject);
    asked.end(sql);
  });
}

async function rawPostgres(port, sql, pace) {
  const socket = connect(port, host);
  socket.write(pgStartup("bench"));
  await readUntilReady(socket);
  socket.write(pgQuery(sql));
  const { rows, bytes } = await readUntilReady(socket, pace);
  socket.destroy();
  const wanted = Number(/rows (\d+)/.exec(sql)?.[1]);
  if (rows < wanted) throw new Error(`${rows} rows`);
  return bytes;
}

/**
 * Bytes of a text result: the driver logs in, then only the end is looked for.
 *
 * @param {(bytes: number) => Promise<void> | undefined} pace
 */
async function rawMysql(port, sql, pace = () => undefined) {
  const client = await mysql.createConnection({
    host,
    port,
    user: "bench",
    flags: ["-DEPRECATE_EOF"],
  });
  const { stream } = client.connection;
  stream.removeAllListeners("data");
  const body = Buffer.from(`\u0003${sql}`);
  stream.write(Buffer.concat([Buffer.of(body.length, 0, 0, 0), body]));
  let bytes = 0;
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes === chunk.length) failOn(chunk);
    if (isEnd(chunk) && bytes > 10_000) break;
    await pace(chunk.length);
  }
  stream.destroy();
  return bytes;
}

/** True when the bytes end with an EOF packet; no row of the stand-in ends like one. */
function isEnd(chunk) {
  const at = chunk.length - 9;
  return at >= 0 && chunk.readUIntLE(at, 3) === 5 && chunk[at + 4] === 0xfe;
}

/** The first bytes of an answer that is an error. */
function failOn(chunk) {
  if (chunk[4] === 0xff) throw new Error(chunk.subarray(7).toString("latin1"));
}

async function startBefore(cluster) {
  const folder = mkdtempSync(join(tmpdir(), "gateway-bench-"));
  const file = join(folder, "gateway.yaml");
  const listener = { host, port: 0 };
  const config = {
    gateway: {
      frontends: { postgresWire: listener, mysqlWire: listener },
      adminApi: listener,
      persistence: { type: "inMemory" },
    },
    clusters: { one: cluster },
    clusterGroups: { default: { members: ["one"], maxRunningQueries: 4 } },
    routingFallback: "default",
    auth: { provider: "none" },
  };
  writeFileSync(file, JSON.stringify(config));
  const child = spawnMeasured([program, "start", "--config", file], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ports = {};
  await new Promise((resolve, reject) => {
    child.on("close", (code) => reject(new Error(`the gateway ended with ${code}`)));
    let rest = "";
    child.stderr.on("data", (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop();
      for (const line of lines.filter((one) => one.startsWith("{"))) {
        const entry = JSON.parse(line);
        if (entry.event === "listener.open") ports[entry.kind] = entry.port;
      }
      if (Object.keys(ports).length === 3) resolve();
    });
  });
  return {
    ports,
    pid: child.pid,
    stop: async () => {
      child.removeAllListeners("close");
      const closed = new Promise((resolve) => {
        child.on("close", resolve);
      });
      child.kill("SIGKILL");
      await closed;
      rmSync(folder, { recursive: true });
    },
  };
}
