/**
 * F18: a client is gone without a word, in every state of its protocol. By the engine's own log its statement ends, by
 * the worker's its slot, its place in the queue and its connection are free, and who only waited never ran.
 */
import { request } from "node:http";
import { connect } from "node:net";
import { mysqlClient, pgClient } from "../ask.mjs";
import { startEngine } from "../engine.mjs";
import { servingConfig } from "../fleet.mjs";
import { metricOf, ready } from "../ops.mjs";
import { descriptorsOf, socketsOf } from "../processOf.mjs";
import { chanceOf, seed } from "../seed.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title = "F18: a client vanishes in every state of its protocol (I4, I9)";

/** At night also who polls and stays away: that is known after five minutes. */
const night = process.env.GATEWAY_NIGHTLY === "1";
export const seconds = night ? 600 : 180;

const loopback = { host: "127.0.0.1", port: 0 };
const cap = 1;
/** Two seconds are promised; a machine that does other things as well has some more. */
const endSeconds = 10;
const unpolledSeconds = 330;
/** The worker's own connections come and go. */
const descriptorsSlack = 4;
const life = "600000 ms";
/** Waits as a description first, which no gauge counts. */
const unseen = "a prepared statement, MySQL";

/** Each enters a state and answers how its client vanishes. */
const quiet = {
  "accepted, PostgreSQL": (worker) => rawTo(worker.ports.postgresWire, ""),
  "half a start-up, PostgreSQL": (worker) => rawTo(worker.ports.postgresWire, "\0\0\0\x50\0\x03"),
  "idle, PostgreSQL": (worker) => pgClient(worker).then(gone),
  "half a message, PostgreSQL": async (worker) => {
    const client = await pgClient(worker);
    client.connection.stream.write("Q\0\0\x10\0select");
    return gone(client);
  },
  "parsed, PostgreSQL": async (worker) => {
    const client = await pgClient(worker);
    client.connection.parse({ name: "one", text: "select 1", types: [] });
    client.connection.flush();
    return gone(client);
  },
  "accepted, MySQL": (worker) => rawTo(worker.ports.mysqlWire, ""),
  "half a login, MySQL": (worker) => rawTo(worker.ports.mysqlWire, "\x50\0\0\x01\x85"),
  "idle, MySQL": (worker) => mysqlClient(worker).then(gone),
  "half a packet, MySQL": async (worker) => {
    const client = await mysqlClient(worker);
    client.connection.stream.write("\xff\0\0\0\x03select", "latin1");
    return gone(client);
  },
  "half of the headers, Trino": (worker) =>
    rawTo(worker.ports.trinoHttp, "POST /v1/statement HTTP/1.1\r\nhost: 127.0.0.1\r\nx-tri"),
  "half of the body, Trino": (worker) =>
    rawTo(worker.ports.trinoHttp, `${postHead(worker.ports.trinoHttp)}select`),
};
const asking = {
  "a query, PostgreSQL": async (worker, sql) => {
    const client = await pgClient(worker);
    client.query(sql).catch(() => {});
    return gone(client);
  },
  "a portal, PostgreSQL": async (worker, sql) => {
    const client = await pgClient(worker);
    client.query({ name: "one", text: sql }).catch(() => {});
    return gone(client);
  },
  "a query, MySQL": async (worker, sql) => {
    const client = await mysqlClient(worker);
    client.query(sql).catch(() => {});
    return gone(client);
  },
  "a prepared statement, MySQL": async (worker, sql) => {
    const client = await mysqlClient(worker);
    client.execute(sql).catch(() => {});
    return gone(client);
  },
  "a held poll, Trino": async (worker, sql) => {
    const first = await sent(worker.ports.trinoHttp, "POST", "/v1/statement", sql).answer;
    const { pathname } = new URL(JSON.parse(first).nextUri);
    return heldPoll(worker, pathname);
  },
  "a request, ClickHouse": async (worker, sql) => {
    const { asked, answer } = sent(worker.ports.clickhouseHttp, "POST", "/", sql);
    answer.catch(() => {});
    return () => asked.destroy();
  },
};

export async function run(fleet) {
  fleet.figure(`seed ${seed}`);
  const engine = await startEngine(fleet);
  const config = {
    ...servingConfig,
    clusters: { local: { engine: "trino", endpoint: engine.url } },
    clusterGroups: { default: { members: ["local"], maxRunningQueries: cap } },
  };
  const control = await fleet.controlPlane({ config });
  await control.open();
  const worker = await fleet.worker("w1", `http://127.0.0.1:${control.port}`, {
    frontends: {
      postgresWire: loopback,
      mysqlWire: loopback,
      trinoHttp: loopback,
      clickhouseHttp: loopback,
    },
  });
  await worker.open().then(ready);
  const chance = chanceOf();

  const before = descriptorsOf(worker.pid);
  for (const name of chance.shuffled(Object.keys(quiet))) {
    // By their names: its own connections come and go meanwhile, and a count would take one's end for another's.
    const others = socketsOf(worker.pid);
    const vanish = await quiet[name](worker);
    const isThere = () => [...socketsOf(worker.pid)].some((socket) => !others.has(socket));
    await until(`${name}: it is there`, isThere, endSeconds);
    vanish();
    await closed(worker, before, name);
  }
  let worstMs = 0;
  for (const name of chance.shuffled(Object.keys(asking))) {
    worstMs = Math.max(worstMs, await running({ engine, worker }, name));
    await closed(worker, before, name);
  }
  for (const name of chance.shuffled(Object.keys(asking))) await queued({ engine, worker }, name);
  const count = Object.keys(quiet).length + 2 * Object.keys(asking).length;
  fleet.figure(
    `${count} states; the slowest statement ended ${Math.round(worstMs)} ms after its client`,
  );
  if (night) await unpolled(fleet, { engine, worker });

  // A client whose connection stays open although it is gone: what the judge must not let pass.
  const link = await fleet.proxy(worker.ports.postgresWire);
  const kept = await pgClient({ ports: { postgresWire: link.port } });
  kept.query(`select '${life} kept'`).catch(() => {});
  await until("it runs", () => engine.running === 1);
  link.keepsServers = true;
  kept.connection.stream.destroy();
  const endedSoon = () => ended({ engine, worker }, "kept", 2);
  await notices("a client that only seems to be gone", endedSoon, /the engine's query ends/);
  await link.cut();
  await ended({ engine, worker }, "kept", endSeconds);
}

/** Milliseconds from the client's end to the last statement's that ran for it, by the engine's log. */
async function running({ engine, worker }, name) {
  const seen = engine.statements.length;
  const ownOnes = () => engine.statements.slice(seen).filter(({ sql }) => sql.includes(name));
  const vanish = await asking[name](worker, `select '${life} ${name}'`);
  await until(`${name}: it runs`, () => ownOnes().some(({ untilMs }) => untilMs === undefined));
  await vanish();
  const fromMs = performance.now();
  await ended({ engine, worker }, name, endSeconds);
  const own = ownOnes();
  const texts = own.map(({ sql, cancelled }) => `${sql.slice(0, 60)}: ${cancelled}`);
  check(own.length > 0 && own.every((one) => one.cancelled), `${name}: ${texts.join("; ")}`);
  return Math.max(...own.map(({ untilMs }) => untilMs - fromMs));
}

async function ended({ engine, worker }, name, limit) {
  await until(`${name}: the engine's query ends`, () => engine.running === 0, limit);
  const slots = () => metricOf(worker, "gateway_running_queries");
  await until(`${name}: the slot is free`, async () => (await slots()) === 0, limit);
}

/** Who waits for a slot and is gone never runs. */
async function queued({ engine, worker }, name) {
  const holder = await pgClient(worker);
  holder.query(`select '${life} holder'`).catch(() => {});
  await until("the cap is full", () => engine.running === cap);
  const seen = engine.statements.length;
  const waiting = () => metricOf(worker, "gateway_queued_queries");
  const vanish = await asking[name](worker, `select '${life} queued'`);
  if (name !== unseen) await until(`${name}: it waits`, async () => (await waiting()) === 1);
  await vanish();
  await until(`${name}: its place is free`, async () => (await waiting()) === 0, endSeconds);
  holder.connection.stream.destroy();
  await ended({ engine, worker }, name, endSeconds);
  same(engine.statements.length, seen, `${name}: statements of who was gone`);
}

async function unpolled(fleet, { engine, worker }) {
  await sent(worker.ports.trinoHttp, "POST", "/v1/statement", `select '${life} unpolled'`).answer;
  await until("it runs", () => engine.running === 1);
  const fromMs = performance.now();
  await ended({ engine, worker }, "nobody polls", unpolledSeconds);
  fleet.figure(`nobody polls: ended after ${Math.round((performance.now() - fromMs) / 1000)} s`);
}

function closed(worker, before, name) {
  const back = () => descriptorsOf(worker.pid) <= before + descriptorsSlack;
  return until(`${name}: its connection is closed`, back, endSeconds);
}

function gone(client) {
  return () => client.connection.stream.destroy();
}

async function rawTo(port, text) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await new Promise((resolve) => {
    socket.once("connect", resolve);
  });
  if (text !== "") socket.write(text, "latin1");
  return () => socket.destroy();
}

function postHead(port) {
  const lines = ["POST /v1/statement HTTP/1.1", `host: 127.0.0.1:${port}`, "x-trino-user: alice"];
  return `${[...lines, "content-length: 100"].join("\r\n")}\r\n\r\n`;
}

/**
 * Polls on and on, until one is held that the worker has read: who vanishes between two polls is only away, and has
 * minutes to come back. Answers how its client vanishes in it.
 */
function heldPoll(worker, pathname) {
  const poll = { left: false, asked: undefined };
  const loop = async () => {
    let path = pathname;
    while (!poll.left) {
      const { asked, answer } = sent(worker.ports.trinoHttp, "GET", path);
      poll.asked = asked;
      const { nextUri } = JSON.parse(await answer);
      path = nextUri === undefined ? path : new URL(nextUri).pathname;
    }
  };
  loop().catch(() => {});
  return async () => {
    await until("a poll is held", async () => {
      const { asked } = poll;
      if (!asked.writableFinished) return false;
      // Whatever reached the worker before these was read by then.
      for (let round = 0; round < 2; round++) await metricOf(worker, "gateway_queued_queries");
      return asked === poll.asked && asked.res === null;
    });
    poll.left = true;
    poll.asked.destroy();
  };
}

function sent(port, method, path, body = "") {
  const headers = { "x-trino-user": "alice", "content-length": Buffer.byteLength(body) };
  const asked = request({ host: "127.0.0.1", port, method, path, headers, agent: false });
  const answer = new Promise((resolve, reject) => {
    asked.once("error", reject);
    asked.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece) => (text += piece));
      response.once("end", () => resolve(text));
      response.once("error", reject);
    });
  });
  asked.end(body);
  return { asked, answer };
}
