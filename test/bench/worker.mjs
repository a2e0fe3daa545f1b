/**
 * A worker: what a new configuration costs it, how soon it serves from its disk copy with everything
 * else dead, and whether queries feel a history endpoint that refuses.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { startProgram } from "../fleet/program.mjs";
import { median, quantile, spread } from "./figures.mjs";
import { processorMs } from "./processor.mjs";

const host = "127.0.0.1";
const sharedSecret = "a fleet secret of more than thirty-two characters";
const listener = { host, port: 0 };
const rounds = 5;
const perRound = 1_000;
const starts = 5;

export async function workerRows() {
  const rows = await activationRows();
  const folder = mkdtempSync(join(tmpdir(), "gateway-bench-worker-"));
  try {
    rows.push(...(await processRows(folder)));
  } finally {
    rmSync(folder, { recursive: true });
  }
  return rows;
}

/** Activation runs in a process of its own, whose event loop is watched. */
function activationRows() {
  const program = fileURLToPath(new URL("activation.mjs", import.meta.url));
  return new Promise((resolve, reject) => {
    const child = fork(program, [], { execArgv: ["--import", "tsx"] });
    child.on("message", (found) => {
      resolve(
        found.map(({ bytes, tookMs, stallMs, ownMs }) => ({
          what: `activation of ${Math.round(bytes / 1024)} KB`,
          "p50 ms": spread(tookMs, 0),
          "longest stall ms": spread(stallMs, 1),
          "… less waits for a core": spread(ownMs, 1),
        })),
      );
    });
    child.on("exit", (code) => reject(new Error(`activation ended with ${code}`)));
  });
}

async function processRows(folder) {
  const started = await startProgram("control", folder, { config: controlConfig() });
  const control = await started.open();
  const config = workerConfig(folder, control.ports.adminApi);
  const worker = await startProgram("worker", folder, { config });
  await ready(worker);
  const ratio = await ratioRow(worker);
  await worker.stop();
  await control.stop();

  const { passedMs } = await startedAgain(folder, config);
  return [
    ratio,
    { what: "start from disk, all else dead, to /readyz", "p50 ms": spread(passedMs, 0) },
  ];
}

/** Of a worker that once had its configuration: each start's time to `/readyz`, and its processor time by then. */
export async function diskStarts(folder) {
  const started = await startProgram("control", folder, { config: controlConfig() });
  const control = await started.open();
  const config = workerConfig(folder, control.ports.adminApi);
  const worker = await startProgram("worker", folder, { config });
  await ready(worker);
  await worker.stop();
  await control.stop();
  return startedAgain(folder, config);
}

async function startedAgain(folder, config) {
  const figures = { passedMs: [], processorMs: [] };
  for (let start = 0; start < starts; start += 1) {
    const fromMs = performance.now();
    const again = await startProgram("worker", folder, { config });
    await ready(again);
    figures.passedMs.push(performance.now() - fromMs);
    figures.processorMs.push(processorMs(again.pid));
    await again.stop();
  }
  return figures;
}

/** Rounds with an endpoint that takes records and rounds with one that refuses them, in turns. */
async function ratioRow(worker) {
  const endpoint = await historyEndpoint();
  const client = new pg.Client({ host, port: worker.ports.postgresWire, user: "bench" });
  await client.connect();
  for (let n = 0; n < 500; n += 1) await client.query("select 1");
  const p50 = { taken: [], refused: [] };
  for (let round = 0; round < rounds * 2; round += 1) {
    const kind = round % 2 === 0 ? "taken" : "refused";
    endpoint.refuse = kind === "refused";
    const times = [];
    for (let n = 0; n < perRound; n += 1) {
      const from = performance.now();
      await client.query("select 1");
      times.push(performance.now() - from);
    }
    p50[kind].push(
      quantile(
        times.toSorted((a, b) => a - b),
        0.5,
      ),
    );
  }
  await client.end();
  endpoint.close();
  return {
    what: "SELECT 1 on a worker, records taken · refused",
    "p50 ms": `${spread(p50.taken, 3)} · ${spread(p50.refused, 3)}`,
    ratio: (median(p50.refused) / median(p50.taken)).toFixed(3),
  };
}

let endpointPort = 0;

function historyEndpoint() {
  const endpoint = { refuse: false };
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      response.statusCode = endpoint.refuse ? 503 : 200;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ accepted: 200, duplicates: 0, rejected: [] }));
    });
  });
  endpoint.close = () => {
    server.close();
    server.closeAllConnections();
  };
  return new Promise((resolve) => {
    server.listen(endpointPort, host, () => resolve(endpoint));
  });
}

async function ready(program) {
  await program.open();
  while ((await fetch(`${program.url}/readyz`)).status !== 200) {
    await new Promise(setImmediate);
  }
}

function controlConfig() {
  return {
    gateway: {
      role: "controlPlane",
      adminApi: listener,
      persistence: { type: "inMemory" },
      workerApi: { sharedSecret },
    },
    clusters: { local: { engine: "duckDb" } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: 4 } },
    routingFallback: "default",
    auth: { provider: "none" },
  };
}

function workerConfig(folder, controlPort) {
  endpointPort = 20_000 + (process.pid % 20_000);
  return {
    gateway: {
      role: "worker",
      frontends: { postgresWire: listener },
      adminApi: listener,
      controlPlane: {
        url: `http://${host}:${controlPort}`,
        auth: { sharedSecret },
        allowInsecureHttp: true,
      },
      // What is measured is the way of a record, not of a lease; `capacity` measures that.
      coordination: { mode: "local" },
      history: { endpoint: `http://${host}:${endpointPort}/records` },
      stateDir: join(folder, "state"),
      lastGood: { enabled: true },
    },
  };
}
