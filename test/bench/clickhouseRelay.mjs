/**
 * `npm run bench clickhouse`, or `node test/bench/clickhouseRelay.mjs [gigabytes]`: a large answer of a ClickHouse server to an HTTP client, direct,
 * through a bare Node relay and through the gateway, in MB/s; and resident memory while that many gigabytes (ten)
 * pass. The bytes are made once, and server and client write and read sockets without a parser of HTTP, so that neither
 * is what is measured. Rounds alternate; medians with lowest and highest.
 */
import { fork } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ratesOf } from "./bulkRates.mjs";
import { bareRelay, memoryOf, pinBeside, spawnMeasured } from "./processes.mjs";

const self = fileURLToPath(import.meta.url);
const root = fileURLToPath(new URL("../../", import.meta.url));
const roundBytes = 1e9;
const blockBytes = 1 << 20;
const lastChunk = "0\r\n\r\n";
const [role, at] = process.argv.slice(2);

if (process.argv[1] === self) {
  if (role === "server") serve(Number(at));
  else console.table(await clickhouseRows(Number(role ?? 10)));
}

/** As many bytes as the statement says, in chunks of a megabyte as a server writes them. */
function serve(port) {
  const rows = Buffer.alloc(
    blockBytes,
    "1\tCustomer#000000001\t1.37\ttrue\t2024-02-29 12:34:56.789000\n",
  );
  const size = Buffer.from(`${blockBytes.toString(16)}\r\n`);
  const chunk = Buffer.concat([size, rows, Buffer.from("\r\n")]);
  createServer({ noDelay: true }, (socket) => {
    let asked = "";
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      asked += bytes.toString("latin1");
      if (!isWhole(asked)) return;
      const wanted = Number(/bytes(?: |%20)(\d+)/.exec(asked)?.[1] ?? 0);
      asked = "";
      // A health check wants the engine's own format, and takes another one for a fault.
      if (wanted === 0) socket.write(`${headOf("Native")}Content-Length: 0\r\n\r\n`);
      else send(socket, chunk, Math.ceil(wanted / blockBytes));
    });
  }).listen(port, "127.0.0.1");
}

function isWhole(message) {
  const head = message.indexOf("\r\n\r\n");
  if (head < 0) return false;
  const length = Number(/content-length: (\d+)/i.exec(message)?.[1] ?? 0);
  return message.length >= head + 4 + length;
}

function headOf(format) {
  return `HTTP/1.1 200 OK\r\nX-ClickHouse-Format: ${format}\r\nKeep-Alive: timeout=30\r\n`;
}

function send(socket, chunk, count) {
  socket.write(`${headOf("TabSeparated")}Transfer-Encoding: chunked\r\n\r\n`);
  let left = count;
  const more = () => {
    for (; left > 0; left -= 1) {
      if (!socket.write(chunk)) {
        left -= 1;
        socket.once("drain", more);
        return;
      }
    }
    socket.write(lastChunk);
  };
  more();
}

export async function clickhouseRows(gigabytes = Number(process.env.BENCH_GIGABYTES ?? 10)) {
  pinBeside();
  const [origin, through, admin] = await Promise.all([freePort(), freePort(), freePort()]);
  const folder = await mkdtemp(join(tmpdir(), "bench-"));
  const file = join(folder, "gateway.yaml");
  const listener = (port) => ({ host: "127.0.0.1", port });
  const config = {
    gateway: {
      frontends: { clickhouseHttp: listener(through) },
      adminApi: listener(admin),
      persistence: { type: "inMemory" },
    },
    clusters: {
      ch: {
        engine: "clickHouse",
        endpoint: `http://127.0.0.1:${origin}`,
      },
    },
    clusterGroups: { default: { members: ["ch"], maxRunningQueries: 8 } },
    routingFallback: "default",
    auth: { provider: "none" },
  };
  await writeFile(file, JSON.stringify(config));
  const server = fork(self, ["server", String(origin)]);
  const program = `${root}packages/gateway/bin/gateway.mjs`;
  const gateway = spawnMeasured([program, "start", "--config", file], { stdio: "ignore" });
  const bare = await bareRelay("http", origin);
  const tcp = await bareRelay("tcp", origin);
  try {
    const ways = [
      { way: "direct", port: origin },
      { way: "bare Node relay", port: bare.port, pid: bare.pid },
      { way: "bare Node relay of TCP", port: tcp.port, pid: tcp.pid },
      { way: "gateway", port: through, pid: gateway.pid },
    ];
    for (const { port } of ways) await untilUp(port);
    const pass = () => run(through, gigabytes * 1e9);
    const passing = ways.map((way) => ({ ...way, pass: () => run(way.port, roundBytes) }));
    return [
      ...(await ratesOf("ClickHouse's answers", passing)),
      await memoryOf(`${gigabytes} GB of ClickHouse`, gateway.pid, pass),
    ];
  } finally {
    for (const relay of [bare, tcp]) relay.stop();
    for (const child of [server, gateway]) child.kill("SIGKILL");
    await rm(folder, { recursive: true });
  }
}

/** Runs a statement of so many bytes on a connection of its own; answers how many came. */
function run(port, bytes) {
  const buffer = Buffer.allocUnsafeSlow(blockBytes);
  const end = bytes === 0 ? "\r\n\r\n" : lastChunk;
  const sql = bytes === 0 ? "SELECT 1" : `SELECT 'bytes ${bytes}'`;
  return new Promise((resolve, reject) => {
    let head = "";
    let tail = "";
    let count = 0;
    const take = (length) => {
      if (head === "") head = buffer.latin1Slice(0, Math.min(length, 64));
      count += length;
      const last = buffer.latin1Slice(Math.max(0, length - end.length), length);
      tail = (tail + last).slice(-end.length);
      if (count < bytes || tail !== end) return true;
      if (head.startsWith("HTTP/1.1 200")) resolve(count);
      socket.destroy();
      return true;
    };
    const socket = connect({ host: "127.0.0.1", port, onread: { buffer, callback: take } });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`closed behind ${count} bytes: ${head}`)));
    const host = `Host: 127.0.0.1:${port}\r\nContent-Length: ${sql.length}`;
    socket.write(`POST /?user=bench HTTP/1.1\r\n${host}\r\n\r\n${sql}`);
  });
}

async function untilUp(port) {
  for (let tries = 0; tries < 600; tries += 1) {
    const up = await run(port, 0).catch(() => undefined);
    if (up !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("nothing answers");
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
