/**
 * What each client protocol costs by itself: queries to an engine that costs nothing, and connections
 * at rest. The listeners are a process of their own, bundled as the gateway is.
 */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { bundled } from "./bundled.mjs";
import { quantile, spread } from "./figures.mjs";
import { clients } from "./wireClients.mjs";

const source = fileURLToPath(new URL("wireServer.mjs", import.meta.url));
const rounds = 5;
const concurrent = 8;
const perRound = 12_000;
const latencyPerRound = 3_000;
/** More of them in each round, as a heap grows in steps; both sides need as many open files. */
const resting = 1_560;
const restingFirst = 200;

const restingKinds = ["postgres", "mysql", "trino"].flatMap((wire) =>
  ["plain", "tls"].map((security) => ({
    what: `${wire} connection at rest, ${security}`,
    wire,
    security,
  })),
);

/** One row for each form of a query and for each kind of connection at rest; `only` chooses among them by their names. */
export async function wireRows(only = () => true) {
  const folder = mkdtempSync(join(tmpdir(), "gateway-bench-wires-"));
  try {
    const program = await bundled(source, folder);
    const rows = [];
    for (const client of clients.filter(({ what }) => only(what))) {
      rows.push(await within(program, [folder, "plain"], (server) => speedRow(client, server)));
    }
    for (const { what, wire, security } of restingKinds.filter((kind) => only(kind.what))) {
      const found = await within(program, [folder, security], (one) => restingKb(wire, one));
      // The average says what 8,000 take; what the last ones take is less, because a heap is grown ahead.
      const average = found.reduce((sum, kb) => sum + kb, 0) / found.length;
      rows.push({ what, "KB each": average.toFixed(1), "KB each by round": spread(found, 1) });
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function speedRow({ what, open }, server) {
  const connections = [];
  for (let n = 0; n < concurrent; n += 1) connections.push(await open(server.ports));
  const found = { cpu: [], perCore: [], p50: [], p99: [] };
  for (let round = 0; round <= rounds; round += 1) {
    const before = await server.ask("cpu");
    await Promise.all(connections.map((one) => asked(one, perRound / concurrent)));
    const after = await server.ask("cpu");
    const times = await asked(connections[0], latencyPerRound);
    // The first round warms up both sides.
    if (round === 0) continue;
    const cpu = (after.cpu - before.cpu) / perRound;
    times.sort((a, b) => a - b);
    found.cpu.push(cpu);
    found.perCore.push(1e6 / cpu);
    found.p50.push(quantile(times, 0.5));
    found.p99.push(quantile(times, 0.99));
  }
  for (const one of connections) one.close();
  return {
    what,
    "p50 ms": spread(found.p50, 3),
    "p99 ms": spread(found.p99, 3),
    "gateway CPU µs/query": spread(found.cpu, 1),
    "queries/s per core": spread(found.perCore, 0),
  };
}

async function asked({ ask }, count) {
  const times = [];
  for (let n = 0; n < count; n += 1) {
    const from = performance.now();
    await ask();
    times.push(performance.now() - from);
  }
  return times;
}

/** Kilobytes of resident memory that one more connection takes, in each round. */
async function restingKb(wire, { ports, security, ask }) {
  const { rest } = clients.find((client) => client.wire === wire);
  const open = [];
  const memoryWith = async (count) => {
    while (open.length < count) {
      const more = Array.from({ length: 50 }, () => rest(ports, security));
      open.push(...(await Promise.all(more)));
    }
    await wait(500);
    return (await ask("memory")).rss;
  };
  const found = [];
  let before = await memoryWith(restingFirst);
  for (let round = 1; round <= rounds; round += 1) {
    const after = await memoryWith(restingFirst + round * resting);
    found.push((after - before) / resting / 1024);
    before = after;
  }
  for (const socket of open) socket.destroy();
  return found;
}

async function within(program, args, measure) {
  const profile = process.argv.includes("--profile") ? ["--cpu-prof", "--cpu-prof-dir=bench"] : [];
  const child = fork(program, args, { execArgv: ["--expose-gc", ...profile] });
  const next = () =>
    new Promise((resolve, reject) => {
      const onExit = (code) => reject(new Error(`the listeners ended with ${code}`));
      child.once("exit", onExit);
      child.once("message", (message) => {
        child.off("exit", onExit);
        resolve(message);
      });
    });
  const ask = (what) => {
    const answer = next();
    child.send(what);
    return answer;
  };
  const ports = await next();
  const ended = new Promise((resolve) => {
    child.once("exit", resolve);
  });
  try {
    return await measure({ ports, ask, security: args[1] });
  } finally {
    child.send("end");
    await ended;
  }
}
