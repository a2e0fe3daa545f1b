/**
 * `node test/bench/compare.mjs OTHER_TREE [row …]`: this tree against another one, built beside it. Both gateways
 * run at once and take turns round by round, so that whatever else the machine does meets both alike. The figure is
 * the median ratio over the pairs, this : other; the same tree against itself says how much it is worth.
 */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import mysql from "mysql2/promise";
import pg from "pg";
import { median } from "./figures.mjs";
import { spawnMeasured } from "./processes.mjs";
import { pgQuery, pgStartup, readUntilReady } from "./rawPostgres.mjs";

const host = "127.0.0.1";
const here = fileURLToPath(new URL("../../", import.meta.url));
const [otherTree, ...only] = process.argv.slice(2);
if (otherTree === undefined) throw new Error("usage: compare.mjs OTHER_TREE [row …]");
const trees = { this: here, other: resolve(otherTree) };

const pairs = Number(process.env.COMPARE_PAIRS ?? 60);
const shortQueries = 100;
const warmQueries = 3_000;
const manyRows = 131_072;
const pages = 20;

const standIns = fork(fileURLToPath(new URL("enginesServer.mjs", import.meta.url)));
const ports = await new Promise((done) => standIns.once("message", done));
const trinoAt = await freePort();
const trinoServer = fork(fileURLToPath(new URL("trinoRelay.mjs", import.meta.url)), [
  "server",
  String(trinoAt),
]);

/** Of each engine, a cluster and its rows: a name, what one round does, and how often it is done first. */
const engines = [
  {
    cluster: { engine: "duckDb" },
    rows: {
      "duckDb, PostgreSQL simple": short(openPg, (client) => client.query("select 1")),
      "duckDb, PostgreSQL prepared": short(openPg, (client) =>
        client.query({ name: "one", text: "select $1::int", values: [1] }),
      ),
      "duckDb, MySQL text": short(openMysql, (client) => client.query("select 1")),
      "duckDb, MySQL prepared": short(openMysql, (client) => client.execute("select ?", [1])),
      "duckDb, Trino": short(openTrino, (client) => client.ask("select 1")),
      "duckDb, rows to PostgreSQL": long(openRawPg, (client) =>
        client.read(`select i, 'n' || i, i * 1.37 from range(${manyRows}) t(i)`),
      ),
    },
  },
  {
    cluster: { engine: "starRocks", endpoint: `mysql://${host}:${ports.starRocks}` },
    rows: {
      "MySQL to MySQL, text": short(openMysql, (client) => client.query("select 1")),
      "MySQL to MySQL, rows": long(openMysql, (client) =>
        client.query({ sql: `select rows ${manyRows}`, rowsAsArray: true }),
      ),
    },
  },
  {
    cluster: { engine: "clickHouse", endpoint: `http://${host}:${ports.clickHouse}` },
    rows: {
      "ClickHouse to PostgreSQL": short(openPg, (client) => client.query("select 1")),
      "ClickHouse to PostgreSQL, rows": long(openRawPg, (client) =>
        client.read(`select rows ${manyRows}`),
      ),
    },
  },
  {
    cluster: { engine: "trino", endpoint: `http://${host}:${trinoAt}` },
    rows: {
      "Trino to Trino": short(openTrino, (client) => client.ask("select 1")),
      "Trino to Trino, pages": long(openTrino, (client) => client.ask(`select pages ${pages}`)),
    },
  },
];

function short(open, ask) {
  return { open, ask, times: shortQueries, warm: warmQueries };
}

function long(open, ask) {
  return { open, ask, times: 1, warm: 3 };
}

const found = [];
try {
  for (const { cluster, rows } of engines) {
    const wanted = Object.entries(rows).filter(([name]) => isWanted(name));
    if (wanted.length === 0) continue;
    const gateways = {
      this: await start(trees.this, cluster),
      other: await start(trees.other, cluster),
    };
    for (const [name, row] of wanted) found.push(await compared(name, row, gateways));
    for (const gateway of Object.values(gateways)) await gateway.stop();
  }
} finally {
  standIns.kill("SIGKILL");
  trinoServer.kill("SIGKILL");
}
console.table(Object.fromEntries(found.map(({ what, ...figures }) => [what, figures])));
process.exit(0);

function isWanted(name) {
  return only.length === 0 || only.some((words) => name.startsWith(words));
}

async function compared(what, row, gateways) {
  const clients = {};
  for (const [tree, gateway] of Object.entries(gateways)) {
    clients[tree] = await row.open(gateway.ports);
    for (let n = 0; n < row.warm; n += 1) await row.ask(clients[tree]);
  }
  const ratios = [];
  const ms = { this: [], other: [] };
  for (let pair = 0; pair < pairs; pair += 1) {
    const order = pair % 2 === 0 ? ["this", "other"] : ["other", "this"];
    const took = {};
    for (const tree of order) {
      took[tree] = await medianMs(row, clients[tree]);
      ms[tree].push(took[tree]);
    }
    ratios.push(took.this / took.other);
  }
  for (const client of Object.values(clients)) await client.end();
  const figures = {
    what,
    "this : other": median(ratios).toFixed(3),
    "this ms": median(ms.this).toFixed(3),
    "other ms": median(ms.other).toFixed(3),
  };
  console.log(JSON.stringify(figures));
  return figures;
}

async function medianMs({ ask, times }, client) {
  const all = [];
  for (let n = 0; n < times; n += 1) {
    const from = performance.now();
    await ask(client);
    all.push(performance.now() - from);
  }
  return median(all);
}

// ---------------------------------------------------------------- clients

async function openPg({ postgresWire }) {
  const client = new pg.Client({ host, port: postgresWire, user: "bench" });
  await client.connect();
  return client;
}

function openMysql({ mysqlWire }) {
  return mysql.createConnection({ host, port: mysqlWire, user: "bench" });
}

/** Takes rows as bytes. */
async function openRawPg({ postgresWire }) {
  const socket = connect(postgresWire, host);
  socket.write(pgStartup("bench"));
  await readUntilReady(socket);
  return {
    read: (sql) => {
      socket.write(pgQuery(sql));
      return readUntilReady(socket);
    },
    end: async () => void socket.destroy(),
  };
}

/** Follows the links of a statement to its end, over one connection. */
async function openTrino({ trinoHttp }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { "x-trino-user": "bench", "user-agent": "trino-cli/476" };
  const answered = (method, path, sql) =>
    new Promise((done, fail) => {
      const asked = request({ host, port: trinoHttp, method, path, headers, agent }, (answer) => {
        const chunks = [];
        answer.on("data", (chunk) => chunks.push(chunk));
        answer.on("end", () => done(Buffer.concat(chunks).toString("latin1")));
      });
      asked.on("error", fail);
      asked.end(sql);
    });
  return {
    ask: async (sql) => {
      let page = await answered("POST", "/v1/statement", sql);
      for (;;) {
        const [, link] = /"nextUri":"([^"]+)"/.exec(page) ?? [];
        if (link === undefined) return;
        page = await answered("GET", new URL(link).pathname);
      }
    },
    end: async () => agent.destroy(),
  };
}

// ---------------------------------------------------------------- gateways

async function start(tree, cluster) {
  const folder = mkdtempSync(join(tmpdir(), "gateway-compare-"));
  const file = join(folder, "gateway.yaml");
  const listener = { host, port: 0 };
  const config = {
    gateway: {
      frontends: { postgresWire: listener, mysqlWire: listener, trinoHttp: listener },
      adminApi: listener,
      persistence: { type: "inMemory" },
    },
    clusters: { one: cluster },
    clusterGroups: { default: { members: ["one"], maxRunningQueries: 4 } },
    routingFallback: "default",
    auth: { provider: "none" },
  };
  writeFileSync(file, JSON.stringify(config));
  const program = join(tree, "packages/gateway/bin/gateway.mjs");
  const child = spawnMeasured([program, "start", "--config", file], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const opened = await listenersOf(child);
  return {
    ports: opened,
    stop: async () => {
      const closed = new Promise((done) => child.once("close", done));
      child.kill("SIGKILL");
      await closed;
      rmSync(folder, { recursive: true });
    },
  };
}

function listenersOf(child) {
  const open = {};
  return new Promise((done, fail) => {
    child.once("close", (code) => fail(new Error(`a gateway ended with ${code}`)));
    let rest = "";
    child.stderr.on("data", (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop();
      for (const line of lines.filter((one) => one.startsWith("{"))) {
        const entry = JSON.parse(line);
        if (entry.event === "listener.open") open[entry.kind] = entry.port;
      }
      if (Object.keys(open).length === 4) done(open);
    });
  });
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, host, () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}
