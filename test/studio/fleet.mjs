/** What Studio is tested against: a control plane, two workers, and clients that never stop asking. Real processes. */
import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { buildIfStale } from "../../packages/gateway/bin/build.mjs";
import { startGateway } from "./process.mjs";

const anyPort = { host: "127.0.0.1", port: 0 };
export const password = "a password for tests";

/** Texts that would run, close a tag or break a page if anything took them for markup. */
export const hostile = [
  `<script>window.attacked = 1</script>`,
  `"><img src=x onerror="window.attacked=1">`,
  `</textarea><svg onload=window.attacked=1>`,
  `javascript:window.attacked=1`,
  `{{constructor.constructor('window.attacked=1')()}}`,
];

/** Starts everything; `stop` ends it all, workers first. */
export async function startFleet() {
  await buildIfStale();
  const folder = await mkdtemp(join(tmpdir(), "gateway-studio-"));
  await mkdir(join(folder, "data"));
  const secret = randomBytes(24).toString("hex");
  const started = [];
  const begin = async (name, config) => {
    const one = await startProcess(name, join(folder, `${name}.yaml`), config);
    started.push(one);
    return one;
  };
  const control = await begin("control", controlConfig(folder, secret, 0));
  const port = control.ports.adminApi;
  const workers = [];
  for (const name of ["w1", "w2"])
    workers.push(await begin(name, workerConfig(name, port, secret)));
  const ports = workers.map((one) => one.ports.postgresWire);
  const traffic = startTraffic(ports);
  const url = `http://127.0.0.1:${port}`;
  await leaveGhost(url, secret);
  const connect = (user) => connected(ports[0], user);
  const fleet = { url, control, workers, traffic, connect };
  return {
    ...fleet,
    /** Ends the control plane and starts it on the same port. */
    restartControl: async (meanwhile) => {
      await control.end();
      await meanwhile();
      started[0] = await startProcess(
        "control",
        join(folder, "control.yaml"),
        controlConfig(folder, secret, port),
      );
    },
    stop: async () => {
      await traffic.stop();
      for (const one of started.toReversed()) await one.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function controlConfig(folder, secret, port) {
  return {
    gateway: {
      role: "controlPlane",
      frontends: {},
      adminApi: {
        host: "127.0.0.1",
        port,
        firstAdmin: { name: "admin", password },
        queryConsole: { enabled: true, writes: true },
      },
      persistence: { type: "pglite", path: join(folder, "db") },
      workerApi: { sharedSecret: secret },
    },
    clusters: {
      local: { engine: "duckDb", maxRunningQueries: 8 },
      // Nobody answers there.
      gone: { engine: "trino", endpoint: "http://127.0.0.1:9" },
    },
    clusterGroups: {
      default: { members: ["local"], maxRunningQueries: 4 },
      away: { members: ["gone"], maxRunningQueries: 1 },
      reports: {
        members: ["local"],
        maxRunningQueries: 2,
        strategy: { type: "script", script: "spread" },
      },
    },
    scripts: {
      spread: {
        use: "order",
        source:
          "function order(query, members) {\n  return members.map(({ cluster }) => cluster);\n}\n",
      },
    },
    routers: [
      { type: "queryRegex", rules: [{ regex: "report", targetGroup: "reports" }] },
      { type: "userGroup", userToGroup: { rita: "reports" } },
    ],
    routingFallback: "default",
    auth: { provider: "none" },
  };
}

function workerConfig(name, port, secret) {
  return {
    gateway: {
      role: "worker",
      workerName: name,
      workerLabels: { site: "test", note: hostile[0] },
      frontends: { postgresWire: anyPort },
      adminApi: anyPort,
      controlPlane: {
        url: `http://127.0.0.1:${port}`,
        auth: { mode: "sharedSecret", sharedSecret: secret },
        allowInsecureHttp: true,
        heartbeatIntervalSecs: 1,
      },
    },
  };
}

/**
 * A worker that registered, took a slot of an engine that nobody reaches, and was never heard of again: it goes offline,
 * and its slot stays in doubt until somebody gives it again.
 */
async function leaveGhost(url, secret) {
  const instanceId = randomBytes(12).toString("hex");
  const call = async (path, headers, body) => {
    const answer = await fetch(`${url}/worker${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
        ...headers,
      },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  const registration = {
    name: "ghost",
    instanceId,
    labels: { site: "test" },
    version: "0.0.1",
    schemaVersions: [1],
    heartbeatIntervalSecs: 1,
  };
  const { instanceToken } = await call("/register", {}, registration);
  const proof = { "gateway-instance-id": instanceId, "gateway-instance-token": instanceToken };
  const asked = { group: "away", candidates: ["gone"], count: 1, waitMs: 0 };
  const requestId = randomBytes(8).toString("hex");
  const { granted } = await call("/capacity/acquire", proof, { requestId, instanceId, ...asked });
  if (granted.length !== 1) throw new Error("the ghost got no slot");
}

/** What `look` answers as soon as it is something. Looks again and again, for as long as a case may take. */
export async function eventually(look) {
  for (let tries = 0; tries < 200; tries += 1) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error("it did not come about");
}

async function startProcess(name, file, config) {
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  const started = await startGateway(["start", "--config", file]);
  return { name, ...started };
}

/** Clients that ask again and again: what succeeds, what fails, what is hostile; and one whose query takes long. */
function startTraffic(ports) {
  const stopped = new AbortController();
  const clients = ports.map((port, at) => asking(port, at, stopped.signal));
  return {
    /** A query that runs until somebody ends it. Resolves with its error's message. */
    runLong: async () => {
      const client = await connected(ports[0], "lena");
      const text =
        "select count(*) from range(10000000000) a, range(1000) b where (a.range * b.range) % 7 = 8";
      const asked = async () => {
        try {
          await client.query(text);
          return "finished";
        } catch (error) {
          return error.message;
        } finally {
          await client.end();
        }
      };
      return { ended: asked() };
    },
    stop: async () => {
      stopped.abort();
      await Promise.all(clients);
    },
  };
}

async function connected(port, user) {
  for (let tries = 0; ; tries += 1) {
    const client = new pg.Client({ host: "127.0.0.1", port, user, database: user });
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query("select 1");
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      if (tries > 120) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

async function asking(port, at, signal) {
  const client = await connected(port, at === 0 ? "ann" : hostile[1]);
  const texts = [
    "select 42 as answer",
    "select r, r * r as square from range(50) t(r)",
    "select * from nowhere",
    ...hostile.map(
      (text) => `select '${text.replaceAll("'", "''")}' as "${text.replaceAll('"', '""')}"`,
    ),
    "select 'report' as kind",
  ];
  for (let turn = 0; !signal.aborted; turn += 1) {
    await client.query(texts[turn % texts.length]).catch(() => {});
    // A pause between two questions of a person; nothing waits for it.
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  await client.end();
}
