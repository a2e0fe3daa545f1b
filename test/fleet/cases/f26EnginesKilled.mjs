/**
 * F26: for two minutes (half a minute by day) the processes of the embedded engines are killed, aborted, stopped, made to plan without
 * end or to run out of memory, at random, under load on three wires: each answer is right or a typed error, every
 * connection of a client lives on, each statement has one record, and the cap holds.
 */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { askTrino, mysqlCell, mysqlClient, pgClient, cellOf } from "../ask.mjs";
import { servingConfig } from "../fleet.mjs";
import { recordsOf } from "../ledger.mjs";
import { night } from "../night.mjs";
import { metricOf, ready } from "../ops.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title =
  "F26: engine processes killed at random under load: right or typed answers, every record, no slot lost";
export const usualSeconds = 50;

const loadMs = night ? 120_000 : 35_000;
export const seconds = 240;

const cap = 3;
const clientsOfWire = 2;
/** Between two statements of a client: two cores keep up with the records. */
const paceMs = 30;
const lookEveryMs = 5;
const faultEveryMs = { least: 500, most: 3_000 };
/** Makes the same faults in the same order. */
const seed = Number(process.env.FLEET_SEED ?? Math.floor(Math.random() * 1e9));

/** What each protocol may say besides a right answer: the process ended, a limit passed, or no cluster could be reached. */
const typed = {
  pg: new Set(["57P02", "57014", "57P03", "53000", "53200"]),
  mysql: new Set(["1296", "3024", "1429", "1041"]),
  trino: new Set([
    "REMOTE_HOST_GONE",
    "EXCEEDED_TIME_LIMIT",
    "NO_NODES_AVAILABLE",
    "GENERIC_INSUFFICIENT_RESOURCES",
  ]),
};

export async function run(fleet) {
  const owner = await openOwner(fleet);
  const random = seeded(seed);
  const load = { stopping: false, sent: [], refused: new Map(), wrong: [], right: 0, backMs: [] };
  const clients = await Promise.all(Object.keys(wires).flatMap((wire) => several(wire, owner)));
  const asking = clients.map((client, index) => ask(client, index, load));
  const watching = watchCap(owner, load);
  const faults = await breakEngines(owner, random, load);
  load.stopping = true;
  await Promise.all(asking);
  const most = await watching;

  same(load.wrong, [], "answers that are neither right nor a typed error");
  same(most, { one: cap, two: cap }, "most at once of each cluster (I4)");
  await stillAnswered(clients);
  const running = () => metricOf(owner, "gateway_running_queries");
  await until("no slot is held", async () => (await running()) === 0);
  await judgeRecords(owner, load);
  await Promise.all(clients.map((client) => client.end()));
  const refused = [...load.refused].map(([code, count]) => `${code} ${count}`).join(", ");
  fleet.figure(
    `seed ${seed}: ${describe(faults)}; ${load.right} right answers, refused: ${refused}`,
  );
  fleet.figure(`from a kill to the next right answer: ${spread(load.backMs)} ms`);
}

/** The same connections as from the first moment on; an engine that the last fault stopped is found out by a limit. */
async function stillAnswered(clients) {
  for (const client of clients) {
    const outcome = () => client.cell("select 41 + 1").catch((error) => errorOf(client, error));
    await until("answered on the old connection", async () => {
      const found = await outcome();
      check(found === "42" || typed[client.wire].has(found), `on the old connection: ${found}`);
      return found === "42";
    });
  }
}

function errorOf({ wire }, { errno, code }) {
  return String(wire === "mysql" ? (errno ?? code) : code);
}

function openOwner(fleet) {
  const place = { host: "127.0.0.1", port: 0, maxStatementTokens: 1_000_000 };
  const cluster = { ...servingConfig.clusters.local, maxRunningQueries: cap, memoryLimit: "256MB" };
  return fleet
    .controlPlane({
      name: "alone",
      role: "standalone",
      workerApi: undefined,
      frontends: { postgresWire: place, mysqlWire: place, trinoHttp: place },
      config: {
        ...servingConfig,
        clusters: { one: cluster, two: cluster },
        clusterGroups: {
          default: { members: ["one", "two"], maxRunningQueries: 2 * cap, maxExecutionSecs: 2 },
        },
      },
    })
    .then(async (owner) => {
      await owner.open().then(ready);
      return owner;
    });
}

// ---------------------------------------------------------------- load

const wires = {
  pg: async (owner) => {
    const client = await pgClient(owner);
    return { cell: (sql) => cellOf(client, sql), end: () => client.end() };
  },
  mysql: async (owner) => {
    const client = await mysqlClient(owner);
    return { cell: (sql) => mysqlCell(client, sql), end: () => client.end() };
  },
  trino: async (owner) => ({ cell: (sql) => askTrino(owner, sql), end: async () => {} }),
};

function several(wire, owner) {
  return Array.from({ length: clientsOfWire }, async () => ({
    wire,
    ...(await wires[wire](owner)),
  }));
}

/** Sums of different length, some of which take long enough to be met by a fault. */
async function ask(client, index, load) {
  for (let number = 0; !load.stopping; number += 1) {
    const mark = `mark-f26-${index}-${number}`;
    const count = number % 5 === 0 ? 60_000_000 : 1_000 + number;
    const wanted = String((BigInt(count) * BigInt(count - 1)) / 2n);
    load.sent.push(mark);
    const found = await client
      .cell(`select sum(range) as ${mark.replaceAll("-", "_")} from range(${count})`)
      .catch((error) => errorOf(client, error));
    if (found === wanted) answered(load);
    else if (typed[client.wire].has(found))
      load.refused.set(found, (load.refused.get(found) ?? 0) + 1);
    else load.wrong.push(`${client.wire} ${mark}: ${found}`);
    await pause(paceMs);
  }
}

function answered(load) {
  load.right += 1;
  if (load.killedMs === undefined) return;
  load.backMs.push(Math.round(performance.now() - load.killedMs));
  load.killedMs = undefined;
}

/** The most that ran at once, of each cluster, as often as there is time to look. */
async function watchCap(owner, load) {
  const most = { one: 0, two: 0 };
  while (!load.stopping) {
    for (const cluster of Object.keys(most)) {
      const now = await metricOf(owner, "gateway_running_queries", `cluster_name="${cluster}"`);
      most[cluster] = Math.max(most[cluster], now);
    }
    await pause(lookEveryMs);
  }
  return most;
}

// ---------------------------------------------------------------- faults

const plan = `select 1 where true${" and a.b=1".repeat(60_000)}`;
const hog = "select count(*) from (select distinct repeat('x', 100) || range from range(30000000))";

async function breakEngines(owner, random, load) {
  const faults = new Map();
  const clients = { pg: await wires.pg(owner), mysql: await wires.mysql(owner) };
  /** What runs of it, by connection. */
  const asked = new Map();
  const endMs = performance.now() + loadMs;
  while (performance.now() < endMs) {
    const { least, most } = faultEveryMs;
    await pause(least + random() * (most - least));
    const kind = kinds[Math.floor(random() * kinds.length)];
    const done = kind.make({ owner, random, load, clients, asked });
    if (done) faults.set(kind.name, (faults.get(kind.name) ?? 0) + 1);
  }
  // What was asked ends, with whatever answer; its process may have been taken by another fault.
  await Promise.all(asked.values());
  await Promise.all([clients.pg.end(), clients.mysql.end()]);
  return faults;
}

const kinds = [
  // More often than those that a limit of time has to find out.
  { name: "killed", make: (at) => strike(at, "SIGKILL") },
  { name: "killed", make: (at) => strike(at, "SIGKILL") },
  { name: "killed", make: (at) => strike(at, "SIGKILL") },
  { name: "aborted", make: (at) => strike(at, "SIGABRT") },
  { name: "stopped", make: (at) => strike(at, "SIGSTOP") },
  { name: "planning", make: (at) => send(at, plan) },
  { name: "memory", make: (at) => send(at, hog) },
];

function strike({ owner, random, load }, signal) {
  const found = enginesOf(owner.pid);
  if (found.length === 0) return false;
  try {
    process.kill(found[Math.floor(random() * found.length)], signal);
  } catch {
    // It ended by itself since it was seen.
    return false;
  }
  if (signal === "SIGKILL") load.killedMs = performance.now();
  return true;
}

function send({ clients, random, asked }, sql) {
  const client = random() < 0.5 ? clients.pg : clients.mysql;
  if (asked.has(client)) return false;
  const ended = client
    .cell(sql)
    .catch(() => {})
    .finally(() => asked.delete(client));
  asked.set(client, ended);
  return true;
}

/** Process ids of the children that an engine runs in. */
function enginesOf(pid) {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    read(`/proc/${pid}/task/${task}/children`).split(" "),
  );
  return children
    .filter((child) => child !== "" && read(`/proc/${child}/cmdline`).includes("adbcProcess"))
    .map(Number);
}

/** Nothing of a process that ended meanwhile. */
function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

// ---------------------------------------------------------------- afterwards

async function judgeRecords(owner, load) {
  // A record comes a moment after its answer, and later where the engine was asked to end it.
  const marks = await until(
    "every record is kept",
    async () => {
      const found = (await recordsOf(owner))
        .map(({ sql }) => /mark_f26_\d+_\d+/.exec(sql ?? "")?.[0].replaceAll("_", "-"))
        .filter((mark) => mark !== undefined);
      return found.length >= load.sent.length && found;
    },
    60,
  );
  same(await metricOf(owner, "gateway_history_dropped_total"), 0, "records declared lost");
  const judge = (records) => {
    const kept = new Set(records);
    same(records.length, kept.size, "a query has two records (I2)");
    const lost = load.sent.filter((mark) => !kept.has(mark));
    same(lost, [], "queries without a record (I1)");
  };
  judge(marks);
  await notices("a record that is gone", () => judge(marks.slice(1)), /I1/);
  await notices("a record that is there twice", () => judge([...marks, marks[0]]), /I2/);
  check(load.backMs.length > 0, "no process was killed");
}

function describe(faults) {
  return [...faults].map(([name, count]) => `${name} ${count}`).join(", ");
}

function spread(all) {
  const sorted = all.toSorted((a, b) => a - b);
  return `${sorted[0]} / ${sorted[Math.floor(sorted.length / 2)]} / ${sorted.at(-1)} (least, median, most of ${sorted.length})`;
}

/** Evenly distributed in [0, 1), by mulberry32. */
function seeded(from) {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
