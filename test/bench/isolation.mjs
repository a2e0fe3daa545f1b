/** What an engine in a process of its own costs beside one in a thread: two gateways, asked in turns. */
import { connect } from "node:net";
import { readFileSync, readdirSync } from "node:fs";
import pg from "pg";
import { quantile, spread } from "./figures.mjs";
import { configOf, startGateway } from "./gateway.mjs";
import { pgQuery, pgStartup, readUntilReady } from "./rawPostgres.mjs";

const rounds = 7;
const perRound = 2_000;
/** Until V8 has compiled what a query runs through. */
const queriesBefore = 10_000;
const rowsWanted = 1_000_000;
const rowsSql = `select i as id, 'customer ' || (i % 1000) as name, i * 1.5 as amount,
  cast(i % 100000 as decimal(12,2)) as price, date '2020-01-01' + cast(i % 1000 as int) as day,
  timestamp '2020-01-01 00:00:00' + to_seconds(i) as at from range(${rowsWanted}) t(i)`;

export async function isolationRows() {
  const sides = [];
  for (const isolation of ["thread", "process"]) sides.push(await openSide(isolation));
  for (const { client } of sides) {
    for (let n = 0; n < queriesBefore; n += 1) await client.query("select 1");
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) await measure(side, round > 0);
  }
  const rows = [];
  for (const side of sides) {
    rows.push({
      what: `engine in a ${side.isolation}`,
      "SELECT 1 p50 ms": spread(side.p50, 3),
      "p95 ms": spread(side.p95, 3),
      "1 M rows/s": spread(side.rows, 0),
      "RSS gateway": `${(side.gateway.rssBytes() / 1e6).toFixed(0)} MB`,
      "RSS engine": `${(childrenBytes(side.gateway.pid) / 1e6).toFixed(0)} MB`,
    });
    await side.client.end();
    side.socket.destroy();
    await side.gateway.stop();
  }
  return rows;
}

async function openSide(isolation) {
  const gateway = await startGateway(configOf({ isolation }));
  const client = new pg.Client({
    host: "127.0.0.1",
    port: gateway.ports.postgresWire,
    user: "bench",
  });
  await client.connect();
  const socket = connect(gateway.ports.postgresWire, "127.0.0.1");
  socket.write(pgStartup("bench"));
  await readUntilReady(socket);
  return { isolation, gateway, client, socket, p50: [], p95: [], rows: [] };
}

async function measure(side, counts) {
  const times = [];
  for (let n = 0; n < perRound; n += 1) {
    const from = performance.now();
    await side.client.query("select 1");
    times.push(performance.now() - from);
  }
  const from = performance.now();
  side.socket.write(pgQuery(rowsSql));
  await readUntilReady(side.socket);
  const seconds = (performance.now() - from) / 1000;
  if (!counts) return;
  times.sort((a, b) => a - b);
  side.p50.push(quantile(times, 0.5));
  side.p95.push(quantile(times, 0.95));
  side.rows.push(rowsWanted / seconds);
}

function childrenBytes(pid) {
  let bytes = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const children = readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").trim();
    for (const child of children.split(" ").filter((one) => one !== "")) {
      const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child}/status`, "utf8"));
      bytes += Number(match[1]) * 1024;
    }
  }
  return bytes;
}
