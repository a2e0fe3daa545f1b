/**
 * A control plane as a process of its own, for the bench: configuration and worker API over a store,
 * behind the same HTTP server as the gateway's. It obeys messages of its parent.
 *
 * It is not the gateway: no frontend, no admin API, no TLS.
 */
import { randomBytes } from "node:crypto";
import { openConfiguration } from "@gateway/control/config/open.ts";
import { keyRing } from "@gateway/control/config/secret/keyRing.ts";
import { memoryStore } from "@gateway/control/store/memory.ts";
import { workerApi } from "@gateway/control/worker/app.ts";
import { Secret } from "@gateway/core/secret.ts";
import { incomingRecord } from "@gateway/control/store/written.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { monotonicMs } from "./controlClient.mjs";

const { secret, clusters, database, seed } = JSON.parse(process.argv[2]);
const host = nodeHost(new URL(".", import.meta.url), "error");
const author = { by: "bench", address: undefined };
const store = database === undefined ? memoryStore(host.clock) : await databaseStore(database);
const keys = keyRing([new Secret(secret)], (length) => host.randomBytes(length));
const { clock, log, metrics } = host;
const config = valueOf(await openConfiguration({ store, keys, clock, log, metrics }));
const seeded = { ...seed, clusters: { ...clustersOf(clusters ?? 0), ...seed?.clusters } };
valueOf(await config.seed(seeded, author));
const stopping = new AbortController();

const deps = {
  store,
  config,
  clock,
  log,
  metrics,
  randomBytes: (length) => new Uint8Array(randomBytes(length)),
  passwords: undefined,
  caller: () => ({ address: "127.0.0.1", secure: false }),
  queries: undefined,
  explainRoute: undefined,
  testCluster: undefined,
  workerApi: { secrets: [new Secret(secret)] },
  host: "container",
  stopping: stopping.signal,
};
const app = new Hono().route("/worker", workerApi(deps));
const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => {
  process.send({ port, bytes: config.current().bytes.length });
});

let poolSize = 16;

process.on("message", (message) => {
  void obey(message);
});
// Nobody would end it when its parent is gone.
process.on("disconnect", () => process.exit());

async function obey(message) {
  if (message.do === "push") process.send({ pushed: await push(message.count) });
  if (message.do === "ingest") process.send({ ingested: await ingest(message.batches) });
  if (message.do === "stop") await stop();
}

/** Changes one cluster `count` times; answers when the first began and the last ended, on the machine's monotonic clock. */
async function push(count) {
  const fromMs = monotonicMs();
  for (let index = 0; index < count; index += 1) {
    const object = { kind: "cluster", name: "cluster0" };
    const { version } = config.get(object);
    poolSize = (poolSize % 256) + 1;
    valueOf(await config.put(object, { engine: "duckDb", poolSize }, { version }, author));
  }
  return { fromMs, toMs: monotonicMs() };
}

/** Batches of one size into the store itself, four at a time; answers how long all of them took. */
async function ingest(batches) {
  const waiting = batches.map((records) => records.map((record) => incomingRecord(record)));
  const fromMs = monotonicMs();
  const lane = async () => {
    for (let batch = waiting.pop(); batch !== undefined; batch = waiting.pop()) {
      valueOf(await store.records.ingest(batch, host.clock.unixMs()));
    }
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  return { fromMs, toMs: monotonicMs() };
}

async function stop() {
  stopping.abort();
  server.close();
  server.closeAllConnections();
  await config[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  process.disconnect();
}

async function databaseStore(url) {
  const { openPostgres } = await import("@gateway/control/store/driver/postgres.ts");
  const { drizzleStore } = await import("@gateway/control/store/drizzle.ts");
  const { migrate } = await import("@gateway/control/store/migrate/migrate.ts");
  const { readMigrations } = await import("@gateway/control/store/migrate/migration.ts");
  const opened = openPostgres({ url: new Secret(url), connectionsMax: 10, host });
  const files = await readMigrations(new URL("../../migrations/", import.meta.url));
  valueOf(await migrate(opened, valueOf(files)));
  return drizzleStore(opened, { clock: host.clock });
}

function clustersOf(count) {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `cluster${index}`,
      { engine: "duckDb", databasePath: `/var/lib/${randomBytes(12).toString("hex")}.duckdb` },
    ]),
  );
}

function valueOf(result) {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}
