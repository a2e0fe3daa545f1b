/**
 * Clients of PostgreSQL before a PostgreSQL, and of MySQL before a MariaDB: straight, through a relay that only passes
 * bytes on, through the gateway, and through PgBouncer where it is installed. All in one run, in rounds that take
 * turns, with every program in the middle on the same core. Sources of the servers: `test/real`.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { debianPrograms, freePort, startPostgres } from "../real/postgresServer.mjs";
import { installMariadb, startMariadb } from "../real/mariadbServer.mjs";
import { median, quantile, spread } from "./figures.mjs";
import { startGateway } from "./gateway.mjs";
import { bareRelay, cpuOf, pinBeside, pinMeasured } from "./processes.mjs";
import { clients } from "./wireClients.mjs";

const host = "127.0.0.1";
const rounds = 5;
const concurrent = 8;
/** Of full rounds; a busy machine gets through a part of that. `BENCH_SHARE=0.2 npm run bench native`. */
const share = Number(process.env["BENCH_SHARE"] ?? 1);
const perRound = 8_000 * share;
const latencyPerRound = 2_000 * share;
/** Until V8 has compiled what a query runs through: it does so on the core of what is measured. */
const queriesBefore = 20_000 * share;

/** `only` chooses among the forms of a query by their names, as in `wireClients.mjs`. */
export async function nativeRows(only = () => true) {
  pinBeside();
  const forms = clients.filter(({ what }) => only(what));
  return [...(await postgresRows(forms)), ...(await mysqlRows(forms))];
}

async function postgresRows(all) {
  const forms = all.filter(({ wire }) => wire === "postgres");
  if (forms.length === 0) return [];
  const { folder, reason } = await debianPrograms();
  if (folder === undefined) return [{ what: `PostgreSQL to PostgreSQL: ${reason}` }];
  const server = await startPostgres(folder);
  try {
    for (const sql of ["CREATE ROLE bench SUPERUSER LOGIN", "CREATE DATABASE bench"])
      spawnSync(join(folder, "psql"), ["-X", "-q", server.url, "-c", sql], { stdio: "inherit" });
    const cluster = {
      engine: "postgresql",
      hosts: [`${host}:${server.port}`],
      database: "bench",
      poolSize: concurrent,
      auth: { type: "basic", username: "bench", password: "bench" },
    };
    const bouncer = await startPgbouncer(server.port);
    const ways = bouncer === undefined ? {} : { PgBouncer: bouncer };
    try {
      return await compared(forms, cluster, server.port, ways);
    } finally {
      await bouncer?.stop();
    }
  } finally {
    await server.stop();
  }
}

async function mysqlRows(all) {
  const forms = all.filter(({ wire }) => wire === "mysql");
  if (forms.length === 0) return [];
  const installed = await installMariadb();
  if (installed !== true) return [{ what: `MySQL to MySQL: ${installed}` }];
  const statements = `CREATE USER bench IDENTIFIED VIA mysql_native_password USING ''; GRANT ALL ON *.* TO bench;
    CREATE USER relay IDENTIFIED BY 'relay'; GRANT ALL ON *.* TO relay;`;
  const server = await startMariadb({ statements });
  try {
    const auth = { type: "basic", username: "relay", password: "relay" };
    const hosts = [`${host}:${server.port}`];
    const cluster = { engine: "mysql", hosts, poolSize: concurrent, auth };
    return await compared(forms, cluster, server.port, {});
  } finally {
    await server.stop();
  }
}

/** One row for each form of a query and each way to the server; `more`: ways besides those that always are. */
async function compared(forms, cluster, port, more) {
  const [{ wire }] = forms;
  const gateway = await gatewayBefore(cluster);
  // What clients keep prepared is parsed each time, unless it is asked for.
  const keeps = wire === "postgres" && forms.some(({ what }) => what.includes("prepared"));
  const keeping = keeps && (await gatewayBefore({ ...cluster, preparedStatementsMax: 100 }));
  const relay = await bareRelay("tcp", port);
  const wayOf = ({ ports, pid }) => ({ port: ports[`${wire}Wire`], pid });
  const ways = { straight: { port }, relay, ...more, gateway: wayOf(gateway) };
  if (keeping) ways["gateway that keeps prepared"] = wayOf(keeping);
  try {
    const rows = [];
    for (const client of forms) rows.push(...(await formRows(wire, client, ways)));
    return rows;
  } finally {
    relay.stop();
    await gateway.stop();
    if (keeping) await keeping.stop();
  }
}

async function gatewayBefore(cluster) {
  const config = {
    gateway: {
      frontends: Object.fromEntries(
        ["trinoHttp", "postgresWire", "mysqlWire"].map((name) => [name, { host, port: 0 }]),
      ),
      adminApi: { host, port: 0 },
      persistence: { type: "inMemory" },
    },
    clusters: { one: cluster },
    clusterGroups: { default: { members: ["one"], maxRunningQueries: concurrent } },
    routingFallback: "default",
    auth: { provider: "none" },
  };
  return await startGateway(JSON.stringify(config), { pinned: true });
}

async function formRows(wire, { what, open }, ways) {
  const form = what.split(",")[0];
  const found = [];
  for (const [name, { port, pid }] of Object.entries(ways)) {
    const connections = [];
    for (let n = 0; n < concurrent; n += 1) connections.push(await open({ [wire]: port }));
    const figures = { p50: [], p99: [], cpu: [], perSecond: [] };
    found.push({ name, pid, connections, ...figures });
    await Promise.all(connections.map((one) => asked(one, queriesBefore / concurrent)));
    await asked(connections[0], queriesBefore / 4);
  }
  const profiled = process.argv.includes("--profile") ? ways.gateway.pid : undefined;
  if (profiled !== undefined) process.kill(profiled, "SIGUSR2");
  for (let round = 0; round < rounds; round += 1) for (const way of found) await measure(way);
  if (profiled !== undefined) process.kill(profiled, "SIGUSR2");
  for (const { connections } of found) for (const one of connections) one.close();
  const relay = found.find(({ name }) => name === "relay");
  const straight = found.find(({ name }) => name === "straight");
  return found.map((way) => rowOf(form, way, relay, straight));
}

async function measure({ pid, connections, p50, p99, cpu, perSecond }) {
  const before = pid === undefined ? 0 : cpuOf(pid);
  const from = performance.now();
  await Promise.all(connections.map((one) => asked(one, perRound / concurrent)));
  perSecond.push((perRound / (performance.now() - from)) * 1_000);
  if (pid !== undefined) cpu.push(((cpuOf(pid) - before) / perRound) * 1e6);
  const times = await asked(connections[0], latencyPerRound);
  times.sort((a, b) => a - b);
  p50.push(quantile(times, 0.5));
  p99.push(quantile(times, 0.99));
}

/** `times relay` are medians of the ratios of each round to the relay's in the same round. */
function rowOf(form, { name, p50, p99, cpu, perSecond }, relay, straight) {
  const ratio = (mine, other) =>
    median(mine.map((value, round) => value / other[round])).toFixed(2);
  const added = p50.map((value, round) => value - straight.p50[round]);
  return {
    what: `${form}, ${name}`,
    "p50 ms": spread(p50, 3),
    "p50 times relay": ratio(p50, relay.p50),
    "added p50 ms": spread(added, 3),
    "p99 ms": spread(p99, 3),
    "p99 times relay": ratio(p99, relay.p99),
    "queries/s of 8": spread(perSecond, 0),
    "CPU µs/query": cpu.length === 0 ? "–" : spread(cpu, 1),
    "queries/s per core":
      cpu.length === 0
        ? "–"
        : spread(
            cpu.map((each) => 1e6 / each),
            0,
          ),
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

/** Debian's PgBouncer in transaction mode, which follows prepared statements from 1.21; undefined where it is not installed. */
async function startPgbouncer(target) {
  const path = { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin` };
  const said = spawnSync("pgbouncer", ["--version"], { env: path });
  if (said.status !== 0) return undefined;
  const [, major, minor] = /(\d+)\.(\d+)/.exec(String(said.stdout)) ?? [];
  const follows = Number(major) > 1 || Number(minor) >= 21;
  const folder = mkdtempSync(join(tmpdir(), "gateway-bench-pgbouncer-"));
  const port = await freePort();
  const file = join(folder, "pgbouncer.ini");
  const settings = [
    "[databases]",
    `bench = host=${host} port=${target} user=bench`,
    "[pgbouncer]",
    `listen_addr = ${host}`,
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    // Named statements stay on their connection before 1.21: one connection for each client, then.
    `pool_mode = ${follows ? "transaction" : "session"}`,
    ...(follows ? ["max_prepared_statements = 100"] : []),
    `default_pool_size = ${concurrent}`,
    "max_client_conn = 100",
    "ignore_startup_parameters = extra_float_digits",
  ];
  writeFileSync(file, settings.join("\n"), { mode: 0o644 });
  // It does not run as root.
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  spawnSync("chmod", ["755", folder]);
  const child = spawn("pgbouncer", [...user, file], { env: path, stdio: "ignore" });
  pinMeasured(child.pid);
  const { what } = clients.find(({ wire }) => wire === "postgres");
  const { open } = clients.find((client) => client.what === what);
  for (let tries = 0; ; tries += 1) {
    try {
      (await open({ postgres: port })).close();
      break;
    } catch (cause) {
      if (tries > 100) throw cause;
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
    }
  }
  const ended = new Promise((resolve) => {
    child.once("exit", resolve);
  });
  return {
    port,
    pid: child.pid,
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
