/**
 * One control plane process on PostgreSQL under fleets of 10 to 10,000 simulated workers, each with its own
 * connection, registration and held question: what each of their calls takes of its processor and of the database's,
 * how soon a change reaches them, what they take of its memory. The figures of docs/scale.md.
 *
 * Processor time is what the figures rest on: it does not grow where something else runs on the same cores, as
 * every rate and every wait does. The simulated workers themselves are in neither.
 *
 * `node test/bench/fleetSize.mjs [WORKERS …]`. Simulated workers open no engine; each fleet gets a control plane of
 * its own. With `--calls` only what queries ask for is measured, leases and records, while the whole fleet waits for a change.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { embeddedPrograms, startPostgres } from "../real/postgresServer.mjs";
import { workerOf } from "./capacity.mjs";
import { recordsOf, startControl } from "./control.mjs";
import { monotonicMs } from "./controlClient.mjs";
import { quantile } from "./figures.mjs";
import { processorMs } from "./processor.mjs";

const callsOnly = process.argv.includes("--calls");
const named = process.argv.slice(2).filter((one) => one !== "--calls");
const sizes = named.length > 0 ? named.map(Number) : [10, 100, 1_000, 10_000];
/** About 64 KB of canonical JSON. */
const clusters = 720;
const rounds = 3;
/** Questions under way at once while a fleet arrives or reports. */
const atOnceMax = 64;
const heartbeatsMin = 2_000;
const questionsMin = 500;
const triesMax = 5;
/** Calls of each kind while the fleet waits, by one worker after the other. */
const callsOfAKind = 2_000;
/** No query of these waits. */
const seed = {
  clusters: { wide: { engine: "duckDb", maxRunningQueries: 1_000 } },
  clusterGroups: { wide: { members: ["wide"], maxRunningQueries: 1_000 } },
};

/** Heartbeats of the fleet that is measured which were told to come again. */
let refused = 0;

const programs = await embeddedPrograms();
if (programs.folder === undefined) throw new Error(programs.reason);
console.log(`${availableParallelism()} cores, ${cpus()[0]?.model}`);
for (const size of sizes) {
  const postgres = await startPostgres(programs.folder, { fsync: "on" });
  const control = await startControl({ database: postgres.url, clusters, seed });
  try {
    console.log(JSON.stringify(await measured({ control, postgres }, size)));
  } finally {
    await control.stop();
    await postgres.stop();
  }
}

async function measured(plane, size) {
  const { control } = plane;
  const emptyMb = residentMb(control.pid);
  let workers = [];
  refused = 0;
  const arrival = await spent(plane, size, async () => {
    workers = await inTurns(Array.from({ length: size }), (_, index) => worker(control, index));
  });
  const calls = await whileAllWait(plane, workers, () => callsOfQueries(plane, workers));
  if (callsOnly) return { workers: size, registration: arrival, ...calls };
  const beats = await heartbeats(plane, workers);
  const questions = await unanswered(plane, workers);
  const woken = await wakes(plane, workers);
  for (const { client } of workers) client.close();
  return {
    workers: size,
    registration: arrival,
    ...calls,
    heartbeat: { ...beats, refused },
    "held question": questions,
    "edit of 64 KB, each worker": woken.cost,
    "p50 ms": Math.round(woken.p50),
    "p99 ms": Math.round(woken.p99),
    "resident MB, empty": emptyMb,
    "all waiting": woken.residentMb,
  };
}

/** What `count` calls of one kind take: milliseconds of each processor per call, and how many a second there were. */
async function spent({ control, postgres }, count, work) {
  const usedOf = () => [processorMs(control.pid), processorMs(postgres.pid())];
  const before = usedOf();
  const fromMs = monotonicMs();
  await work();
  const tookMs = monotonicMs() - fromMs;
  const [controlMs = 0, databaseMs = 0] = usedOf().map((ms, at) => (ms - before[at]) / count);
  return {
    "control ms": Number(controlMs.toFixed(3)),
    "database ms": Number(databaseMs.toFixed(3)),
    "1/s": Math.round((count / tookMs) * 1_000),
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
function heartbeats(plane, workers) {
  const turns = Math.max(1, Math.ceil(heartbeatsMin / workers.length));
  return spent(plane, turns * workers.length, async () => {
    for (let turn = 0; turn < turns; turn += 1) {
      await inTurns(workers, async ({ client, name, instanceId, headers }) => {
        const beat = { name, instanceId, status: "active", stale: false, queries: [] };
        const body = Buffer.from(JSON.stringify(beat));
        for (let tries = 0; ; tries += 1) {
          const { status } = await client.ask("POST", "/worker/heartbeat", headers, body);
          if (status === 200) return;
          // Said when the database did not answer in time; a worker comes again, and so does this one.
          if (status !== 503 || tries === triesMax) throw new Error(`heartbeat: ${status}`);
          refused += 1;
        }
      });
    }
  });
}

/** Holds a question of each worker while `work` is done; a change ends them. */
async function whileAllWait({ control }, workers, work) {
  const since = await control.revision();
  const path = `/worker/config/wait?since=${since}`;
  const waiting = await asking(workers, async ({ client }) => {
    let woken;
    do woken = await client.ask("GET", path, "prefer: wait=55\r\n");
    while (woken.status === 304);
    if (woken.status !== 200) throw new Error(`wait: ${woken.status}`);
  });
  await control.held(workers.length);
  const done = await work();
  await control.push(1);
  await Promise.all(waiting);
  return done;
}

/** Each by another worker, as in a fleet in which every worker has a query now and then: nothing can be sent together. */
async function callsOfQueries(plane, workers) {
  const connections = await Promise.all(
    Array.from({ length: atOnceMax }, () => plane.control.client()),
  );
  const free = [...connections];
  const each = (count, call) =>
    spent(plane, count, async () => {
      await inTurns(Array.from({ length: count }), async (_, index) => {
        const connection = free.pop();
        await call(connection, workers[index % workers.length]);
        free.push(connection);
      });
    });
  const lease = await each(callsOfAKind, async (connection, { instanceId, headers }) => {
    const { acquire, release } = workerOf({ instanceId, headers });
    const ask = { queryId: true, group: "wide", cluster: "wide", count: 1 };
    const { granted } = await acquire(connection, ask);
    if (granted.length !== 1) throw new Error("no lease");
    await release(connection, granted);
  });
  const batch = (size) => (connection, sender) => sendRecords(connection, sender, size);
  const one = await each(callsOfAKind, batch(1));
  const twenty = await each(callsOfAKind / 4, batch(20));
  for (const connection of connections) connection.close();
  return {
    "lease taken and given back": lease,
    "batch of 1 record": one,
    "batch of 20 records": twenty,
  };
}

async function sendRecords(connection, { name, headers }, count) {
  const body = { schemaVersion: 1, worker: name, records: recordsOf(name, count) };
  const bytes = Buffer.from(JSON.stringify(body));
  const { status } = await connection.ask("POST", "/worker/query-records", headers, bytes);
  if (status !== 200) throw new Error(`records: ${status}`);
}

/** Questions for a change that does not come, all held at once, to their end after a second. */
async function unanswered(plane, workers) {
  const since = await plane.control.revision();
  const path = `/worker/config/wait?since=${since}`;
  const turns = Math.max(1, Math.ceil(questionsMin / workers.length));
  return spent(plane, turns * workers.length, async () => {
    for (let turn = 0; turn < turns; turn += 1) {
      const all = await asking(workers, async ({ client }) => {
        const { status } = await client.ask("GET", path, "prefer: wait=1\r\n");
        if (status !== 200 && status !== 304) throw new Error(`wait: ${status}`);
      });
      await Promise.all(all);
    }
  });
}

/** From before a change to the last byte of each worker's copy of it; and memory while all wait. */
async function wakes(plane, workers) {
  const { control } = plane;
  const all = [];
  const costs = [];
  let resident = 0;
  for (let round = 0; round <= rounds; round += 1) {
    const since = await control.revision();
    const served = await asking(workers, async ({ client }) => {
      const path = `/worker/config/wait?since=${since}`;
      let woken;
      // Where a large fleet takes long to come, some have to ask again before anything changed.
      do woken = await client.ask("GET", path, "prefer: wait=55\r\n");
      while (woken.status === 304);
      const answer = await client.ask("GET", "/worker/config", "accept-encoding: gzip\r\n");
      if (woken.status !== 200 || answer.status !== 200) throw new Error("not woken");
      return answer.atMs;
    });
    await control.held(workers.length);
    resident = Math.max(resident, residentMb(control.pid));
    let tookMs = [];
    const cost = await spent(plane, workers.length, async () => {
      const { fromMs } = await control.push(1);
      tookMs = (await Promise.all(served)).map((atMs) => atMs - fromMs);
    });
    // The first round warms up both sides.
    if (round === 0) continue;
    all.push(...tookMs);
    costs.push(cost);
  }
  const sorted = all.toSorted((a, b) => a - b);
  const middle = costs.toSorted((a, b) => a["control ms"] - b["control ms"])[rounds >> 1];
  const [p50, p99] = [quantile(sorted, 0.5), quantile(sorted, 0.99)];
  return { p50, p99, cost: middle, residentMb: resident };
}

/** Begins a question of each, as their connections come: a listener takes only so many at once. */
async function asking(workers, ask) {
  const begun = [];
  await inTurns(workers, async (one) => {
    await one.client.opened();
    begun.push(ask(one));
  });
  return begun;
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
