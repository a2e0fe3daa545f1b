/** One client, one connection, `SELECT 1` again and again: round trip as the client sees it, and what is left without the engine's own time. */
import { Agent, request } from "node:http";
import mysql from "mysql2/promise";
import pg from "pg";
import { median, quantile, spread } from "./figures.mjs";

const rounds = 5;
const perRound = 2_000;
/** Until V8 has compiled what a query runs through. */
const queriesBefore = 10_000;
const host = "127.0.0.1";

export async function latencyRows(gateway) {
  return [
    await measured("PostgreSQL simple, SELECT 1", gateway, pgSimple),
    await measured("PostgreSQL prepared, SELECT 1", gateway, pgPrepared),
    await measured("MySQL text, SELECT 1", gateway, mysqlText),
    await measured("Trino HTTP, SELECT 1", gateway, trino),
  ];
}

async function measured(what, gateway, open) {
  const { ask, close } = await open(gateway.ports);
  for (let n = 0; n < queriesBefore; n += 1) await ask();
  const found = { p50: [], p95: [], p99: [], added: [], cpu: [], perSecond: [] };
  for (let round = 0; round < rounds; round += 1) {
    gateway.takeExecutionMs();
    const cpuBefore = gateway.cpuSeconds();
    const begun = performance.now();
    const times = [];
    for (let n = 0; n < perRound; n += 1) {
      const from = performance.now();
      await ask();
      times.push(performance.now() - from);
    }
    const seconds = (performance.now() - begun) / 1000;
    times.sort((a, b) => a - b);
    found.p50.push(quantile(times, 0.5));
    found.p95.push(quantile(times, 0.95));
    found.p99.push(quantile(times, 0.99));
    found.perSecond.push(perRound / seconds);
    found.cpu.push(((gateway.cpuSeconds() - cpuBefore) / perRound) * 1e6);
    found.added.push(quantile(times, 0.5) - median(gateway.takeExecutionMs()));
  }
  await close();
  return {
    what,
    "p50 ms": spread(found.p50, 3),
    "p95 ms": spread(found.p95, 3),
    "p99 ms": spread(found.p99, 3),
    "p50 without engine ms": spread(found.added, 3),
    "gateway CPU µs/query": spread(found.cpu, 0),
    "queries/s": spread(found.perSecond, 0),
  };
}

async function pgSimple(ports) {
  const client = new pg.Client({ host, port: ports.postgresWire, user: "bench" });
  await client.connect();
  return { ask: () => client.query("select 1"), close: () => client.end() };
}

async function pgPrepared(ports) {
  const client = new pg.Client({ host, port: ports.postgresWire, user: "bench" });
  await client.connect();
  const query = { name: "one", text: "select $1::int as one", values: [1] };
  return { ask: () => client.query(query), close: () => client.end() };
}

async function mysqlText(ports) {
  const client = await mysql.createConnection({ host, port: ports.mysqlWire, user: "bench" });
  return { ask: () => client.query("select 1"), close: () => client.end() };
}

async function trino(ports) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = (url, options, body) =>
    new Promise((resolve, reject) => {
      const sent = request(url, { ...options, agent }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => resolve(JSON.parse(text)));
      });
      sent.on("error", reject);
      sent.end(body);
    });
  const headers = { "x-trino-user": "bench" };
  const statement = `http://${host}:${ports.trinoHttp}/v1/statement`;
  const ask = async () => {
    let page = await send(statement, { method: "POST", headers }, "select 1");
    while (page.nextUri !== undefined) page = await send(page.nextUri, { method: "GET", headers });
    if (page.error !== undefined) throw new Error(page.error.message);
  };
  return { ask, close: async () => agent.destroy() };
}
