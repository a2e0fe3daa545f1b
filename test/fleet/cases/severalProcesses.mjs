/**
 * A worker of two processes behind the same listeners: a client meets either, and what it says of another connection
 * (a poll, a cancel, KILL) reaches the one that has it. One is killed, and the worker goes on.
 */
import { request } from "node:http";
import { connect } from "node:net";
import { askMysql, askPg, mysqlClient, pgClient } from "../ask.mjs";
import { startEngine } from "../engine.mjs";
import { freePort, servingConfig } from "../fleet.mjs";
import { metricOf, metricsText, ready, statusOf } from "../ops.mjs";
import { childrenOf } from "../processOf.mjs";
import { check, notices, same, sameInSomeOrder, until } from "../wait.mjs";

export const title =
  "Several processes behind one listener: polls, cancels, limits, and one of them killed";

const cap = 3;
const rounds = 8;
/** What a killed process held comes back with its leases at the latest. */
const slotsBackSeconds = 90;
/** Longer than those who wait for such slots, or hold one meanwhile. */
const mayWaitMs = 2_000 * slotsBackSeconds;
const kinds = ["postgresWire", "mysqlWire", "trinoHttp"];
const life = "600000 ms";
const cancelled = { postgres: "57014", mysql: 1317, unknownThread: 1094 };

export async function run(fleet) {
  const engine = await startEngine(fleet);
  const control = await fleet.controlPlane({
    config: {
      ...servingConfig,
      clusters: { local: { engine: "trino", endpoint: engine.url } },
      clusterGroups: { default: { members: ["local"], maxRunningQueries: cap } },
    },
  });
  await control.open();
  const ports = await Promise.all(kinds.map(() => freePort()));
  const frontends = kinds.map((kind, at) => [kind, { host: "127.0.0.1", port: ports[at] }]);
  const worker = await fleet.worker("w", `http://127.0.0.1:${control.port}`, {
    frontends: Object.fromEntries(frontends),
    adminApi: { host: "127.0.0.1", port: await freePort() },
    coordination: { mode: "controlPlane" },
    processes: 2,
    // By it the successor of a killed process gives back what that one held, without waiting for the leases' end.
    stateDir: await fleet.folder("state"),
  });
  await worker.open().then(ready);
  await bothAreWorkers(worker);
  await everyoneIsAnswered(worker);
  await limitsHold(engine, worker);
  await cancelsArrive(engine, worker);
  await oneIsKilled(fleet, worker);
  await limitsHold(engine, worker);
  await drains(engine, worker);
}

async function bothAreWorkers(worker) {
  const { processes } = await statusOf(worker);
  sameInSomeOrder(
    processes.map(({ name }) => name),
    ["w.1", "w.2"],
    "names",
  );
  same(new Set(processes.map(({ activeRevision }) => activeRevision)).size, 1, "revisions");
}

/** Over new connections, which come to the processes in turns; a poll does not come to the one that has its query. */
async function everyoneIsAnswered(worker) {
  for (let round = 0; round < rounds; round++) {
    same(await askPg(worker, `select '1 ms'`), "1", "PostgreSQL");
    same(await askMysql(worker, `select '1 ms'`), "1", "MySQL");
    same(await trinoCell(worker, `select '60 ms'`), "1", "Trino");
  }
  for (const process of ["1", "2"]) {
    const label = `process="${process}"`;
    const counted = await metricOf(worker, "gateway_queries_total", label);
    // Connections come in turns, so half of two protocols' at least.
    check(counted >= rounds, `process ${process} ran ${counted} queries`);
  }
  check((await metricOf(worker, "gateway_relayed_requests_total")) > 0, "no poll was passed on");
  const heads = (await metricsText(worker)).match(/^# TYPE gateway_queries_total /gm);
  same(heads.length, 1, "heads of a family");
}

/** By the engine's own log: as many run as may, and the others wait in whichever process they came to. */
async function limitsHold(engine, worker) {
  const clients = await Promise.all(Array.from({ length: rounds }, () => pgClient(worker)));
  const refused = [];
  const over = clients.map((client) =>
    client.query({ text: `select '${life}'`, query_timeout: mayWaitMs }).catch(({ message }) => {
      refused.push(message);
    }),
  );
  const waiting = () => metricOf(worker, "gateway_queued_queries");
  const open = () =>
    engine.statements.filter(({ sql, untilMs }) => untilMs === undefined && sql.includes(life));
  const isFull = async () => {
    same(refused, [], "refused or ended, though each may wait");
    return open().length >= cap && (await waiting()) === rounds - cap;
  };
  await until("all are there", isFull, slotsBackSeconds);
  same(open().length, cap, "statements at once");
  for (const client of clients) client.connection.stream.destroy();
  await Promise.all(over);
  await until("all are gone", async () => engine.running === 0 && (await waiting()) === 0);
}

async function cancelsArrive(engine, worker) {
  for (let round = 0; round < rounds; round++) {
    await nothingRuns(engine);
    const client = await pgClient(worker);
    const answer = client.query(`select '${life}'`).then(String, ({ code }) => code);
    await until("it runs", () => engine.running === 1);
    const { processID, secretKey } = client;
    await cancelRequest(worker, processID, secretKey);
    same(await answer, cancelled.postgres, "PostgreSQL's cancel");
    await client.end();
  }
  for (let round = 0; round < rounds; round++) {
    await nothingRuns(engine);
    const client = await mysqlClient(worker);
    const answer = client.query(`select '${life}'`).then(String, ({ errno }) => errno);
    await until("it runs", () => engine.running === 1);
    await askMysql(worker, `KILL QUERY ${client.threadId}`);
    same(await answer, cancelled.mysql, "MySQL's KILL");
    client.destroy();
  }
  await nothingRuns(engine);
  // The same with what is wrong on purpose: nothing ends, in whichever process it is.
  const client = await pgClient(worker);
  const running = client.query(`select '${life}'`).catch(() => {});
  await until("it runs", () => engine.running === 1);
  const { processID, secretKey } = client;
  for (const other of [0, 1]) await cancelRequest(worker, processID + other, secretKey ^ 1);
  const unknown = await askMysql(worker, `KILL QUERY ${2 ** 31}`);
  same(unknown, String(cancelled.unknownThread), "an id of nobody");
  const ends = () => until("it ends", () => engine.running === 0, 1);
  await notices("a cancel with a wrong key", ends, /it ends/);
  client.connection.stream.destroy();
  await running;
  await nothingRuns(engine);
}

/** A client may be told a moment before the engine is. */
function nothingRuns(engine) {
  return until("nothing runs", () => engine.running === 0);
}

async function oneIsKilled(fleet, worker) {
  const [first] = childrenOf(worker.pid);
  process.kill(first, "SIGKILL");
  await worker.logged("process.ended");
  for (let round = 0; round < rounds; round++) {
    same(await askPg(worker, `select '1 ms'`), "1", "beside a killed process");
  }
  await ready(worker);
  await bothAreWorkers(worker);
  same(await metricOf(worker, "gateway_process_restarts_total"), 1, "restarts");
  fleet.figure(`one of two was killed; ${worker.events("process.ended").length} end in the log`);
}

/** As an orchestrator does it: what runs is answered, and the exit is clean. */
async function drains(engine, worker) {
  const asked = Array.from({ length: 2 }, () => askPg(worker, `select '3000 ms'`));
  await until("both run", () => engine.running === 2);
  const code = worker.stop();
  for (const answer of await Promise.all(asked)) same(answer, "1", "asked before the stop");
  same(await code, 0, "exit code");
}

function cancelRequest(worker, processId, secret) {
  const message = Buffer.alloc(16);
  [16, 80_877_102, processId].forEach((word, at) => message.writeInt32BE(word, at * 4));
  message.writeInt32BE(secret, 12);
  return new Promise((resolve, reject) => {
    const socket = connect(worker.ports.postgresWire, "127.0.0.1", () => socket.end(message));
    socket.once("close", resolve).once("error", reject).resume();
  });
}

/** Each request over a connection of its own. */
async function trinoCell(worker, sql) {
  let page = await trinoRequest(worker, "POST", "/v1/statement", sql);
  let cell;
  for (;;) {
    if (page.error !== undefined) return page.error.errorName;
    cell ??= page.data?.[0]?.[0];
    if (page.nextUri === undefined) return String(cell);
    page = await trinoRequest(worker, "GET", new URL(page.nextUri).pathname);
  }
}

function trinoRequest(worker, method, path, body = "") {
  const headers = { "x-trino-user": "alice", "content-length": Buffer.byteLength(body) };
  const place = { host: "127.0.0.1", port: worker.ports.trinoHttp, agent: false };
  return new Promise((resolve, reject) => {
    const asked = request({ ...place, method, path, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece) => (text += piece));
      response.once("end", () => {
        if (response.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
      });
    });
    asked.once("error", reject);
    asked.end(body);
  });
}
