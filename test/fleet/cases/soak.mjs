/**
 * Steady load on three wires over a gateway with its own store: results of every size, catalog questions, errors,
 * connections that come and go, clients that leave in the middle. Every answer is right, every statement has one
 * record, and memory, descriptors and threads of the gateway and its engine stand still. Some seconds by day, which
 * are too few to say that of memory; `SOAK_SECS` makes it longer, an hour in the nightly run.
 */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { residentParts } from "../../bench/resident.mjs";
import { askTrino, cellOf, mysqlCell, mysqlClient, pgClient } from "../ask.mjs";
import { servingConfig } from "../fleet.mjs";
import { recordsOf } from "../ledger.mjs";
import { metricOf, ready } from "../ops.mjs";
import { check, notices, same, until } from "../wait.mjs";

const loadSecs = Number(process.env.SOAK_SECS ?? 20);
export const title = `${loadSecs} s of steady load: right answers, every record, nothing that grows`;
export const usualSeconds = 35;
export const seconds = loadSecs + 240;

const clientsOfWire = 2;
const paceMs = 60;
/** A client opens a new connection after so many statements. */
const statementsOfConnection = 40;
const sampleEveryMs = 1_000;
/** Code, store and pools have been filled by then: what grows afterwards grows for ever. */
const settledShare = 0.4;
/** In less the heap and the allocator have not settled. */
const growthFromSecs = 60;
/** A minute is short for a heap to settle. */
const growthMost = loadSecs < 600 ? 1.5 : 1.25;

export async function run(fleet) {
  const owner = await openOwner(fleet);
  const load = { stopping: false, recorded: 0, right: 0, wrong: [] };
  const clients = Object.keys(wires).flatMap((wire) =>
    Array.from({ length: clientsOfWire }, (_, index) => asks(owner, wire, index, load)),
  );
  const { samples, partsAtMost } = await sampled(owner);
  load.stopping = true;
  await Promise.all(clients);

  same(load.wrong.slice(0, 5), [], "answers that are not right");
  // Slots and records come a moment after the answers, and later of who left in the middle.
  const noneOf = (name) => until(`${name} is 0`, async () => (await metricOf(owner, name)) === 0);
  await noneOf("gateway_running_queries");
  const records = await until(
    "every record is kept",
    async () => {
      const found = await recordsOf(owner);
      const own = found.filter(({ sql }) => !sql.includes("information_schema"));
      return own.length >= load.recorded && own;
    },
    60,
  );
  await noneOf("gateway_history_queued");
  same(await metricOf(owner, "gateway_history_dropped_total"), 0, "records declared lost");
  const judge = (count) =>
    same(count, load.recorded, "records kept of the statements sent (I1, I2)");
  judge(records.length);
  await notices("a record that is gone", () => judge(records.length - 1), /I1/);
  fleet.figure(`${load.right} right answers, each with its record`);
  const memory = loadSecs < growthFromSecs ? [] : ["gateway MB", "engine MB"];
  for (const what of [...memory, "descriptors", "threads"]) judgeGrowth(fleet, what, samples);
  fleet.figure(`gateway MB at its most: ${JSON.stringify(partsAtMost)}`);
}

async function openOwner(fleet) {
  const owner = await fleet.controlPlane({
    name: "alone",
    role: "standalone",
    workerApi: undefined,
    frontends: { postgresWire: place, mysqlWire: place, trinoHttp: place },
    config: servingConfig,
  });
  await owner.open().then(ready);
  return owner;
}

const place = { host: "127.0.0.1", port: 0 };

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

/** The gateway answers it itself on a wire whose catalog it plays, and keeps no record of it. */
const catalogQuestion = "select count(*) from information_schema.tables where 1 = 0";

/** What is asked in turns, and the first cell of its answer. */
const questions = [
  (number) => [`select ${number} + 1`, String(number + 1)],
  (number) => [`select sum(range) from range(${1_000 + (number % 1_000)})`, undefined],
  () => ["select range, 'n' || range as name from range(3000)", "0"],
  (number) => [`select repeat('ä€😀', ${1 + (number % 5_000)})`, undefined],
  () => [catalogQuestion, "0"],
  (number) => [`select ${"1 + ".repeat(1 + (number % 50))}1`, String(2 + (number % 50))],
];
const broken = "selec 1";

async function asks(owner, wire, index, load) {
  let client = await wires[wire](owner);
  for (let number = index; !load.stopping; number += 1) {
    if (number % statementsOfConnection === 0) {
      await client.end();
      client = await wires[wire](owner);
      await leaveInTheMiddle(owner);
      load.recorded += 1;
    }
    await askOne(client, `${wire} ${index} ${number}`, number, load);
    await pause(paceMs);
  }
  await client.end();
}

/** A client that goes away once it saw the first row of many. */
async function leaveInTheMiddle(owner) {
  const client = await pgClient(owner);
  await new Promise((resolve) => {
    const query = new pg.Query("select range from range(3000000)");
    query.once("row", () => client.connection.stream.destroy());
    query.on("error", () => {});
    client.connection.stream.once("close", resolve);
    client.query(query);
  });
}

async function askOne(client, name, number, load) {
  const [sql, wanted] = questions[number % questions.length](number);
  const fails = number % 50 === 49;
  if (fails || sql !== catalogQuestion) load.recorded += 1;
  const found = await client.cell(fails ? broken : sql).then(
    (cell) => ({ cell }),
    (error) => ({ error: String(error.message) }),
  );
  const right = fails
    ? /syntax.error/i.test(found.error ?? found.cell)
    : found.cell !== undefined && (wanted === undefined || found.cell === wanted);
  if (right) load.right += 1;
  else load.wrong.push(`${name}: ${JSON.stringify(found).slice(0, 200)} of ${sql.slice(0, 100)}`);
}

// ---------------------------------------------------------------- what stands still

async function sampled(owner) {
  const samples = [];
  let most = 0;
  let partsAtMost;
  const endMs = performance.now() + loadSecs * 1_000;
  while (performance.now() < endMs) {
    await pause(sampleEveryMs);
    const engines = enginesOf(owner.pid);
    const gatewayMb = residentMb(owner.pid);
    if (gatewayMb > most) {
      most = gatewayMb;
      partsAtMost = residentParts(owner.pid);
    }
    samples.push({
      "gateway MB": gatewayMb,
      "engine MB": engines.reduce((sum, pid) => sum + residentMb(pid), 0),
      descriptors: readdirSync(`/proc/${owner.pid}/fd`).length,
      threads: readdirSync(`/proc/${owner.pid}/task`).length,
    });
  }
  return { samples, partsAtMost };
}

/** The middle of the first samples after it settled, and of the last. */
function judgeGrowth(fleet, what, samples) {
  const settled = samples.slice(Math.floor(samples.length * settledShare)).map((one) => one[what]);
  const part = Math.max(1, Math.floor(settled.length / 4));
  const before = middleOf(settled.slice(0, part));
  const after = middleOf(settled.slice(-part));
  fleet.figure(
    `${what}: ${before} after a while, ${after} at the end, ${Math.max(...settled)} most`,
  );
  check(after <= before * growthMost, `${what} grew from ${before} to ${after}`);
}

function middleOf(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length / 2)]);
}

function residentMb(pid) {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(match?.[1] ?? 0) / 1024;
}

function enginesOf(pid) {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" "),
  );
  return children
    .filter((child) => child !== "")
    .filter((child) => readFileSync(`/proc/${child}/cmdline`, "utf8").includes("adbcProcess"))
    .map(Number);
}
