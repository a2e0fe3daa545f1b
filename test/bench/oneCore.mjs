/**
 * `node test/bench/oneCore.mjs [trino|mysql|postgres|clickhouse …]`: what stands between a client and a server of one protocol,
 * with everything on one core: client, server, and what is measured with all its threads. So whatever a process does
 * beside its queries is met by a query. Direct, through a bare Node relay, through the least of a gateway (`least.mjs`), and through gateways whose history is in
 * memory, in the embedded store on the same core, and in the embedded store with a second core; through HAProxy where the
 * machine has it. The ways take turns.
 *
 * `BENCH_BEFORE=folder` adds the gateway of another build (a copy of `dist` beside it), `BENCH_SHARE` shortens the run,
 * `BENCH_OWN_CORE=1` gives what is measured a core of its own, beside that of client and server. Figures are left in `bench/`,
 * from which docs/reference/performance.md is made, or in the folder that `BENCH_INTO` names.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { median, quantile, spread } from "./figures.mjs";
import { startGateway } from "./gateway.mjs";
import { haproxy } from "./peers.mjs";
import { oneCoreClients } from "./oneCoreClients.mjs";
import {
  bareRelay,
  keepAwake,
  leastGateway,
  pinBeside,
  pinTogether,
  rssOf,
  threadClock,
  unpin,
} from "./processes.mjs";

const host = "127.0.0.1";
const share = Number(process.env["BENCH_SHARE"] ?? 1);
/** As many rounds as the time gives, three at least: `BENCH_SECONDS=100` for a busy machine. */
const roundsMin = 3;
const secondsMax = Number(process.env["BENCH_SECONDS"] ?? 120);
const perRound = 1_500 * share;
/** Not counted: they meet the caches that the way before left, and would be the slowest hundredth of all by themselves. */
const coldPerRound = 60;
const concurrent = 8;
const manyPerRound = 2_000 * share;
/** Until V8 has compiled what a query runs through: it does so on the core of what is measured. */
const queriesBefore = 20_000 * share;
const warmParts = 5;
const quantiles = { p50: 0.5, p95: 0.95, p99: 0.99 };
/** Of `bench`, who logs in with each request of HTTP. */
const passwordHash = "$2b$10$csd7I6LcMBJyMJL/bZebK.6uxvbCL009twgdwlwyX.DHnWH5WPXIy";

const knownUser = { provider: "static", staticUsers: { users: { bench: { passwordHash } } } };
const wires = {
  trino: {
    kind: "trinoHttp",
    relay: "http",
    auth: knownUser,
    cluster: (port) => ({ engine: "trino", endpoint: `http://${host}:${port}` }),
  },
  mysql: {
    kind: "mysqlWire",
    relay: "tcp",
    auth: { provider: "none" },
    cluster: (port) => ({ engine: "mysql", ...server(port) }),
  },
  postgres: {
    kind: "postgresWire",
    relay: "tcp",
    auth: { provider: "none" },
    cluster: (port) => ({ engine: "postgresql", ...server(port) }),
  },
  clickhouse: {
    kind: "clickhouseHttp",
    relay: "http",
    auth: knownUser,
    cluster: (port) => ({ engine: "clickHouse", endpoint: `http://${host}:${port}` }),
  },
};

function server(port) {
  const auth = { type: "basic", username: "bench", password: "bench" };
  return { hosts: [`${host}:${port}`], poolSize: concurrent, auth };
}

const leftIn = process.env["BENCH_INTO"] ?? "bench";
const asked = process.argv.slice(2).filter((word) => !word.startsWith("-"));
const ownCore = process.env["BENCH_OWN_CORE"] !== undefined;
keepAwake();
if (ownCore) pinBeside();
else pinTogether();
for (const name of asked.length === 0 ? Object.keys(wires) : asked) {
  const rows = await wireRows(name, wires[name]);
  console.table(Object.fromEntries(rows.map(({ what, shown }) => [what, shown])));
  mkdirSync(leftIn, { recursive: true });
  const kept = rows.map(({ what, figures }) => ({ what, ...figures }));
  const file = join(leftIn, `${ownCore ? "ownCore" : "oneCore"}-${name}.json`);
  writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`);
}
process.exit(0);

async function wireRows(name, wire) {
  const standIn = await standInOf(name);
  const relay = await bareRelay(wire.relay, standIn.port);
  const least = await leastGateway(wire.relay === "http" ? "http" : name, standIn.port);
  const peer = await haproxy(wire.relay, standIn.port);
  const gateways = [];
  try {
    const ways = [
      { what: "direct", port: standIn.port },
      { what: "bare Node relay", port: relay.port, pid: relay.pid },
      { what: "the least of a gateway", port: least.port, pid: least.pid },
      ...(peer === undefined ? [] : [{ what: "HAProxy", port: peer.port, pid: peer.pid }]),
    ];
    for (const way of gatewayWays()) {
      const config = JSON.stringify(configOf(wire, standIn.port, way.persistence));
      const gateway = await startGateway(config, { pinned: true, logged: true, ...way.options });
      if (way.twoCores) unpin(gateway.pid);
      gateways.push(gateway);
      const port = gateway.ports[wire.kind];
      ways.push({ what: way.what, port, pid: gateway.pid, gateway });
    }
    return await measured(name, ways);
  } finally {
    relay.stop();
    least.stop();
    peer?.stop();
    standIn.stop();
    for (const gateway of gateways) await gateway.stop();
  }
}

/** Those to compare, as the environment asks: `BENCH_WAYS=memory,store`. */
function gatewayWays() {
  const store = { type: "pglite", path: "FOLDER/store" };
  const inMemory = { type: "inMemory" };
  const all = {
    memory: { what: "gateway, history in memory", persistence: inMemory },
    store: { what: "gateway, embedded store", persistence: store },
    two: { what: "gateway, embedded store, two cores", persistence: store, twoCores: true },
    ...flagged(),
    ...built("memory", inMemory),
    ...built("store", store),
  };
  const wanted = process.env["BENCH_WAYS"]?.split(",") ?? Object.keys(all);
  return Object.entries(all)
    .filter(([name, way]) => wanted.includes(name) || name === way.what)
    .map(([, way]) => way);
}

/** Gateways of other builds: `BENCH_BEFORE=folder` or several, `folder,other`. */
function built(name, persistence) {
  const folders = (process.env["BENCH_BEFORE"] ?? "").split(",").filter((one) => one !== "");
  return Object.fromEntries(
    folders.map((folder, at) => [
      at === 0 ? `${name}Before` : `${name}Before${at + 1}`,
      {
        what: `… ${name}, ${folder}`,
        persistence,
        options: { bundle: join(resolve(folder), "gateway.js") },
      },
    ]),
  );
}

/** Gateways with flags of Node: `BENCH_FLAGS="--one --two,--other"`. */
function flagged() {
  const sets = (process.env["BENCH_FLAGS"] ?? "").split(",").filter((words) => words !== "");
  const persistence = { type: "inMemory" };
  return Object.fromEntries(
    sets.map((words) => [
      words,
      { what: words, persistence, options: { flags: words.split(" ") } },
    ]),
  );
}

function configOf({ auth, cluster, kind }, port, persistence) {
  const listener = { host, port: 0 };
  // As many as a gateway of the other benches has, which waits for all of them.
  const http = kind === "clickhouseHttp" ? kind : "trinoHttp";
  return {
    gateway: {
      frontends: { [http]: listener, postgresWire: listener, mysqlWire: listener },
      adminApi: listener,
      persistence,
    },
    clusters: { one: cluster(port) },
    clusterGroups: { default: { members: ["one"], maxRunningQueries: concurrent } },
    routers: [{ type: "protocolBased", protocols: { [kind]: "default" } }],
    routingFallback: "default",
    auth,
  };
}

async function standInOf(name) {
  const ownFile = { trino: "trinoStandIn.mjs", clickhouse: "clickHouseStandIn.mjs" }[name];
  if (ownFile !== undefined) {
    const source = fileURLToPath(new URL(ownFile, import.meta.url));
    const child = fork(source);
    const [port] = await once(child, "message");
    return { port, stop: () => child.kill("SIGKILL") };
  }
  const child = fork(fileURLToPath(new URL("enginesServer.mjs", import.meta.url)));
  const [ports] = await once(child, "message");
  const port = name === "mysql" ? ports.starRocks : ports.postgres;
  return { port, stop: () => child.kill("SIGKILL") };
}

async function measured(name, ways) {
  const open = oneCoreClients[name];
  const found = [];
  for (const way of ways) {
    const connections = [];
    for (let n = 0; n < concurrent; n += 1) connections.push(await open(way.port));
    found.push({ ...way, connections, times: [], main: [], all: [], many: [] });
  }
  // In turns as well: a machine that is busy for a while is so for all of them.
  for (let part = 0; part < warmParts; part += 1) {
    for (const { connections } of found) await together(connections, queriesBefore / warmParts);
  }
  for (let round = 0; round < roundsMin || performance.now() < secondsMax * 1_000; round += 1) {
    for (const way of found) await measure(way);
    said(`round ${round}`);
  }
  for (const { connections } of found) for (const one of connections) one.close();
  const [direct, relay] = found;
  return found.map((way) => rowOf(way, direct, relay));
}

/** Some queries one by one, by two clocks in turn, and some of eight clients. */
async function measure({ pid, connections, times, main, all, many }) {
  const [first] = connections;
  await timesOf(first, coldPerRound);
  if (pid === undefined) {
    times.push(await timesOf(first, perRound));
    return;
  }
  const clock = threadClock(pid);
  times.push(await timesOf(first, perRound / 3));
  main.push(await processorOf(first, perRound / 3, clock.main));
  all.push(await processorOf(first, perRound / 3, clock.all));
  const before = clock.all();
  await together(connections, manyPerRound);
  many.push((clock.all() - before) / manyPerRound);
  clock.close();
}

async function together(connections, count) {
  await Promise.all(connections.map((one) => timesOf(one, count / connections.length)));
}

/** Milliseconds of each query, as its client sees it. */
async function timesOf({ ask }, count) {
  const times = [];
  for (let n = 0; n < count; n += 1) {
    const from = performance.now();
    await ask();
    times.push(performance.now() - from);
  }
  return times;
}

/**
 * Microseconds of processor time from the end of one query to the end of the next. Where everything has one core, and
 * one client asks, this is what a query waits for, whatever else the machine does.
 */
async function processorOf({ ask }, count, read) {
  const times = [];
  let before = read();
  for (let n = 0; n < count; n += 1) {
    await ask();
    const now = read();
    times.push(now - before);
    before = now;
  }
  return times;
}

/** `shown` is for people, `figures` for the page and for the guard (`regression.mjs`). */
function rowOf({ what, pid, times, main, all, many }, direct, relay) {
  const p50 = median(times.map((one) => quantileOf(one, 0.5)));
  const figures = { p50Ms: rounded(p50) };
  if (pid === undefined) return { what, shown: { "p50 ms": p50.toFixed(3) }, figures };
  const directMs = median(direct.times.map((one) => quantileOf(one, 0.5)));
  const parts = { main: main.flat(), all: all.flat() };
  const beside = { main: relay.main.flat(), all: relay.all.flat() };
  const shown = { "p50 ms": p50.toFixed(3), rounds: main.length };
  figures.addedMs = rounded(p50 - directMs);
  const added = addedTo(times, direct);
  figures.addedMsAt = added.map(rounded);
  figures.addedToRelay = addedTo(relay.times, direct).map((ms, at) => rounded(added[at] / ms));
  shown["added ms p50 / p95 / p99"] = figures.addedMsAt.join(" / ");
  for (const [name, values] of Object.entries(parts)) {
    const us = Object.values(quantiles).map((part) => Math.round(quantileOf(values, part)));
    const ratios = Object.values(quantiles).map((part) => ratioOf(values, beside[name], part));
    shown[`${name}: µs p50 / p95 / p99`] = us.join(" / ");
    shown[`${name} : relay`] = ratios.join(" / ");
    shown[`${name} mean`] = mean(values).toFixed(0);
    figures[`${name}Us`] = us;
    figures[`${name}ToRelay`] = ratios.map(Number);
  }
  shown["of 8, µs"] = spread(many, 0);
  figures.ofEightUs = Math.round(median(many));
  figures.rssMb = Math.round(rssOf(pid) / 1e6);
  shown["queries/s per core"] = (1e6 / median(many)).toFixed(0);
  shown["RSS MB"] = figures.rssMb;
  return { what, shown, figures };
}

/** How much later an answer comes than without anything between, at each quantile. */
function addedTo(times, direct) {
  const at = (of, part) => quantileOf(of.flat(), part);
  return Object.values(quantiles).map((part) => at(times, part) - at(direct.times, part));
}

function rounded(ms) {
  return Math.round(ms * 1_000) / 1_000;
}

function ratioOf(values, others, part) {
  return (quantileOf(values, part) / quantileOf(others, part)).toFixed(2);
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function quantileOf(times, part) {
  return quantile(
    times.toSorted((a, b) => a - b),
    part,
  );
}

/** To whoever waits: `BENCH_SAY=1`. */
function said(what) {
  if (process.env["BENCH_SAY"] !== undefined) console.error(what, Math.round(performance.now()));
}
