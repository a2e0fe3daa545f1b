/** Resident memory of the gateway while five gigabytes pass to a reader that takes 80 MB a second. */
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { pgQuery, pgStartup, readUntilReady } from "./rawPostgres.mjs";

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
