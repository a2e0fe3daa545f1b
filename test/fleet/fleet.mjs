/** What a case is given: a folder, control planes and workers on loopback, and an end for all of them. */
import { randomBytes, randomInt } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { adminAt } from "./admin.mjs";
import { startProgram } from "./program.mjs";
import { startProxy } from "./proxy.mjs";
import { startRelay } from "./relay.mjs";
import { check } from "./wait.mjs";

const loopback = { host: "127.0.0.1", port: 0 };
const frontends = { postgresWire: loopback, mysqlWire: loopback, trinoHttp: loopback };

const portMin = 20_000;
const portMax = 32_000;

/** How a caught bug stands in a log. */
const bug = '"event":"internal.bug"';

/** Thrown by a case that can not run here. */
export class Skip extends Error {}

/** A configuration that serves: one DuckDB in memory, in each process its own. */
export const servingConfig = {
  clusters: { local: { engine: "duckDb", threads: 1 } },
  clusterGroups: { default: { members: ["local"], maxRunningQueries: 8 } },
  routingFallback: "default",
  auth: { provider: "none" },
};

export async function openFleet() {
  return new Fleet(await mkdtemp(join(tmpdir(), "gateway-fleet-")));
}

class Fleet {
  /** Of this fleet alone; the texts of all its processes are searched for them. */
  secret = `fleet-${randomBytes(24).toString("hex")}`;
  password = `admin-${randomBytes(12).toString("hex")}`;
  /** Figures that the case wants to be seen. */
  figures = [];
  #folder;
  #programs = [];
  #ends = [];

  constructor(folder) {
    this.#folder = folder;
  }

  figure(text) {
    this.figures.push(text);
  }

  /** Ends with the fleet, last first. */
  defer(end) {
    this.#ends.push(end);
  }

  async folder(name) {
    const path = join(this.#folder, name);
    await mkdir(path, { recursive: true });
    return path;
  }

  /** A control plane on `port`, or on a free one, of another version's `program`; `more` is put over its `gateway`. */
  async controlPlane({
    name = "control",
    port,
    config = servingConfig,
    history,
    capacity,
    program,
    ...more
  } = {}) {
    const gateway = {
      role: "controlPlane",
      frontends: { postgresWire: loopback },
      adminApi: {
        host: "127.0.0.1",
        port: port ?? (await freePort()),
        firstAdmin: { name: "root", password: this.password },
      },
      persistence: { type: "pglite", path: join(this.#folder, name) },
      workerApi: {
        sharedSecret: this.secret,
        ...(history === undefined ? {} : { history }),
        ...(capacity === undefined ? {} : { capacity }),
      },
      shutdownDrainTimeoutSecs: 5,
      ...more,
    };
    const started = await this.#start(name, { gateway, ...config }, { program });
    started.port = gateway.adminApi.port;
    started.admin = adminAt(`http://127.0.0.1:${started.port}`, this.password);
    return started;
  }

  /** A worker of the control plane at `url`; `link` is put over `controlPlane`, `clockSecs`, `collects`, `ages` and `program` are for its process, the rest is put over `gateway`. It runs in the folder `cwd`. */
  async worker(name, url, { link = {}, clockSecs, collects, ages, cwd, program, ...more } = {}) {
    const gateway = {
      role: "worker",
      workerName: name,
      workerLabels: { site: "test" },
      frontends,
      adminApi: loopback,
      controlPlane: {
        url,
        auth: { mode: "sharedSecret", sharedSecret: this.secret },
        allowInsecureHttp: true,
        pollTimeoutSecs: 30,
        heartbeatIntervalSecs: 1,
        ...link,
      },
      coordination: { mode: "local" },
      shutdownDrainTimeoutSecs: 5,
      ...more,
    };
    return this.#start(name, { gateway }, { clockSecs, collects, ages, cwd, program });
  }

  async proxy(...targets) {
    const proxy = await startProxy(...targets);
    this.defer(() => proxy.cut());
    return proxy;
  }

  async relay(port, rules) {
    const relay = await startRelay(port, rules);
    this.defer(() => relay.close());
    return relay;
  }

  async #start(name, config, options) {
    const program = await startProgram(name, this.#folder, { config, ...options });
    this.#programs.push(program);
    this.defer(() => program.kill());
    return program;
  }

  /** What every case ends with: no process said a secret, and none reported a bug. */
  judgeLogs() {
    for (const { name, text } of this.#programs) {
      check(!text.includes(this.secret), `the log of ${name} holds the fleet secret`);
      check(!text.includes(this.password), `the log of ${name} holds the password`);
      check(!text.includes(bug), `${name} reports a bug:\n${bugOf(text)}`);
    }
  }

  /** The newest lines of every process, for a case that failed. */
  tails() {
    return this.#programs.map(({ name, text }) => `--- ${name}\n${text.slice(-3_000)}`).join("\n");
  }

  async end() {
    const failures = [];
    for (const end of this.#ends.toReversed()) {
      await Promise.resolve()
        .then(end)
        .catch((error) => failures.push(error));
    }
    await rm(this.#folder, { recursive: true, force: true });
    if (failures.length > 0) throw failures[0];
  }
}

function bugOf(text) {
  return text.split("\n").find((line) => line.includes(bug));
}

/**
 * A port for a process that will be gone for a while. Not one of those that the system gives to
 * outgoing connections, of which the test has many: it could be taken when the process comes back.
 */
export async function freePort() {
  for (;;) {
    const port = randomInt(portMin, portMax);
    // Of those given out, some are not listened to yet.
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

const given = new Set();

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => {
      server.close(() => resolve(true));
    });
  });
}
