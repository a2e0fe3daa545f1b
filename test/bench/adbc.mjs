/**
 * A million rows of six columns from a PostgreSQL server to a reader that only takes bytes: straight, and
 * through the gateway with the ADBC driver in a process of its own; and the batches alone, which no
 * protocol was made of. Run directly; needs the driver's
 * library and Debian's PostgreSQL, as `npm run test:real` brings them.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { driverFolder, installDrivers } from "../real/adbcDrivers.mjs";
import { debianPrograms, startPostgres } from "../real/postgresServer.mjs";
import { bundled } from "./bundled.mjs";
import { spread } from "./figures.mjs";
import { pgQuery, readUntilReady } from "./rawPostgres.mjs";

const program = fileURLToPath(new URL("../../packages/gateway/bin/gateway.mjs", import.meta.url));
const count = 1_000_000;
const rounds = 3;
const table = `create table bench_rows as select i as id, 'customer ' || (i % 1000) as name,
  i * 1.5::float8 as amount, (i % 100000)::numeric(12,2) as price, date '2020-01-01' + i % 1000 as day,
  timestamp '2020-01-01 00:00:00' + i * interval '1 second' as at from generate_series(1, ${count}) i`;
const rows = "select * from bench_rows";

const installed = await installDrivers();
const { folder, reason } = await debianPrograms();
if (installed !== true || reason !== undefined) {
  console.log(`skipped: ${installed === true ? reason : installed}`);
  process.exit(0);
}
const server = await startPostgres(folder);
const gateway = await startGateway(server.port);
try {
  await asked(server.port, "gateway", table);
  console.table([
    await measured("PostgreSQL, straight", server.port, rows, count),
    await measured("PostgreSQL through its ADBC driver", gateway.port, rows, count),
    await batches(server.port),
  ]);
  console.table([
    await latency("SELECT 1, straight", server.port),
    await latency("SELECT 1 through the ADBC driver", gateway.port),
  ]);
} finally {
  await gateway.stop();
  await server.stop();
}

async function measured(what, port, sql, wanted) {
  const perSecond = [];
  for (let round = 0; round <= rounds; round += 1) {
    const from = performance.now();
    const found = await asked(port, "gateway", sql);
    if (found !== wanted) throw new Error(`${what}: ${found} rows`);
    // The first round warms up both sides.
    if (round > 0) perSecond.push(wanted / ((performance.now() - from) / 1000));
  }
  return { what, "rows/s": spread(perSecond, 0) };
}

async function batches(port) {
  const home = fileURLToPath(new URL("../../bench", import.meta.url));
  mkdirSync(home, { recursive: true });
  const reader = await bundled(fileURLToPath(new URL("adbcReader.mjs", import.meta.url)), home);
  const dist = fileURLToPath(new URL("../../packages/gateway/dist", import.meta.url));
  const uri = `postgresql://127.0.0.1:${port}/postgres`;
  const args = [reader, dist, driverFolder, uri, rows, String(rounds)];
  const perSecond = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
  rmSync(reader);
  return { what: "the driver's batches, in the process", "rows/s": spread(perSecond, 0) };
}

async function latency(what, port) {
  const socket = await opened(port, "gateway");
  const took = [];
  for (let round = 0; round < 300; round += 1) {
    const from = performance.now();
    socket.write(pgQuery("select 1"));
    await readUntilReady(socket);
    if (round >= 50) took.push(performance.now() - from);
  }
  socket.destroy();
  took.sort((left, right) => left - right);
  return { what, "median ms": took[took.length >> 1].toFixed(2) };
}

async function asked(port, user, sql) {
  const socket = await opened(port, user);
  socket.write(pgQuery(sql));
  const { rows: found } = await readUntilReady(socket);
  socket.destroy();
  return found;
}

async function opened(port, user) {
  const socket = connect(port, "127.0.0.1");
  const database = Buffer.from(`\0\x03\0\0user\0${user}\0database\0postgres\0\0`, "latin1");
  const length = Buffer.alloc(4);
  length.writeInt32BE(database.length + 4);
  socket.write(Buffer.concat([length, database]));
  await readUntilReady(socket);
  return socket;
}

function startGateway(postgresPort) {
  const home = mkdtempSync(join(tmpdir(), "gateway-bench-"));
  const file = join(home, "gateway.yaml");
  writeFileSync(
    file,
    `
gateway:
  frontends: { postgresWire: { host: 127.0.0.1, port: 0, catalog: "off" } }
  adminApi: { host: 127.0.0.1, port: 0 }
  persistence: { type: inMemory }
clusters:
  pg:
    engine: adbc
    driver: postgresql
    uri: postgresql://127.0.0.1:${postgresPort}/postgres
    auth: { type: basic, username: gateway, password: trusted }
clusterGroups: { default: { members: [pg], maxRunningQueries: 4 } }
routingFallback: default
auth: { provider: none }
`,
  );
  const child = spawn(process.execPath, [program, "start", "--config", file], {
    env: { ...process.env, ADBC_DRIVER_PATH: driverFolder },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const stop = async () => {
    const gone = new Promise((resolve) => {
      child.once("close", resolve);
    });
    child.kill("SIGTERM");
    await gone;
    rmSync(home, { recursive: true, force: true });
  };
  return new Promise((resolve, reject) => {
    let rest = "";
    let said = "";
    child.once("close", (code) => reject(new Error(`the gateway ended with ${code}\n${said}`)));
    child.stderr.on("data", (chunk) => {
      said = `${said}${chunk}`.slice(-4000);
      const lines = (rest + chunk).split("\n");
      rest = lines.pop();
      for (const line of lines.filter((one) => one.startsWith("{"))) {
        const entry = JSON.parse(line);
        if (entry.event === "listener.open" && entry.kind === "postgresWire") {
          resolve({ port: entry.port, stop });
        }
      }
    });
  });
}
