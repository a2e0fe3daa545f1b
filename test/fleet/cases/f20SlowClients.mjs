/**
 * F20: clients that are slow in what they say and slow in what they read. Who does not say who it is has ten seconds,
 * an address has so many connections, a result that nobody reads waits at its engine, and others are served as before.
 */
import { createServer } from "node:net";
import { cellOf, pgClient } from "../ask.mjs";
import { servingConfig } from "../fleet.mjs";
import { atNight } from "../night.mjs";
import { ready } from "../ops.mjs";
import { childrenOf, forgetMost, memoryOf, mib, processorSecs } from "../processOf.mjs";
import { openSocket, pgIdle, pgMessage, told } from "../rawLogins.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title = "F20: slow handshakes, headers, bodies and readers (I9, I10)";

const perAddress = 20;
const attackers = ["127.0.3.1", "127.0.3.2"];
/** Ten are promised; connections are looked at every two, on a machine that does other things as well. */
const handshakeSeconds = 20;
const readers = 4;
const bytesMore = 128 * 2 ** 20;
const questions = 500;
/**
 * Judged by the work that the worker did for them and not by the clock: what else runs on the machine makes everybody
 * wait, and is none of the worker's doing. The slack is for a collection of garbage.
 */
const slackSecs = 0.15;
const within = 1.2;
const unread = "select range as n, repeat('x', 200) as t from range(20000000)";

const head = "POST /v1/statement HTTP/1.1\r\nhost: 127.0.0.1\r\n";
/** What each says before it falls silent. */
const halves = {
  postgresWire: ["\0\0\0\x50\0\x03"],
  mysqlWire: ["\x50\0\0\x01\x85"],
  trinoHttp: [head],
};

export async function run(fleet) {
  atNight("its limit is ten seconds");
  const listener = { host: "127.0.0.1", port: 0, maxConnectionsPerAddress: perAddress };
  const control = await fleet.controlPlane({ config: servingConfig });
  await control.open();
  const worker = await fleet.worker("w1", `http://127.0.0.1:${control.port}`, {
    frontends: { postgresWire: listener, mysqlWire: listener, trinoHttp: listener },
  });
  await worker.open().then(ready);
  const other = await pgClient(worker);
  const before = await latency(worker, other);

  const slow = await slowOnes(worker);
  const judgeCap = async (address) => {
    for (const [wire, answer] of Object.entries(refusals)) {
      const text = await refusalOf(worker.ports[wire], address);
      check(answer.test(text), `${wire}: one too many of ${address} is told ${text}`);
    }
  };
  await judgeCap(attackers[0]);
  forgetMost(worker.pid);
  const base = memoryOf(worker.pid);
  const unreadOnes = await Promise.all(
    Array.from({ length: readers }, () => unreadBy(worker, "127.0.3.9")),
  );
  await atRest(worker);
  const during = await latency(worker, other);
  const more = memoryOf(worker.pid, "VmHWM") - base;
  check(more <= bytesMore, `results that nobody reads take ${mib(more)}`);
  check(
    during.secs <= before.secs * within + slackSecs,
    `another client's questions take ${during.secs} s of the worker, ${before.secs} before`,
  );
  fleet.figure(
    `another client's median: ${before.median} ms alone, ${during.median} ms beside ${slow.length + readers} slow ones (${before.secs} and ${during.secs} s of the worker for ${questions}), which took ${mib(more)}`,
  );
  for (const socket of unreadOnes) socket.destroy();

  const judgeClosed = (sockets, limit) =>
    until("who did not say who it is is gone", () => sockets.every(isGone), limit);
  await judgeClosed(
    slow.filter(({ body }) => !body),
    handshakeSeconds,
  );
  same(await cellOf(other, "select 42"), "42", "another client afterwards");
  await other.end();

  // A listener that waits for ever, and an address that may have more: neither must pass.
  const patient = await startPatient(fleet);
  const held = [await openSocket(patient)];
  await notices("a handshake without a limit", () => judgeClosed(held, 1), /who did not say/);
  await notices("an address without a limit", () => judgeCap("127.0.3.77"), /one too many/);
}

function isGone(socket) {
  return socket.readableEnded || socket.destroyed;
}

/** As many from each address as it may have, over each wire. */
async function slowOnes(worker) {
  const sockets = [];
  for (const address of attackers) {
    for (const [wire, [said]] of Object.entries(halves)) {
      for (let number = 0; number < perAddress; number += 1) {
        const socket = await openSocket(worker.ports[wire], address);
        // A login waits in a body as well, which has longer than a head.
        socket.body = wire === "trinoHttp" && number % 2 === 0;
        const rest = socket.body ? "x-trino-user: eve\r\ncontent-length: 100\r\n\r\nselect" : "";
        socket.write(said + rest, "latin1");
        socket.resume();
        sockets.push(socket);
      }
    }
  }
  return sockets;
}

/** What the next connection of an address is told. */
const refusals = {
  postgresWire: /C53300/,
  mysqlWire: /Too many|connection/i,
  trinoHttp: /^HTTP\/1.1 (?:429|503)|^closed/,
};

async function refusalOf(port, address) {
  const socket = await openSocket(port, address);
  socket.write("");
  let text = "";
  socket.setEncoding("latin1").on("data", (piece) => (text += piece));
  // Served ones say nothing, or greet and wait.
  const open = new Promise((resolve) => {
    socket.once("close", () => resolve(text === "" ? "closed" : text));
  });
  const fine = until("it is refused", () => isGone(socket), 3).then(
    () => open,
    () => "nothing: it is served",
  );
  const said = await fine;
  socket.destroy();
  return said;
}

/** A query whose rows are not read beyond the first. */
async function unreadBy(worker, address) {
  const socket = await pgIdle(worker.ports.postgresWire, address);
  const first = told(socket, (bytes) => bytes.length > 0);
  socket.write(pgMessage("Q", `${unread}\0`));
  await first;
  socket.pause();
  return socket;
}

/** Until every result that nobody reads waits: its engine and the worker do nothing more for it. */
async function atRest(worker) {
  const taken = () => [worker.pid, ...childrenOf(worker.pid)].map(processorSecs);
  let last = taken();
  await until(
    "what nobody reads is at rest",
    async () => {
      await Promise.all(Array.from({ length: 20 }, () => fetch(`${worker.url}/health`)));
      const now = taken();
      const work = now.slice(1).reduce((sum, secs, at) => sum + secs - (last[at + 1] ?? 0), 0);
      last = now;
      return work === 0;
    },
    60,
  );
}

/** Of questions one after the other: the median in milliseconds, and processor seconds of the worker for all of them. */
async function latency(worker, client) {
  const times = [];
  const fromSecs = processorSecs(worker.pid);
  for (let number = 0; number < questions; number += 1) {
    const fromMs = performance.now();
    same(await cellOf(client, `select ${number}`), String(number), "an answer beside slow clients");
    times.push(performance.now() - fromMs);
  }
  const secs = Number((processorSecs(worker.pid) - fromSecs).toFixed(2));
  times.sort((a, b) => a - b);
  return { median: Number(times[Math.floor(times.length / 2)].toFixed(2)), secs };
}

async function startPatient(fleet) {
  const server = createServer((socket) => socket.on("error", () => {}).resume());
  await new Promise((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  fleet.defer(() => server.close());
  return server.address().port;
}
