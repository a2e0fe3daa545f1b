/**
 * The control plane under a fleet: how fast a change reaches a thousand waiters with the whole
 * snapshot, how many changes it takes, how many records. Server and load are two processes.
 */
import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { embeddedPrograms, startPostgres } from "../real/postgresServer.mjs";
import { monotonicMs, openClient } from "./controlClient.mjs";
import { quantile, spread } from "./figures.mjs";

const program = fileURLToPath(new URL("controlServer.mjs", import.meta.url));
const waiters = 1_000;
const rounds = 5;
const pushes = 200;
const batchSize = 200;
const batches = 200;
const senders = 8;
/** About 64 KB of canonical JSON. */
const clustersOf64Kb = 720;

export async function controlRows() {
  const rows = [];
  await under({ clusters: clustersOf64Kb }, async (control) => {
    rows.push(await wakeRow(control, "gzip"), await wakeRow(control, "identity"));
    rows.push(await pushRow(control));
  });
  const programs = await embeddedPrograms();
  if (programs.folder === undefined) throw new Error(programs.reason);
  const postgres = await startPostgres(programs.folder, { fsync: "on" });
  try {
    await under({ clusters: clustersOf64Kb, database: postgres.url }, async (control) => {
      rows.push(await wakeRow(control, "gzip"), await pushRow(control), await recordsRow(control));
      rows.push(await storeRow(control));
    });
    // The configuration stays in the database, so the small one gets a store of its own.
    await under({ clusters: 10 }, async (control) => rows.push(await pushRow(control)));
  } finally {
    await postgres.stop();
  }
  return rows;
}

async function under(options, measure) {
  const control = await startControl(options);
  try {
    await measure(control);
  } finally {
    await control.stop();
  }
}

/** From before the commit to the last byte of each waiter's snapshot. */
async function wakeRow(control, coding) {
  const clients = await Promise.all(Array.from({ length: waiters }, () => control.client()));
  const p50 = [];
  const p99 = [];
  let bytes = 0;
  for (let round = 0; round <= rounds; round += 1) {
    const since = await control.revision();
    const served = clients.map(async (client) => {
      const woken = await client.ask(
        "GET",
        `/worker/config/wait?since=${since}`,
        "prefer: wait=55\r\n",
      );
      const answer = await client.ask("GET", "/worker/config", `accept-encoding: ${coding}\r\n`);
      if (woken.status !== 200 || answer.status !== 200) throw new Error("not woken");
      bytes = answer.bytes;
      return answer.atMs;
    });
    await control.held(waiters);
    const { fromMs } = await control.push(1);
    const tookMs = (await Promise.all(served)).map((atMs) => atMs - fromMs);
    // The first round warms up both sides.
    if (round === 0) continue;
    const sorted = tookMs.toSorted((a, b) => a - b);
    p50.push(quantile(sorted, 0.5));
    p99.push(quantile(sorted, 0.99));
  }
  for (const client of clients) client.close();
  const what = `${waiters} waiters woken and served ${Math.round(control.bytes / 1024)} KB (${coding}, ${Math.round(bytes / 1024)} KB sent)`;
  return { what: `${what}, ${control.kind}`, "p50 ms": spread(p50, 0), "p99 ms": spread(p99, 0) };
}

async function pushRow(control) {
  const rates = [];
  for (let round = 0; round <= rounds; round += 1) {
    const { fromMs, toMs } = await control.push(pushes);
    if (round > 0) rates.push((pushes / (toMs - fromMs)) * 1_000);
  }
  return {
    what: `changes of a ${Math.round(control.bytes / 1024)} KB configuration, ${control.kind}`,
    "1/s": spread(rates, 0),
  };
}

/** Batches as workers send them, over a few connections at a time. */
async function recordsRow(control) {
  const clients = await Promise.all(Array.from({ length: senders }, () => control.client()));
  const headers = await Promise.all(
    clients.map((client, index) => registered(client, `bench${index}`)),
  );
  const rates = [];
  for (let round = 0; round <= rounds; round += 1) {
    // Made before the clock starts: they are the worker's cost.
    const bodies = clients.map((_, index) =>
      Array.from({ length: batches / senders }, () => batchOf(`bench${index}`)),
    );
    const fromMs = monotonicMs();
    await Promise.all(
      clients.map(async (client, index) => {
        for (const body of bodies[index]) {
          const { status } = await client.ask(
            "POST",
            "/worker/query-records",
            headers[index],
            body,
          );
          if (status !== 200) throw new Error(`records: ${status}`);
        }
      }),
    );
    const tookMs = monotonicMs() - fromMs;
    if (round > 0) rates.push(((batches * batchSize) / tookMs) * 1_000);
  }
  for (const client of clients) client.close();
  return {
    what: `records ingested, ${batchSize} a batch, gzip, PostgreSQL`,
    "1/s": spread(rates, 0),
  };
}

/** Without HTTP, judging and a load generator beside it: what the statement and the driver take. */
async function storeRow(control) {
  const rates = [];
  for (let round = 0; round <= rounds; round += 1) {
    const sent = Array.from({ length: batches }, () => recordsOf("store"));
    const { fromMs, toMs } = await control.ingest(sent);
    if (round > 0) rates.push(((batches * batchSize) / (toMs - fromMs)) * 1_000);
  }
  return {
    what: `records taken by the store, ${batchSize} a batch, PostgreSQL`,
    "1/s": spread(rates, 0),
  };
}

async function registered(client, name) {
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
  const answer = await client.ask(
    "POST",
    "/worker/register",
    "content-type: application/json\r\n",
    body,
  );
  const { instanceToken } = JSON.parse(Buffer.concat(answer.parts).toString());
  return `content-type: application/json\r\ncontent-encoding: gzip\r\ngateway-instance-id: ${instanceId}\r\ngateway-instance-token: ${instanceToken}\r\n`;
}

let queries = 0;

/** As a gateway makes them: by time, count and a suffix of the process. */
function queryId(worker, unixMs) {
  const iso = new Date(unixMs).toISOString();
  const date = iso.slice(0, 10).replaceAll("-", "");
  const time = iso.slice(11, 19).replaceAll(":", "");
  queries = (queries % 99_999) + 1;
  return `${date}_${time}_${String(queries).padStart(5, "0")}_${worker}${randomSuffix}`;
}

const randomSuffix = randomBytes(3).toString("hex");

function batchOf(worker) {
  const records = recordsOf(worker);
  return gzipSync(JSON.stringify({ schemaVersion: 1, worker, records }));
}

/** Records of a worker as it sends them, each with an id of its own. */
export function recordsOf(worker, count = batchSize) {
  const now = Date.now();
  return Array.from({ length: count }, (_, index) => ({
    proxyQueryId: queryId(worker, now),
    createdAt: now + index,
    startedAt: now + index,
    finishedAt: now + index + 12,
    frontend: "postgresWire",
    user: `user${index % 17}`,
    clientAddress: "192.0.2.7",
    clusterGroup: "default",
    cluster: "local",
    engine: "duckDb",
    tags: { application: "dashboard" },
    sql: `select region, sum(amount) from sales where day >= date '2026-01-01' and customer = ${index} group by region order by 2 desc`,
    sourceDialect: "postgres",
    digestHash: randomBytes(16).toString("hex"),
    status: "finished",
    rowsReturned: 10,
    bytesReturned: 420,
    queueMs: 0.4,
    executionMs: 11.2,
    routingTrace: [{ step: "fallback", outcome: "group default" }],
    policyActions: [],
    engineStats: {},
    revision: `1.1.sha256:${"0".repeat(64)}`,
  }));
}

/** A control plane in a process of its own; `options` are those of controlServer.mjs. */
export async function startControl(options) {
  const secret = randomBytes(24).toString("hex");
  const child = fork(program, [JSON.stringify({ secret, ...options })], {
    execArgv: ["--import", "tsx"],
  });
  const messages = [];
  let wake = () => undefined;
  child.on("message", (message) => {
    messages.push(message);
    wake();
  });
  child.on("exit", (code) => {
    messages.push({ ended: code });
    wake();
  });
  async function next(key) {
    for (;;) {
      const message = messages.shift();
      if (message?.[key] !== undefined) return message;
      if (message?.ended !== undefined)
        throw new Error(`the control plane ended with ${message.ended}`);
      await new Promise((resolve) => {
        wake = resolve;
      });
    }
  }
  const { port, bytes } = await next("port");
  const observer = await openClient(port, secret);
  return {
    bytes,
    pid: child.pid,
    kind: options.database === undefined ? "memory" : "PostgreSQL",
    client: () => openClient(port, secret),
    revision: async () => {
      const { parts } = await observer.ask("GET", "/worker/config/wait");
      return JSON.parse(Buffer.concat(parts).toString()).head.revision;
    },
    /** Until that many wait: the server answers in order, so a turn of its own comes after theirs. */
    held: async (count) => {
      for (let turn = 0; turn <= count / 100; turn += 1)
        await observer.ask("GET", "/worker/config/wait");
    },
    push: async (count) => {
      child.send({ do: "push", count });
      const { pushed } = await next("pushed");
      return pushed;
    },
    ingest: async (sent) => {
      child.send({ do: "ingest", batches: sent });
      const { ingested } = await next("ingested");
      return ingested;
    },
    stop: async () => {
      observer.close();
      child.send({ do: "stop" });
      await next("ended").catch(() => undefined);
    },
  };
}
