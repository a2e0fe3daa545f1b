/**
 * `npm run bench bulk`, or `node test/bench/bulkRelay.mjs [postgres|mysql …]`: large results of PostgreSQL and MySQL to
 * clients of theirs, direct, through a bare Node relay of TCP and through the gateway, in MB/s: rows of 8 KB and of a
 * hundred bytes; and resident memory while ten gigabytes pass. Rows are made once, and the client reads its socket
 * into the same memory again and looks for the end alone, so that neither is what is measured. What is measured has a
 * core of its own. Rounds alternate; medians with lowest and highest.
 */
import { fork } from "node:child_process";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { ratesOf } from "./bulkRates.mjs";
import { startGateway } from "./gateway.mjs";
import { bareRelay, memoryOf, pinBeside } from "./processes.mjs";
import { pgQuery, pgStartup } from "./rawPostgres.mjs";

const self = fileURLToPath(import.meta.url);
const host = "127.0.0.1";
const share = Number(process.env["BENCH_SHARE"] ?? 1);
const roundBytes = 1e9 * share;
const memoryBytes = 10e9 * share;
const bufferBytes = 1 << 20;
/** Bytes of a row, about. */
const rowBytes = { wide: 8_100, plain: 110 };
/** Bytes of the end of a result. */
const tailBytes = 9;

const wires = {
  postgres: {
    name: "PostgreSQL",
    engine: "postgresql",
    login: (socket) => exchange(socket, pgStartup("bench"), isReady),
    query: pgQuery,
    isEnd: isReady,
    isError: (bytes) => bytes[0] === 0x45,
  },
  mysql: {
    name: "MySQL",
    engine: "mysql",
    login: async (socket) => {
      await exchange(socket, undefined, () => true);
      await exchange(socket, mysqlLogin(), () => true);
    },
    query: (sql) => mysqlPacket(Buffer.from(`\x03${sql}`), 0),
    isEnd: (tail) => tail.startsWith("\x05\0\0") && tail.endsWith("\xfe\0\0\x02\0"),
    isError: (bytes) => bytes[4] === 0xff,
  },
};

if (process.argv[1] === self) {
  const asked = process.argv.slice(2).filter((word) => !word.startsWith("-"));
  const rows = await bulkRows(asked.length === 0 ? undefined : asked);
  console.table(Object.fromEntries(rows.map(({ what, ...figures }) => [what, figures])));
}

export async function bulkRows(names = Object.keys(wires)) {
  pinBeside();
  const child = fork(fileURLToPath(new URL("enginesServer.mjs", import.meta.url)));
  try {
    const ports = await new Promise((resolve, reject) => {
      child.once("message", resolve);
      child.once("exit", () => reject(new Error("the stand-in ended")));
    });
    const found = [];
    for (const name of names) {
      const port = name === "mysql" ? ports.starRocks : ports.postgres;
      found.push(...(await wireRows(name, port)));
    }
    return found;
  } finally {
    child.kill("SIGKILL");
  }
}

async function wireRows(name, port) {
  const wire = wires[name];
  const gateway = await startGateway(JSON.stringify(configOf(wire, port)), {
    pinned: true,
    bundle: process.env["BENCH_BUNDLE"],
    logged: true,
  });
  const relay = await bareRelay("tcp", port);
  try {
    const through = gateway.ports[`${name}Wire`];
    const ways = [
      { way: "direct", port },
      { way: "bare Node relay of TCP", port: relay.port, pid: relay.pid },
      { way: "gateway", port: through, pid: gateway.pid },
    ];
    const found = [];
    for (const kind of ["wide", "plain"]) found.push(...(await measured(wire, kind, ways)));
    const client = await opened(wire, through);
    const pass = () => client.pass("wide", memoryBytes);
    found.push(await memoryOf(`${wire.name}, ${memoryBytes / 1e9} GB`, gateway.pid, pass));
    client.close();
    return found;
  } finally {
    relay.stop();
    await gateway.stop();
  }
}

async function measured(wire, kind, ways) {
  const open = [];
  for (const way of ways) {
    const client = await opened(wire, way.port);
    open.push({ ...way, client, pass: () => client.pass(kind, roundBytes) });
  }
  const rows = await ratesOf(`${wire.name}, rows of ${rowBytes[kind]} bytes`, open);
  for (const { client } of open) client.close();
  return rows;
}

/** A connection that asks for at least so many bytes, and answers how many came. */
async function opened(wire, port) {
  const buffer = Buffer.allocUnsafeSlow(bufferBytes);
  const reading = { take: () => undefined };
  const onread = {
    buffer,
    callback: (length) => {
      reading.take(length, buffer);
      return true;
    },
  };
  const socket = connect({ host, port, noDelay: true, onread });
  socket.reading = reading;
  await wire.login(socket);
  const pass = (kind, bytes) =>
    new Promise((resolve, reject) => {
      const count = Math.ceil(bytes / rowBytes[kind]);
      let came = 0;
      let tail = "";
      socket.once("close", () => reject(new Error(`closed behind ${came} bytes`)));
      reading.take = (length) => {
        came += length;
        const last = buffer.latin1Slice(Math.max(0, length - tailBytes), length);
        tail = (tail + last).slice(-tailBytes);
        // An error is all of an answer, and columns end as rows do.
        if (came === length && wire.isError(buffer)) reject(new Error(tail));
        if (came < bytes * 0.9 || !wire.isEnd(tail)) return;
        socket.removeAllListeners("close");
        resolve(came);
      };
      const rows = kind === "wide" ? "wide rows" : "rows";
      socket.write(wire.query(`select ${rows} ${count}`));
    });
  return { pass, close: () => socket.destroy() };
}

function exchange(socket, bytes, isWhole) {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    let seen = "";
    socket.reading.take = (length, buffer) => {
      seen += buffer.latin1Slice(0, length);
      if (!isWhole(seen.slice(-tailBytes))) return;
      socket.off("error", reject);
      resolve();
    };
    if (bytes !== undefined) socket.write(bytes);
  });
}

function isReady(tail) {
  return tail.endsWith("Z\0\0\0\x05I");
}

function mysqlLogin() {
  const [protocol41, secureConnection, pluginAuth] = [1 << 9, 1 << 15, 1 << 19];
  const head = Buffer.alloc(32);
  head.writeUInt32LE(protocol41 | secureConnection | pluginAuth);
  head[8] = 255;
  return mysqlPacket(Buffer.concat([head, Buffer.from("bench\0\0mysql_native_password\0")]), 1);
}

function mysqlPacket(payload, sequence) {
  return Buffer.concat([Buffer.of(payload.length, payload.length >> 8, 0, sequence), payload]);
}

function configOf({ engine }, port) {
  const listener = { host, port: 0 };
  const auth = { type: "basic", username: "bench", password: "bench" };
  return {
    gateway: {
      frontends: { trinoHttp: listener, postgresWire: listener, mysqlWire: listener },
      adminApi: listener,
      persistence: { type: "inMemory" },
    },
    clusters: { one: { engine, hosts: [`${host}:${port}`], auth } },
    clusterGroups: { default: { members: ["one"], maxRunningQueries: 8 } },
    routingFallback: "default",
    auth: { provider: "none" },
  };
}
