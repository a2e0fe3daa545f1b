/**
 * `node test/bench/severalProcesses.mjs [trino|mysql|postgres …]`: how a worker grows with its processes. Each process
 * may take the same small share of a core (a control group of Linux, so it needs root), so that two of them have twice
 * the processor although the machine is small; clients, engine and control plane have the rest. Workers of one and of
 * two processes take turns, and the queries a second that each answers are compared round by round.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { freePort, openFleet } from "../fleet/fleet.mjs";
import { ready } from "../fleet/ops.mjs";
import { childrenOf } from "../fleet/processOf.mjs";
import { median, spread } from "./figures.mjs";
import { oneCoreClients } from "./oneCoreClients.mjs";
import { processorMs } from "./processor.mjs";

const host = "127.0.0.1";
const shareOfCore = 0.3;
const periodUs = 10_000;
const clients = 24;
const roundMs = 4_000;
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5);
const warmRounds = 2;

/** Of `bench`, who logs in with each request of HTTP. */
const passwordHash = "$2b$10$csd7I6LcMBJyMJL/bZebK.6uxvbCL009twgdwlwyX.DHnWH5WPXIy";

const wires = {
  trino: {
    kind: "trinoHttp",
    cluster: (port) => ({ engine: "trino", endpoint: `http://${host}:${port}` }),
  },
  mysql: { kind: "mysqlWire", cluster: (port) => ({ engine: "mysql", ...server(port) }) },
  postgres: {
    kind: "postgresWire",
    cluster: (port) => ({ engine: "postgresql", ...server(port) }),
  },
};

function server(port) {
  const auth = { type: "basic", username: "bench", password: "bench" };
  return { hosts: [`${host}:${port}`], poolSize: clients, auth };
}

const asked = process.argv.slice(2);
for (const name of asked.length === 0 ? Object.keys(wires) : asked) {
  console.table(await rowsOf(name, wires[name]));
}
process.exit(0);

async function rowsOf(name, { kind, cluster }) {
  const standIn = await standInOf(name);
  const fleet = await openFleet();
  const groups = [];
  try {
    const control = await fleet.controlPlane({
      config: {
        clusters: { one: cluster(standIn.port) },
        clusterGroups: { default: { members: ["one"], maxRunningQueries: 1_000 } },
        routingFallback: "default",
        auth: { provider: "static", staticUsers: { users: { bench: { passwordHash } } } },
        ...(kind === "trinoHttp" ? {} : { auth: { provider: "none" } }),
      },
    });
    await control.open();
    const ways = [];
    for (const processes of [1, 2]) {
      const worker = await fleet.worker(`w${processes}`, `http://${host}:${control.port}`, {
        frontends: { [kind]: { host, port: await freePort() } },
        adminApi: { host, port: await freePort() },
        coordination: { mode: "controlPlane", leaseAhead: 64 },
        ...(processes === 1 ? {} : { processes }),
      });
      await worker.open().then(ready);
      const pids = processes === 1 ? [worker.pid] : childrenOf(worker.pid).slice(0, processes);
      const connections = [];
      for (let n = 0; n < clients; n += 1) {
        connections.push(await oneCoreClients[name](worker.ports[kind]));
      }
      ways.push({ processes, worker, pids, connections, perSecond: [], cpuUs: [] });
    }
    for (let round = 0; round < warmRounds; round += 1) {
      for (const way of ways) await measure(way);
    }
    for (const { pids } of ways) for (const pid of pids) groups.push(limited(pid));
    for (const way of ways) [way.perSecond, way.cpuUs] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      for (const way of ways) await measure(way);
    }
    const [one, two] = ways;
    const ratios = two.perSecond.map((value, at) => value / one.perSecond[at]);
    return ways.map(({ processes, perSecond, cpuUs }) => ({
      wire: name,
      processes,
      "queries/s": spread(perSecond, 0),
      "processor µs a query, first process included": spread(cpuUs, 0),
      ratio:
        processes === 1
          ? ""
          : `${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(" ")})`,
    }));
  } finally {
    await fleet.end();
    standIn.stop();
    for (const end of groups) end();
  }
}

async function measure({ worker, connections, perSecond, cpuUs }) {
  const cpu = () => processorMs(worker.pid);
  const [fromMs, before] = [performance.now(), cpu()];
  let count = 0;
  await Promise.all(
    connections.map(async ({ ask }) => {
      while (performance.now() - fromMs < roundMs) {
        await ask();
        count += 1;
      }
    }),
  );
  perSecond.push((count * 1_000) / (performance.now() - fromMs));
  cpuUs.push(((cpu() - before) * 1_000) / count);
}

/** Its share from now on; what it answers takes the limit away again, when the process has ended. */
function limited(pid) {
  const group = `/sys/fs/cgroup/cpu/bench-${pid}`;
  mkdirSync(group);
  writeFileSync(`${group}/cpu.cfs_period_us`, String(periodUs));
  writeFileSync(`${group}/cpu.cfs_quota_us`, String(periodUs * shareOfCore));
  writeFileSync(`${group}/cgroup.procs`, String(pid));
  return () => rmdirSync(group);
}

async function standInOf(name) {
  const file = name === "trino" ? "trinoStandIn.mjs" : "enginesServer.mjs";
  const child = fork(fileURLToPath(new URL(file, import.meta.url)));
  const [told] = await once(child, "message");
  const port = { trino: told, mysql: told.starRocks, postgres: told.postgres }[name];
  return { port, stop: () => child.kill("SIGKILL") };
}
