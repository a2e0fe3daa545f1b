/** 5,000 connections that say nothing: the processor time of their gateway, and memory for each. */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { configOf, startGateway } from "./gateway.mjs";
import { pgStartup, readUntilReady } from "./rawPostgres.mjs";

const connections = 5_000;
const atOnce = 100;
/** A gateway takes 2,000 from one address. */
const addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];
/** V8 and the gateway give back what a start and the logins left within the first minute. */
const quietMs = 60_000;
const watchedMs = 30_000;

export async function idleRows() {
  const gateway = await startGateway(configOf(), { logged: true });
  try {
    await wait(quietMs);
    const alone = gateway.rssBytes();
    const rows = [await watched("idle, without connections", gateway, alone, 0)];
    const sockets = [];
    while (sockets.length < connections) {
      const next = Array.from({ length: atOnce }, (_, index) => opened(gateway, index));
      sockets.push(...(await Promise.all(next)));
    }
    await wait(quietMs);
    rows.push(
      await watched(`idle, ${connections} sessions of PostgreSQL`, gateway, alone, connections),
    );
    for (const socket of sockets) socket.destroy();
    return rows;
  } finally {
    await gateway.stop();
  }
}

async function opened(gateway, index) {
  const localAddress = addresses[index % addresses.length];
  const socket = connect({ port: gateway.ports.postgresWire, host: "127.0.0.1", localAddress });
  socket.write(pgStartup("bench"));
  await readUntilReady(socket);
  return socket;
}

async function watched(what, gateway, aloneBytes, count) {
  const before = processorMs(gateway.pid);
  await wait(watchedMs);
  const used = processorMs(gateway.pid) - before;
  const bytes = gateway.rssBytes();
  return {
    what,
    "% of a core": ((100 * used) / watchedMs).toFixed(2),
    "RSS MB": Math.round(bytes / 1e6),
    "KB each": count === 0 ? "" : ((bytes - aloneBytes) / count / 1e3).toFixed(1),
  };
}

/** All threads, in steps of 10 ms. */
function processorMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
