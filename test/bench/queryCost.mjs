/**
 * `node test/bench/queryCost.mjs [form …]`: the processor time of the gateway's main thread for one query of each way in
 * which a client of PostgreSQL or MySQL can send it, beside a bare Node relay in the same run.
 *
 * `BENCH_BEFORE=folder` adds the gateway of another build (a copy of `dist` beside it), `BENCH_AFTER=folder` is the one
 * measured, in the place of this tree's; ways take turns. `BENCH_SECONDS` is the time for each form, 12 unless said. `--profile`: a profile of the gateway for each form, in `bench/`.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { median, spread, quantile } from "./figures.mjs";
import { startGateway } from "./gateway.mjs";
import { bareRelay, pinBeside, rssOf, threadClock } from "./processes.mjs";
import { pgStartup } from "./rawPostgres.mjs";

const host = "127.0.0.1";
const seconds = Number(process.env["BENCH_SECONDS"] ?? 12);
const clients = 8;
const perRound = 1_000;
const oneByOne = 500;
const warmQueries = 8_000;

const [P, B, D, E, S] = ["P", "B", "D", "E", "S"];
const bind = (name) => pgMessage(B, `\0${name}\0${"\0".repeat(6)}`);
const portal = [pgMessage(D, "P\0"), pgMessage(E, "\0\0\0\0\0"), pgMessage(S, "")];
const parse = (name) => pgMessage(P, `${name}\0select 1, 'x'\0\0\0`);

const forms = {
  postgresSimple: { wire: "postgres", ask: pgMessage("Q", "select 1, 'x'\0"), whole: isReady },
  postgresExtended: {
    wire: "postgres",
    ask: Buffer.concat([parse(""), bind(""), ...portal]),
    whole: isReady,
  },
  postgresPrepared: {
    wire: "postgres",
    before: Buffer.concat([parse("s1"), pgMessage(S, "")]),
    ask: Buffer.concat([bind("s1"), ...portal]),
    whole: isReady,
  },
  mysqlQuery: { wire: "mysql", ask: command("\x03select 1, 'x'"), whole: isResult },
  mysqlExecute: {
    wire: "mysql",
    before: command("\x16select 1, 'x'"),
    ask: command("\x17\x01\0\0\0\0\x01\0\0\0"),
    whole: isResult,
  },
};
const kinds = { postgres: "postgresWire", mysql: "mysqlWire" };

const asked = process.argv.slice(2).filter((word) => !word.startsWith("-"));
pinBeside();
const standIns = fork(fileURLToPath(new URL("queryCostServer.mjs", import.meta.url)));
const [ports] = await once(standIns, "message");
for (const name of asked.length === 0 ? Object.keys(forms) : asked) {
  const gateways = [];
  for (const [what, bundle] of builds()) {
    const options = { pinned: true, bundle };
    gateways.push({ what, ...(await startGateway(config(forms[name].wire), options)) });
  }
  await measured(name, gateways);
  for (const gateway of gateways) await gateway.stop();
}
standIns.kill("SIGKILL");
process.exit(0);

function builds() {
  const bundleIn = (folder) => folder && join(resolve(folder), "gateway.js");
  const before = bundleIn(process.env["BENCH_BEFORE"]);
  const after = bundleIn(process.env["BENCH_AFTER"]);
  return [...(before === undefined ? [] : [["before", before]]), ["gateway", after]];
}

/** With one cluster: a session that may also reach an engine of another kind is not relayed. */
function config(wire) {
  const listener = { host, port: 0 };
  return JSON.stringify({
    gateway: {
      frontends: { trinoHttp: listener, postgresWire: listener, mysqlWire: listener },
      adminApi: listener,
      persistence: { type: "inMemory" },
    },
    clusters: {
      one: {
        engine: wire === "mysql" ? "mysql" : "postgresql",
        hosts: [`${host}:${ports[wire]}`],
        poolSize: clients,
        auth: { type: "basic", username: "bench", password: "bench" },
      },
    },
    clusterGroups: { default: { members: ["one"], maxRunningQueries: clients } },
    routers: [{ type: "protocolBased", protocols: { [kinds[wire]]: "default" } }],
    routingFallback: "default",
    auth: { provider: "none" },
  });
}

async function measured(name, gateways) {
  const form = forms[name];
  const relay = await bareRelay("tcp", ports[form.wire]);
  const ways = [
    { what: "bare relay", port: relay.port, pid: relay.pid },
    ...gateways.map(({ what, pid, ports: at }) => ({ what, pid, port: at[kinds[form.wire]] })),
    { what: "direct", port: ports[form.wire], pid: standIns.pid },
  ].map((way) => ({ ...way, one: [], many: [], p50: [], p99: [] }));
  for (const way of ways) {
    way.open = await Promise.all(Array.from({ length: clients }, () => opened(way.port, form)));
  }
  for (const { open } of ways) await together(open, warmQueries);
  if (process.argv.includes("--profile")) await profiled(ways, gateways);
  const until = performance.now() + seconds * 1_000;
  while (performance.now() < until) for (const way of ways) await round(way);
  for (const { open } of ways) for (const { close } of open) close();
  console.log(name);
  const direct = ways.at(-1);
  console.table(Object.fromEntries(ways.slice(0, -1).map((way) => [way.what, rowOf(way, direct)])));
  relay.stop();
}

async function profiled(ways, found) {
  const { open } = ways.find(({ what }) => what === "gateway");
  const { pid } = found.at(-1);
  process.kill(pid, "SIGUSR2");
  await together(open, 30_000);
  process.kill(pid, "SIGUSR2");
  await together(open, 100);
  await new Promise((done) => {
    setTimeout(done, 3_000);
  });
}

function rowOf({ one, many, p50, p99, pid }, direct) {
  const added = (mine, others) => ((median(mine) - median(others)) * 1_000).toFixed(0);
  return {
    "µs of one": spread(one, 1),
    "µs of 8": spread(many, 1),
    "queries/s per core": Math.round(1e6 / median(many)),
    "added p50 µs": added(p50, direct.p50),
    "added p99 µs": added(p99, direct.p99),
    "RSS MB": Math.round(rssOf(pid) / 1e6),
  };
}

async function round({ open, pid, one, many, p50, p99 }) {
  const clock = threadClock(pid);
  const times = [];
  let before = clock.main();
  await timed(open[0], oneByOne, times);
  one.push((clock.main() - before) / oneByOne);
  times.sort((a, b) => a - b);
  p50.push(quantile(times, 0.5));
  p99.push(quantile(times, 0.99));
  before = clock.all();
  await together(open, perRound);
  many.push((clock.all() - before) / perRound);
  clock.close();
}

async function timed({ ask }, count, times) {
  for (let n = 0; n < count; n += 1) {
    const from = performance.now();
    await ask();
    times.push(performance.now() - from);
  }
}

async function together(open, count) {
  const each = async ({ ask }) => {
    for (let n = 0; n < count / open.length; n += 1) await ask();
  };
  await Promise.all(open.map(each));
}

async function opened(port, { wire, before, ask, whole }) {
  const socket = connect({ port, host, noDelay: true });
  await once(socket, "connect");
  let rest = Buffer.alloc(0);
  let isWhole;
  let done;
  socket.on("data", (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (done === undefined || !isWhole(rest)) return;
    rest = Buffer.alloc(0);
    done();
  });
  const send = (bytes, test) =>
    new Promise((resolved) => {
      isWhole = test;
      done = resolved;
      if (bytes.length > 0) socket.write(bytes);
    });
  if (wire === "postgres") await send(pgStartup("bench"), isReady);
  else await send(Buffer.alloc(0), isPacket).then(() => send(mysqlLogin(), isPacket));
  // The login of another turn: bytes that came with it are gone by then.
  if (before !== undefined) await send(before, wire === "postgres" ? isReady : isPrepared);
  return { ask: () => send(ask, whole), close: () => socket.destroy() };
}

function pgMessage(letter, body) {
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, Buffer.from(body, "latin1")]);
}

function isReady(bytes) {
  if (bytes[0] === 0x45) throw new Error(bytes.toString("latin1"));
  return bytes.length >= 6 && bytes[bytes.length - 6] === 0x5a;
}

function command(payload) {
  return mysqlPacket(Buffer.from(payload, "latin1"), 0);
}

function mysqlPacket(payload, sequence) {
  return Buffer.concat([Buffer.of(payload.length, payload.length >> 8, 0, sequence), payload]);
}

function mysqlLogin() {
  const flags = (1 << 9) | (1 << 15) | (1 << 19);
  const head = Buffer.alloc(32);
  head.writeUInt32LE(flags, 0);
  head.writeUInt32LE(1 << 24, 4);
  head[8] = 45;
  return mysqlPacket(Buffer.concat([head, Buffer.from("bench\0\0mysql_native_password\0")]), 1);
}

function isPacket(bytes) {
  return bytes.length >= 4 && bytes.length === 4 + bytes.readUIntLE(0, 3);
}

function isPrepared(bytes) {
  return eofs(bytes) === 1;
}

/** Definitions end with an EOF, and rows with another. */
function isResult(bytes) {
  return eofs(bytes) === 2;
}

function eofs(bytes) {
  let ends = 0;
  let at = 0;
  while (at + 4 <= bytes.length) {
    const length = bytes.readUIntLE(at, 3);
    if (bytes[at + 4] === 0xff) throw new Error(bytes.toString("latin1", at + 4));
    if (bytes[at + 4] === 0xfe && length < 9) ends += 1;
    at += 4 + length;
  }
  return at === bytes.length ? ends : 0;
}
