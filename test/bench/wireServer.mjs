/**
 * The three listeners over an engine that costs nothing: every statement answers one row that is there
 * already. Tells its parent the ports, and what it used when asked.
 */
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import { PolledQueries } from "@gateway/core/run/poll/polled.ts";
import { queryIds } from "@gateway/core/run/id.ts";
import { mysqlConfig } from "@gateway/frontends/mysql/config.ts";
import { listen as listenMysql } from "@gateway/frontends/mysql/listen.ts";
import { postgresConfig } from "@gateway/frontends/postgres/config.ts";
import { listen as listenPostgres } from "@gateway/frontends/postgres/listen.ts";
import { certificateOf } from "@gateway/frontends/listener/rig/certificate.ts";
import { trinoConfig } from "@gateway/frontends/trino/config.ts";
import { listen as listenTrino } from "@gateway/frontends/trino/listen.ts";
import { nodeHost } from "@gateway/gateway/host/node.ts";

const [folder, security] = process.argv.slice(2);
const host = nodeHost(new URL("./", import.meta.url), "error");
const connections = 100_000;
const listener = {
  host: "127.0.0.1",
  port: 0,
  maxConnections: connections,
  maxConnectionsPerAddress: connections,
  ...(security === "tls" ? { tls: certificateFiles() } : {}),
};

const columns = [columnOf("n", { kind: "integer", bits: 32, signed: true })];
const batch = batchOf(columns, [[1n]]);
const stats = { queueMs: 0, executionMs: 0, rows: 1, bytes: 4 };
const polled = new PolledQueries(host);
const nextId = queryIds(host);
const door = {
  asksPassword: false,
  catalogs: () => ["memory"],
  authenticate: async ({ user }) => ({
    ok: true,
    value: {
      identity: { user, groups: [], roles: [], method: "none" },
      credential: { kind: "none" },
    },
  }),
  query: (sql, parameters, session, takes = []) => ({
    id: nextId(),
    sql,
    parameters,
    session,
    takes,
    receivedAtMs: host.clock.nowMs(),
  }),
  run,
  describe: async () => ({ ok: true, value: { parameters: [], columns } }),
  start: (query) => polled.start(query, run),
  resume: (id, owner) => polled.resume(id, owner),
};

async function* run() {
  yield { kind: "columns", columns };
  yield { kind: "batch", batch };
  yield { kind: "done", stats };
}

const opened = {
  postgres: await listenPostgres(postgresConfig.parse(listener), door, host),
  mysql: await listenMysql(mysqlConfig.parse(listener), door, host),
  trino: await listenTrino(trinoConfig.parse(listener), door, host),
};
// Nothing of ours: what two processes of Node and this machine's network take by themselves.
const answer = Buffer.alloc(64);
const answering = createServer({ noDelay: true }, (socket) => {
  socket.on("error", () => undefined);
  socket.on("data", () => socket.write(answer));
});
await new Promise((resolve) => {
  answering.listen(0, "127.0.0.1", resolve);
});
process.once("disconnect", () => process.exit(0));
process.on("message", (asked) => {
  if (asked === "memory") {
    globalThis.gc();
    globalThis.gc();
    process.send({ rss: process.memoryUsage.rss(), heap: process.memoryUsage().heapUsed });
  }
  if (asked === "cpu") {
    const { user, system } = process.cpuUsage();
    process.send({ cpu: user + system });
  }
  if (asked === "end") process.exit(0);
});
process.send({
  bare: answering.address().port,
  ...Object.fromEntries(
    Object.entries(opened).map(([wire, { ok, value, error }]) => {
      if (!ok) throw new Error(`${wire}: ${error.detail}`);
      return [wire, value.port];
    }),
  ),
});

function certificateFiles() {
  const { cert, key } = certificateOf("localhost");
  const files = { certFile: `${folder}/cert.pem`, keyFile: `${folder}/key.pem` };
  writeFileSync(files.certFile, cert);
  writeFileSync(files.keyFile, key, { mode: 0o600 });
  return files;
}
