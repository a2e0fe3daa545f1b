/**
 * A fleet in which everything can break: an engine with a log of its own, workers that share a cap over it, a link of
 * each to the control plane, a database and an endpoint for the history where a fault needs one. Clients whose every
 * statement has a mark, and the judgement over what became of each.
 */
import { setTimeout as pause } from "node:timers/promises";
import { embeddedPrograms, startPostgres } from "../real/postgresServer.mjs";
import { pgClient } from "./ask.mjs";
import { mostAtOnce, startEngine } from "./engine.mjs";
import { Skip, freePort, servingConfig } from "./fleet.mjs";
import { startEndpoint } from "./historyEndpoint.mjs";
import { ready, statusOf } from "./ops.mjs";
import { check, same, until, untilFull } from "./wait.mjs";

export const cap = 4;
const workersOfFleet = 3;
const clientsOfWorker = 3;
/** A statement runs as long as its number says, up to this. */
const runMsMost = 120;
/** Nobody waits longer for an answer, whatever breaks (I10). */
const answerMsMost = 120_000;
const paceMs = 10;
/** So few that they run over while nobody takes them. */
const spoolMaxRecords = 200;
const encryptionKey = "an encryption key of this test alone";

/** `needs` of the faults: `database` for a server of its own, `endpoint` for a place of its own for the history. */
export async function openSwarm(fleet, needs) {
  const engine = await startEngine(fleet);
  const database = needs.includes("database") ? await openDatabase(fleet) : undefined;
  const endpoint = needs.includes("endpoint") ? await startEndpoint(fleet) : undefined;
  const config = {
    ...servingConfig,
    clusters: { local: { engine: "trino", endpoint: engine.url, maxRunningQueries: cap } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: cap } },
  };
  const persistence = database === undefined ? {} : { persistence: database.persistence };
  const control = await fleet.controlPlane({ config, port: await freePort(), ...persistence });
  await control.open();
  const swarm = {
    engine,
    database,
    endpoint,
    control,
    links: [],
    workers: [],
    load: undefined,
    // What can only be waited for once both faults are over.
    returning: /** @type {Promise<unknown>[]} */ ([]),
  };
  for (let number = 0; number < workersOfFleet; number += 1) {
    const link = await fleet.proxy(control.port);
    const history = endpoint === undefined ? {} : { endpoint: endpoint.url, spoolMaxRecords };
    const name = `w${number + 1}`;
    swarm.links.push(link);
    swarm.workers.push(
      await fleet.worker(name, link.url, {
        stateDir: await fleet.folder(`state-${name}`),
        lastGood: { enabled: true, maxAgeSecs: 86_400 },
        coordination: { mode: "controlPlane" },
        history: { spool: "disk", ...history },
      }),
    );
  }
  await Promise.all(swarm.workers.map((worker) => worker.open().then(ready)));
  swarm.load = startLoad(swarm.workers);
  return swarm;
}

async function openDatabase(fleet) {
  const { folder, reason } = await embeddedPrograms();
  if (folder === undefined) throw new Skip(reason);
  const server = await startPostgres(folder);
  fleet.defer(() => server.stop());
  const link = await fleet.proxy(server.port);
  const url = server.url.replace(`:${server.port}/`, `:${link.port}/`);
  return { link, server, persistence: { type: "postgres", url, encryptionKey } };
}

// ---------------------------------------------------------------- load

function startLoad(workers) {
  const load = {
    stopping: false,
    moreMs: 0,
    sent: new Set(),
    complete: new Set(),
    failures: new Map(),
  };
  const loops = workers.flatMap((worker) =>
    Array.from({ length: clientsOfWorker }, (_, index) => asking(worker, index, load)),
  );
  load.stop = () => {
    load.stopping = true;
    return Promise.all(loops);
  };
  return load;
}

/** One client, who comes again whenever its worker does. */
async function asking(worker, index, load) {
  let client;
  for (let number = 0; !load.stopping; number += 1) {
    client ??= await pgClient(worker).catch(() => undefined);
    if (client === undefined || !(await asked(client, { worker, index, number, load }))) {
      await client?.end().catch(() => {});
      client = undefined;
    }
    await pause(paceMs);
  }
  await client?.end().catch(() => {});
}

async function asked(client, { worker, index, number, load }) {
  const mark = `mark-${worker.name}-${index}-${number}`;
  const runMs = 5 + ((number * 37 + index * 11) % runMsMost) + load.moreMs;
  load.sent.add(mark);
  try {
    const text = `select '${runMs} ms ${mark}'`;
    const { rows } = await client.query({ text, rowMode: "array", query_timeout: answerMsMost });
    same(rows, [[1]], `${mark}: its answer (I10)`);
    load.complete.add(mark);
    return true;
  } catch (error) {
    const code = String(error.code ?? error.message);
    load.failures.set(code, (load.failures.get(code) ?? 0) + 1);
    return false;
  }
}

/** Waits until so many statements more are answered. */
export function progress(swarm, count, seconds = 90) {
  const from = swarm.load.complete.size;
  const what = `${count} more statements are answered`;
  return until(what, () => swarm.load.complete.size >= from + count, seconds);
}

// ---------------------------------------------------------------- judgement

/** Ends the load, waits until nothing is under way anywhere, and answers what each of them knows. */
export async function settled(swarm) {
  const { engine, workers, load, endpoint, control } = swarm;
  // Every worker has its share of the cap again.
  await Promise.all(workers.map((worker) => ready(worker, 90)));
  await untilFull("the cap is used in full", load, () => engine.running === cap, 120);
  await load.stop();
  await until("the engine runs nothing", () => engine.running === 0, 60);
  const statuses = await until(
    "every record is sent",
    async () => {
      const found = await Promise.all(workers.map(statusOf));
      return found.every(({ historyUplink }) => historyUplink.queued === 0) && found;
    },
    120,
  );
  const records =
    endpoint === undefined
      ? await control.admin.all("/admin/queries")
      : [...endpoint.records.values()];
  const conflicts = await control.admin.all("/admin/query-conflicts");
  return {
    statements: engine.statements.map(({ sql, fromMs, untilMs }) => ({ sql, fromMs, untilMs })),
    records: records.map(({ proxyQueryId, sql }) => ({ id: proxyQueryId, mark: markIn(sql) })),
    conflicts: conflicts.length,
    dropped: statuses.reduce((sum, { historyUplink }) => sum + historyUplink.dropped, 0),
    sent: load.sent,
    complete: load.complete,
    failures: load.failures,
  };
}

function markIn(sql) {
  return /mark-\w+-\d+-\d+/.exec(sql ?? "")?.[0];
}

/** I1 to I4 and I10 over what the clients, the engine and the history know; answers how much there was. */
export function judge({ statements, records, conflicts, dropped, sent, complete, failures }) {
  const ran = statements.map(({ sql }) => markIn(sql)).filter((mark) => mark !== undefined);
  const engine = new Set(ran);
  const kept = records.map(({ mark }) => mark).filter((mark) => mark !== undefined);
  const distinct = new Set(kept);
  same(ran.length, engine.size, "statements that the engine ran, and distinct ones (I2)");
  same([kept.length, conflicts], [distinct.size, 0], "records of one statement (I2)");
  same(
    [...distinct].filter((mark) => !sent.has(mark)),
    [],
    "records of what nobody sent (I3)",
  );
  same(
    [...complete].filter((mark) => !engine.has(mark)),
    [],
    "answered, but the engine did not run it",
  );
  const lost = [...new Set([...complete, ...engine])].filter((mark) => !distinct.has(mark));
  const without = [...sent].filter((mark) => !distinct.has(mark));
  // A record that is lost may be of a statement that never came to run: a worker that is killed takes some along.
  check(
    lost.length <= dropped && dropped <= without.length,
    `${dropped} declared lost: at least ${lost.length}, at most ${without.length} have no record (I1), as ${lost[0]}`,
  );
  const most = mostAtOnce(statements.filter(({ sql }) => markIn(sql) !== undefined));
  check(most <= cap, `${most} at once at the engine, over ${cap} (I4)`);
  const wrong = [...failures.keys()].filter((code) => /its answer|XX000|timeout/i.test(code));
  same(wrong, [], "answers that are neither right nor a typed error (I10)");
  return { statements: ran.length, lost: lost.length, dropped, most };
}
