/**
 * Shared capacity over HTTP, one control plane process on PostgreSQL: leases taken and given back one by
 * one and in fours, and whether a flood of one group starves another.
 *
 * The load generator is this process: what it shows is at most what it can ask.
 */
import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { setTimeout as after } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { embeddedPrograms, startPostgres } from "../real/postgresServer.mjs";
import { startControl } from "./control.mjs";
import { monotonicMs } from "./controlClient.mjs";
import { median, quantile, spread } from "./figures.mjs";

const workers = 4;
const rounds = 5;
const roundMs = 3_000;
/** Calls under way at once. */
const callers = 128;
/** More than all callers hold together: nobody waits. */
const wide = 2_000;
/** Of the contest: slots, how long each query runs, and how many each group has under way. */
const narrow = 5;
const runMs = 20;
const victims = 10;
const floods = 1_000;
const victimWeight = 3;
/** While all of them arrive, waits are counted apart. */
const arrivalMs = 1_000;

export async function capacityRows() {
  const programs = await embeddedPrograms();
  if (programs.folder === undefined) throw new Error(programs.reason);
  const postgres = await startPostgres(programs.folder, { fsync: "on" });
  try {
    const control = await startControl({ database: postgres.url, seed: configuration });
    try {
      const fleet = await fleetOf(control);
      return [...(await pairRows(fleet)), ...(await contestRows(fleet)), ...(await aheadRows())];
    } finally {
      await control.stop();
    }
  } finally {
    await postgres.stop();
  }
}

const configuration = {
  clusters: {
    wide: { engine: "duckDb", maxRunningQueries: wide },
    narrow: { engine: "duckDb", maxRunningQueries: narrow },
  },
  clusterGroups: {
    wide: { members: ["wide"], maxRunningQueries: wide },
    victim: { members: ["narrow"], maxRunningQueries: narrow, weight: victimWeight },
    flood: { members: ["narrow"], maxRunningQueries: narrow },
  },
};

/** In a worker alone: what stands between a query and its slot. */
async function aheadRows() {
  const { local, leased } = await new Promise((resolve, reject) => {
    const program = fileURLToPath(new URL("leasesAhead.mjs", import.meta.url));
    const child = fork(program, { execArgv: ["--import", "tsx"] });
    child.on("message", resolve);
    child.on("exit", (code) => reject(new Error(`the leases ended with ${code}`)));
  });
  const row = (what, { medians, p99s }) => ({ what, µs: spread(medians, 1), p99: spread(p99s, 0) });
  return [row("a slot, counted alone", local), row("a slot, with leases ahead", leased)];
}

async function pairRows(fleet) {
  const one = await rates(fleet, { queryId: true, count: 1 });
  const four = await rates(fleet, { queryId: false, count: 4 });
  return [
    {
      what: `leases taken and given back one by one, ${callers} callers of ${workers} workers, HTTP, PostgreSQL`,
      "pairs/s": spread(one, 0),
    },
    {
      what: `leases in fours, ${callers} callers of ${workers} workers, HTTP, PostgreSQL`,
      "leases/s": spread(four, 0),
    },
  ];
}

async function rates(fleet, ask) {
  const found = [];
  for (let round = 0; round <= rounds; round += 1) {
    let leases = 0;
    const fromMs = monotonicMs();
    const untilMs = fromMs + roundMs;
    const caller = async (_, at) => {
      const worker = fleet.worker(at);
      const connection = await fleet.connect();
      while (monotonicMs() < untilMs) {
        const { granted } = await worker.acquire(connection, {
          ...ask,
          group: "wide",
          cluster: "wide",
        });
        await worker.release(connection, granted);
        leases += granted.length;
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: callers }, caller));
    // The first round warms up both sides.
    if (round > 0) found.push((leases / (monotonicMs() - fromMs)) * 1_000);
  }
  return found;
}

/** The victim alone, then beside a hundred times as many queries of another group. */
async function contestRows(fleet) {
  const alone = await contested(fleet, 0);
  const flooded = await contested(fleet, floods);
  const shares = [flooded.victim / victimWeight, flooded.flood];
  return [
    {
      what: `wait of ${victims} queries (weight ${victimWeight}) for ${narrow} slots of ${runMs} ms, alone, p99`,
      ms: alone.p99.toFixed(0),
      "p50 ms": alone.p50.toFixed(0),
      "worst ms": alone.worst.toFixed(0),
    },
    {
      what: `the same beside ${floods} of another group (weight 1), p99`,
      ms: flooded.p99.toFixed(0),
      "p50 ms": flooded.p50.toFixed(0),
      "worst ms": flooded.worst.toFixed(0),
      "times alone": (flooded.p99 / alone.p99).toFixed(2),
      "Jain index over weights": jain(shares).toFixed(3),
    },
  ];
}

async function contested(fleet, flood) {
  const connections = await fleet.connections(victims + flood);
  const untilMs = monotonicMs() + 3 * roundMs;
  const waits = [];
  const served = { victim: 0, flood: 0 };
  const query = async (connection, at) => {
    const name = at < victims ? "victim" : "flood";
    const worker = fleet.worker(at < victims ? 0 : 1 + (at % (workers - 1)));
    while (monotonicMs() < untilMs) {
      const askedMs = monotonicMs();
      const granted = await worker.waitFor(connection, { group: name, cluster: "narrow" });
      // Whoever still waits at the end is served and counts no more: nobody leaves a slot behind.
      if (monotonicMs() < untilMs) {
        if (name === "victim") waits.push({ askedMs, waitedMs: monotonicMs() - askedMs });
        await after(runMs);
        served[name] += 1;
      }
      await worker.release(connection, granted);
    }
    connection.close();
  };
  await Promise.all(connections.map(query));
  const all = waits.map(({ waitedMs }) => waitedMs);
  // A thousand that come at one moment are written before anybody is served again; apart, as `worst`.
  const later = waits.filter(({ askedMs }) => askedMs > untilMs - 3 * roundMs + arrivalMs);
  const sorted = later.map(({ waitedMs }) => waitedMs).toSorted((a, b) => a - b);
  return { ...served, p50: median(sorted), p99: quantile(sorted, 0.99), worst: Math.max(...all) };
}

/** 1 when all shares are equal, 1/n when one has everything. */
function jain(shares) {
  const sum = shares.reduce((all, share) => all + share, 0);
  const squares = shares.reduce((all, share) => all + share * share, 0);
  return (sum * sum) / (shares.length * squares);
}

/** Registered workers, and connections that any of them may use. */
async function fleetOf(control) {
  const registrar = await control.client();
  const known = [];
  for (let at = 0; at < workers; at += 1) known.push(workerOf(await registered(registrar, at)));
  registrar.close();
  return {
    worker: (at) => known[at % workers],
    connect: () => control.client(),
    /** A few at a time: a server's line of new connections is short. */
    connections: async (count) => {
      const all = [];
      while (all.length < count) {
        const some = Array.from({ length: Math.min(100, count - all.length) }, control.client);
        all.push(...(await Promise.all(some)));
      }
      return all;
    },
  };
}

async function registered(client, at) {
  const instanceId = randomBytes(12).toString("hex");
  const body = {
    name: `bench${at}`,
    instanceId,
    labels: {},
    version: "bench",
    schemaVersions: [1],
    heartbeatIntervalSecs: 10,
  };
  const { instanceToken } = await asked(client, "/worker/register", json, body);
  return { instanceId, headers: `${json}gateway-instance-token: ${instanceToken}\r\n` };
}

const json = "content-type: application/json\r\n";

/** What a worker that is registered asks of capacity, on any connection. */
export function workerOf({ instanceId, headers }) {
  const acquire = (connection, { queryId, group, cluster, count, waitMs = 0 }) =>
    asked(connection, "/worker/capacity/acquire", headers, {
      requestId: nextId(),
      instanceId,
      group,
      candidates: [cluster],
      ...(queryId === false ? {} : { queryId: queryId === true ? nextId() : queryId }),
      user: group,
      count,
      waitMs,
    });
  return {
    acquire,
    /** Asks until it has a lease. */
    waitFor: async (connection, ask) => {
      const queryId = nextId();
      for (;;) {
        const { granted } = await acquire(connection, {
          ...ask,
          queryId,
          count: 1,
          waitMs: 10_000,
        });
        if (granted.length > 0) return granted;
      }
    },
    release: (connection, granted) =>
      asked(connection, "/worker/capacity/release", headers, {
        instanceId,
        leases: granted.map(({ cluster, slot, lease }) => ({ cluster, slot, lease })),
      }),
  };
}

let ids = 0;
const ownId = randomBytes(4).toString("hex");

function nextId() {
  ids += 1;
  return `${ownId}-${ids}`;
}

async function asked(connection, path, headers, body) {
  const answer = await connection.ask("POST", path, headers, Buffer.from(JSON.stringify(body)));
  const text = Buffer.concat(answer.parts).toString();
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}
