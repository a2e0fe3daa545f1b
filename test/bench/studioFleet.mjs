/**
 * What Studio is measured against: a control plane on PostgreSQL with a history of 100,000 records (`BENCH_RECORDS`) over a day, and
 * 1,000 workers that register, and then say every ten seconds that they are there.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { buildIfStale } from "../../packages/gateway/bin/build.mjs";
import { embeddedPrograms, startPostgres } from "../real/postgresServer.mjs";
import { password } from "../studio/fleet.mjs";
import { startGateway } from "../studio/process.mjs";
import { openClient } from "./controlClient.mjs";

export const records = Number(process.env["BENCH_RECORDS"] ?? 100_000);
export const workers = 1_000;
const batchSize = 200;
const beatMs = 10_000;
const atOnceMax = 32;
const dayMs = 86_400_000;
const groups = ["default", "reports", "lab", "etl", "apps"];

/** Resolves when everything is there; `url` is the console's. */
export async function startStudioFleet() {
  await buildIfStale();
  const programs = await embeddedPrograms();
  if (programs.folder === undefined) throw new Error(programs.reason);
  const ends = [];
  try {
    return await started(programs.folder, ends);
  } catch (error) {
    await stopAll(ends);
    throw error;
  }
}

async function stopAll(ends) {
  for (const end of ends.toReversed()) await end();
}

/** `ends`: what has to be called to end what began, in this order. */
async function started(programs, ends) {
  const postgres = await startPostgres(programs);
  ends.push(() => postgres.stop());
  const folder = await mkdtemp(join(tmpdir(), "gateway-bench-"));
  ends.push(() => rm(folder, { recursive: true, force: true }));
  const secret = randomBytes(24).toString("hex");
  const file = join(folder, "control.yaml");
  await writeFile(file, JSON.stringify(configOf(secret)), { mode: 0o600 });
  const env = { BENCH_DATABASE: postgres.url, BENCH_KEY: randomBytes(24).toString("hex") };
  const control = await startGateway(["start", "--config", file], { env });
  ends.push(() => control.end());
  const port = control.ports.adminApi;
  const fleet = await inTurns(workers, (index) => worker(port, secret, index));
  ends.push(() => fleet.forEach(({ client }) => client.close()));
  await inTurns(records / batchSize, (index) => sent(fleet[index % fleet.length], index));
  const beating = beat(fleet);
  ends.push(() => beating.stop());
  return { url: `http://127.0.0.1:${port}`, stop: () => stopAll(ends) };
}

function configOf(secret) {
  return {
    gateway: {
      role: "controlPlane",
      frontends: {},
      adminApi: {
        host: "127.0.0.1",
        port: 0,
        // As the simulated workers call it.
        allowedHosts: ["bench"],
        firstAdmin: { name: "admin", password },
        queryConsole: { enabled: true },
      },
      persistence: {
        type: "postgres",
        url: { secretRef: "env:BENCH_DATABASE" },
        encryptionKey: { secretRef: "env:BENCH_KEY" },
      },
      workerApi: { sharedSecret: secret },
    },
    clusters: { local: { engine: "duckDb" } },
    clusterGroups: Object.fromEntries(
      groups.map((name) => [name, { members: ["local"], maxRunningQueries: 8 }]),
    ),
    routingFallback: "default",
    auth: { provider: "none" },
  };
}

async function worker(port, secret, index) {
  const client = await openClient(port, secret);
  const instanceId = randomBytes(12).toString("hex");
  const name = `worker${String(index).padStart(4, "0")}`;
  const body = Buffer.from(
    JSON.stringify({
      name,
      instanceId,
      labels: { zone: `zone${index % 3}`, pool: groups[index % groups.length] },
      version: "bench",
      schemaVersions: [1],
      heartbeatIntervalSecs: beatMs / 1_000,
    }),
  );
  const json = "content-type: application/json\r\n";
  const answer = await client.ask("POST", "/worker/register", json, body);
  const said = Buffer.concat(answer.parts).toString();
  if (answer.status !== 200) throw new Error(`register: ${answer.status} ${said}`);
  const { instanceToken } = JSON.parse(said);
  const headers = `${json}gateway-instance-id: ${instanceId}\r\ngateway-instance-token: ${instanceToken}\r\n`;
  return { client, name, instanceId, headers, index };
}

/** One batch of the history, in the name of the worker. */
async function sent({ client, name, headers }, batch) {
  const own = Array.from({ length: batchSize }, (_, at) => recordOf(name, batch * batchSize + at));
  const body = gzipSync(JSON.stringify({ schemaVersion: 1, worker: name, records: own }), {
    level: 1,
  });
  const coding = `${headers}content-encoding: gzip\r\n`;
  const answer = await client.ask("POST", "/worker/query-records", coding, body);
  const said = Buffer.concat(answer.parts).toString();
  if (answer.status !== 200 || JSON.parse(said).accepted !== batchSize)
    throw new Error(`records: ${answer.status} ${said.slice(0, 300)}`);
}

function recordOf(owner, number) {
  const createdAt = Date.now() - Math.floor((number / records) * dayMs) - 1;
  const failed = number % 25 === 0;
  const took = 5 + ((number * 7_919) % 900);
  const group = groups[Math.floor(number / 25) % groups.length];
  return {
    proxyQueryId: queryId(owner, createdAt, number),
    createdAt,
    startedAt: createdAt + 2,
    finishedAt: createdAt + took,
    worker: owner,
    frontend: ["trinoHttp", "postgresWire", "mysqlWire"][number % 3],
    user: `user${number % 200}`,
    clientAddress: "10.0.0.7",
    clusterGroup: group,
    cluster: "local",
    engine: "duckDb",
    tags: { team: group },
    sql: `SELECT customer, sum(amount) AS total FROM orders_${number % 500} WHERE region = 'r${number % 11}' GROUP BY customer`,
    sourceDialect: "trino",
    status: failed ? "failed" : "finished",
    ...(failed
      ? { errorCode: "query.unknownObject", errorMessage: "There is no such table." }
      : {}),
    rowsReturned: failed ? 0 : number % 10_000,
    bytesReturned: failed ? 0 : (number % 10_000) * 40,
    queueMs: number % 40,
    executionMs: took,
    routingTrace: [
      { step: "queryRegex[0]", outcome: "no match" },
      { step: "fallback", outcome: group },
    ],
    policyActions: [],
    engineStats: {},
    revision: `1.1.sha256:${"0".repeat(64)}`,
  };
}

/** As a gateway names its queries: the worker is part of the name, and owns it. */
function queryId(owner, unixMs, number) {
  const [date, time] = new Date(unixMs).toISOString().slice(0, 19).split("T");
  const digits = (text, mark) => text.replaceAll(mark, "");
  const count = String(number).padStart(5, "0").slice(-5);
  return `${digits(date, "-")}_${digits(time, ":")}_${count}_${owner}bench0`;
}

/** Each worker in its own turn of every ten seconds, with some that have queries under way. */
function beat(fleet) {
  const stopped = new AbortController();
  const lanes = Array.from({ length: 10 }, async (_, lane) => {
    while (!stopped.signal.aborted) {
      const fromMs = performance.now();
      for (const one of fleet) {
        if (stopped.signal.aborted) return;
        if (one.index % 10 === lane) await heartbeat(one);
      }
      const restMs = beatMs - (performance.now() - fromMs);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, restMs)));
    }
  });
  return {
    stop: async () => {
      stopped.abort();
      await Promise.all(lanes);
    },
  };
}

async function heartbeat({ client, name, instanceId, headers, index }) {
  const query = {
    id: `live${index.toString(36)}`,
    group: groups[index % groups.length],
    cluster: "local",
    state: "running",
    since: Date.now(),
  };
  const queries = index % 4 === 0 ? [query] : [];
  const beatOf = { name, instanceId, status: "active", stale: false, queries };
  await client.ask("POST", "/worker/heartbeat", headers, Buffer.from(JSON.stringify(beatOf)));
}

async function inTurns(count, work) {
  const results = [];
  let at = 0;
  const lane = async () => {
    for (let index = at++; index < count; index = at++) results[index] = await work(index);
  };
  await Promise.all(Array.from({ length: Math.min(atOnceMax, count) }, lane));
  return results;
}
