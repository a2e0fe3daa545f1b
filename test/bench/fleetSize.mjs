/**
 * One control plane process on PostgreSQL under fleets of 10 to 10,000 simulated workers, each with its own
 * connection, registration and held question: what they take of it at rest, how soon a change reaches them, how
 * many of their heartbeats it answers. The figures of docs/scale.md.
 *
 * `node test/bench/fleetSize.mjs [WORKERS …]`. Simulated workers open no
 * engine; each fleet gets a control plane of its own.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { embeddedPrograms, startPostgres } from "../real/postgresServer.mjs";
import { startControl } from "./control.mjs";
import { monotonicMs } from "./controlClient.mjs";
import { quantile } from "./figures.mjs";

const sizes =
  process.argv.length > 2 ? process.argv.slice(2).map(Number) : [10, 100, 1_000, 10_000];
/** About 64 KB of canonical JSON. */
const clusters = 720;
const rounds = 3;
/** Questions under way at once while a fleet arrives or reports. */
const atOnceMax = 64;
const heartbeatsMin = 2_000;

const programs = await embeddedPrograms();
if (programs.folder === undefined) throw new Error(programs.reason);
console.log(`${availableParallelism()} cores, ${cpus()[0]?.model}`);
for (const size of sizes) {
  const postgres = await startPostgres(programs.folder, { fsync: "on" });
  const control = await startControl({ database: postgres.url, clusters });
  try {
    console.log(JSON.stringify(await measured(control, size)));
  } finally {
    await control.stop();
    await postgres.stop();
  }
}

async function measured(control, size) {
  const emptyMb = residentMb(control.pid);
  const startMs = monotonicMs();
  const workers = await inTurns(Array.from({ length: size }), (_, index) => worker(control, index));
  const arrivedMs = monotonicMs() - startMs;
  const beats = await heartbeats(workers);
  const woken = await wakes(control, workers);
  const heldMb = woken.residentMb;
  for (const { client } of workers) client.close();
  return {
    workers: size,
    "registered /s": Math.round((size / arrivedMs) * 1_000),
    "heartbeats /s": Math.round(beats),
    "edit of 64 KB, p50 ms": Math.round(woken.p50),
    "p99 ms": Math.round(woken.p99),
    "resident MB, empty": emptyMb,
    "all waiting": heldMb,
  };
}

async function worker(control, index) {
  const client = await control.client();
  const name = `worker${index}`;
  const instanceId = randomBytes(12).toString("hex");
  const body = Buffer.from(
    JSON.stringify({
      name,
      instanceId,
      labels: {},
      version: "bench",
      schemaVersions: [1],
      heartbeatIntervalSecs: 10,
    }),
  );
  const json = "content-type: application/json\r\n";
  const answer = await client.ask("POST", "/worker/register", json, body);
  const { instanceToken } = JSON.parse(Buffer.concat(answer.parts).toString());
  const headers = `${json}gateway-instance-id: ${instanceId}\r\ngateway-instance-token: ${instanceToken}\r\n`;
  return { client, name, instanceId, headers };
}

/** Of a fleet in which nothing changes: each says that it is there, `atOnceMax` at a time. */
async function heartbeats(workers) {
  const turns = Math.max(1, Math.ceil(heartbeatsMin / workers.length));
  const fromMs = monotonicMs();
  for (let turn = 0; turn < turns; turn += 1) {
    await inTurns(workers, async ({ client, name, instanceId, headers }) => {
      const beat = { name, instanceId, status: "active", stale: false, queries: [] };
      const body = Buffer.from(JSON.stringify(beat));
      const { status } = await client.ask("POST", "/worker/heartbeat", headers, body);
      if (status !== 200) throw new Error(`heartbeat: ${status}`);
    });
  }
  return ((turns * workers.length) / (monotonicMs() - fromMs)) * 1_000;
}

/** From before a change to the last byte of each worker's copy of it; and memory while all wait. */
async function wakes(control, workers) {
  const all = [];
  let resident = 0;
  for (let round = 0; round <= rounds; round += 1) {
    const since = await control.revision();
    const served = workers.map(async ({ client }) => {
      const path = `/worker/config/wait?since=${since}`;
      const woken = await client.ask("GET", path, "prefer: wait=55\r\n");
      const answer = await client.ask("GET", "/worker/config", "accept-encoding: gzip\r\n");
      if (woken.status !== 200 || answer.status !== 200) throw new Error("not woken");
      return answer.atMs;
    });
    await control.held(workers.length);
    resident = Math.max(resident, residentMb(control.pid));
    const { fromMs } = await control.push(1);
    const tookMs = (await Promise.all(served)).map((atMs) => atMs - fromMs);
    // The first round warms up both sides.
    if (round > 0) all.push(...tookMs);
  }
  const sorted = all.toSorted((a, b) => a - b);
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), residentMb: resident };
}

async function inTurns(items, work) {
  const results = [];
  let at = 0;
  const lane = async () => {
    for (let index = at++; index < items.length; index = at++) {
      results[index] = await work(items[index], index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnceMax, items.length) }, lane));
  return results;
}

function residentMb(pid) {
  const [, kb = "0"] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kb) / 1_024);
}
