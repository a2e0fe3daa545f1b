/** Resident memory: while five gigabytes pass to a reader that takes 80 MB a second, and of a standalone gateway. */
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { startGateway, standaloneConfig } from "./gateway.mjs";
import { pgQuery, pgStartup, readUntilReady } from "./rawPostgres.mjs";
import { residentParts } from "./resident.mjs";

const rowBytes = 1_000;
const bytesWanted = 5_000_000_000;
const bytesPerSecond = 80_000_000;

export async function memoryRow(gateway) {
  const socket = connect(gateway.ports.postgresWire, "127.0.0.1");
  socket.write(pgStartup("bench"));
  await readUntilReady(socket);
  // A small result first, so that what a first query allocates is not counted as growth.
  socket.write(pgQuery("select i, repeat('x', 1000) from range(100000) t(i)"));
  await readUntilReady(socket);

  const before = gateway.rssBytes();
  let highest = before;
  const watch = setInterval(() => {
    highest = Math.max(highest, gateway.rssBytes());
  }, 100);
  const from = performance.now();
  let read = 0;
  const sql = `select i, repeat('x', ${rowBytes}) from range(${bytesWanted / rowBytes}) t(i)`;
  socket.write(pgQuery(sql));
  const { bytes } = await readUntilReady(socket, (more) => {
    read += more;
    const ahead = read / bytesPerSecond - (performance.now() - from) / 1000;
    return ahead > 0.01 ? wait(ahead * 1000) : undefined;
  });
  clearInterval(watch);
  socket.destroy();
  const megabytes = (value) => `${(value / 1e6).toFixed(0)} MB`;
  return {
    what: "5 GB to a slow reader",
    "RSS before": megabytes(before),
    "RSS highest": megabytes(highest),
    "RSS growth": megabytes(highest - before),
    passed: megabytes(bytes),
  };
}

const standaloneClients = 16;
const loadMs = 20_000;
/** Two looks of the gateway at its own memory. */
const quietMs = 25_000;

/** A gateway with its store: quiet after its first start, under small statements, and quiet again. Each in parts. */
export async function standaloneMemoryRows() {
  const gateway = await startGateway(standaloneConfig);
  const rows = [];
  const look = (what, parts = residentParts(gateway.pid)) => {
    const resident = Object.values(parts).reduce((sum, part) => sum + part, 0);
    rows.push({ what, "RSS MB": resident, ...parts });
  };
  await wait(quietMs);
  look("standalone, quiet after its first start");
  const clients = Array.from({ length: standaloneClients }, (_, at) =>
    smallStatements(gateway.ports.postgresWire, `bench${at % 4}`),
  );
  let highest;
  let highestBytes = 0;
  const watch = setInterval(() => {
    const bytes = gateway.rssBytes();
    if (bytes <= highestBytes) return;
    highestBytes = bytes;
    highest = residentParts(gateway.pid);
  }, 250);
  await Promise.all(clients);
  clearInterval(watch);
  look("… highest under small statements", highest);
  await wait(quietMs);
  look("… quiet again");
  await gateway.stop();
  return rows;
}

async function smallStatements(port, user) {
  const socket = connect(port, "127.0.0.1");
  socket.write(pgStartup(user));
  await readUntilReady(socket);
  const until = performance.now() + loadMs;
  for (let turn = 0; performance.now() < until; turn += 1) {
    socket.write(pgQuery(`select i, i * 2 from range(${turn % 2 === 0 ? 1 : 2_000}) t(i)`));
    await readUntilReady(socket);
  }
  socket.destroy();
}
