/**
 * `npm run bench flight`: results of an embedded DuckDB over Flight SQL, as bytes to a reader that decodes nothing, beside
 * servers of grpc-js, of node:http2 and of bare sockets that send one ready megabyte again and again: what each layer
 * leaves. Processor time per gigabyte holds on a busy machine, where MB/s are its neighbours' as much as ours. Resident
 * memory while ten gigabytes pass (`BENCH_GIGABYTES`), rows/s to pyarrow where the Python of `npm run test:real` is there,
 * and chunks of Arrow as Snowflake's drivers download them.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { create, toBinary } from "@bufbuild/protobuf";
import * as flight from "../../packages/frontends/src/flightSql/proto/Flight_pb.js";
import { median, spread } from "./figures.mjs";
import { flightReader } from "./flightReader.mjs";
import { configOf, startGateway } from "./gateway.mjs";
import { cpuOf, memoryOf, pinBeside, pinMeasured, spawnMeasured, unpin } from "./processes.mjs";
import { rawHttp2 } from "./rawHttp2.mjs";
import { snowflakeChunks } from "./snowflakeChunks.mjs";

const server = fileURLToPath(new URL("flightServer.mjs", import.meta.url));
const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
/** Before the first: V8 optimizes what runs here, on the core of what is measured, until some gigabytes have passed. */
const warmRounds = Number(process.env.BENCH_WARM_ROUNDS ?? 5);
/** Of a round, in bytes. */
const roundBytes = Number(process.env.BENCH_ROUND_BYTES ?? 1e9);
const columns = 8;
const gigabytes = Number(process.env.BENCH_GIGABYTES ?? 10);

/** Eight columns of eight bytes. `computed`: DuckDB adds each with a look for an overflow, which takes it a second for a gigabyte. */
const wide = (bytes, computed = false) => {
  const names = Array.from(
    { length: columns },
    (_, at) => `i${computed ? ` + ${at}` : ""} as c${at}`,
  );
  return `select ${names.join(", ")} from range(${Math.ceil(bytes / (columns * 8))}) t(i)`;
};
/** What the other benches of rows read. */
const mixed = (rows) => `select i as id, 'customer ' || (i % 1000) as name, i * 1.5 as amount,
  cast(i % 100000 as decimal(12,2)) as price, date '2020-01-01' + cast(i % 1000 as int) as day,
  timestamp '2020-01-01 00:00:00' + to_seconds(i) as at from range(${rows}) t(i)`;

export async function flightRows() {
  pinBeside();
  // The measured have one core, and a second thread of DuckDB would spin on it where it waits for the first.
  const config = configOf({ threads: 1 })
    .replace(
      "    mysqlWire: {host: 127.0.0.1, port: 0}\n",
      "    flightSql: {host: 127.0.0.1, port: 0}\n",
    )
    .replace(
      "    postgresWire: {host: 127.0.0.1, port: 0}\n",
      "    snowflakeHttp: {host: 127.0.0.1, port: 0}\n",
    );
  const gateway = await startGateway(config, { pinned: true });
  const bare = await bareServer();
  try {
    const through = await readerOf(gateway.ports.flightSql);
    return [
      ...(await rates(bare, gateway, through)),
      await memoryRow(gateway, through),
      ...(await pyarrowRow(gateway)),
      await snowflakeChunks(gateway.ports.snowflakeHttp, mixed, rounds),
    ];
  } finally {
    bare.stop();
    await gateway.stop();
  }
}

async function rates(bare, gateway, through) {
  const engines = childrenOf(gateway.pid);
  const cpu = () => cpuOf(gateway.pid);
  const engineCpu = () => engines.reduce((sum, pid) => sum + cpuOf(pid), 0);
  const [grpc, http2] = [await rawHttp2(bare.ports.grpc), await rawHttp2(bare.ports.http2)];
  const none = Buffer.alloc(0);
  const bareCpu = () => cpuOf(bare.pid);
  const ways = [
    {
      what: "a megabyte again and again, bare sockets",
      pass: () => socketPass(bare.ports.sockets),
      cpu: bareCpu,
    },
    { what: "… node:http2", pass: () => http2.call("DoGet", none), cpu: bareCpu },
    { what: "… grpc-js", pass: () => grpc.call("DoGet", none), cpu: bareCpu },
    {
      what: `${columns} columns of BIGINT from DuckDB, gateway`,
      pass: () => through.pass(wide(roundBytes)),
      cpu,
      engineCpu,
    },
    {
      what: "… computed by it",
      pass: () => through.pass(wide(roundBytes, true)),
      cpu,
      engineCpu,
    },
    {
      what: "… not computed, every core free to client, gateway and engine",
      pass: () => through.pass(wide(roundBytes)),
      cpu,
      engineCpu,
      isFree: true,
    },
  ].map((way) => ({ ...way, seen: [], spent: [], engine: [] }));
  const places = placesOf([gateway.pid, ...engines]);
  for (let round = 0; round < warmRounds; round += 1) await ways[3].pass();
  // The first round warms up the others.
  for (let round = 0; round <= rounds; round += 1) {
    for (const way of ways) {
      if (way.isFree) places.free();
      const [from, spent, engine] = [performance.now(), way.cpu(), way.engineCpu?.() ?? 0];
      const { bytes } = await way.pass();
      const tookMs = performance.now() - from;
      if (way.isFree) places.pin();
      if (round === 0) continue;
      way.seen.push(bytes / 1e3 / tookMs);
      way.spent.push(((way.cpu() - spent) / bytes) * 1e9);
      if (way.engineCpu !== undefined) way.engine.push(((way.engineCpu() - engine) / bytes) * 1e9);
    }
  }
  grpc.close();
  http2.close();
  const reached = median(ways[2].seen);
  return ways.map(({ what, seen, spent, engine }) => ({
    what,
    "MB/s": spread(seen, 0),
    "of grpc-js": `${((median(seen) / reached) * 100).toFixed(0)} %`,
    "processor s/GB": spread(spent, 2),
    ...(engine.length > 0 && { "its engine": spread(engine, 2) }),
  }));
}

/** Lets this process and the measured ones use every core for a while. */
function placesOf(measured) {
  return {
    free: () => [process.pid, ...measured].forEach(unpin),
    pin: () => {
      pinBeside();
      measured.forEach(pinMeasured);
    },
  };
}

function childrenOf(pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
}

async function memoryRow(gateway, through) {
  const { what, ...figures } = await memoryOf(
    `${gigabytes} GB over Flight`,
    gateway.pid,
    async () => (await through.pass(wide(gigabytes * 1e9))).bytes,
  );
  return { what, ...figures };
}

/** Asks by gRPC, and reads what the ticket leads to from the socket. */
async function readerOf(port) {
  const reader = flightReader(port);
  const raw = await rawHttp2(port);
  const authorization = `Basic ${Buffer.from("bench:x").toString("base64")}`;
  return {
    pass: async (sql) => {
      const { ticket } = (await reader.info(sql)).endpoint[0].ticket;
      const request = toBinary(flight.TicketSchema, create(flight.TicketSchema, { ticket }));
      return raw.call("DoGet", Buffer.from(request), { authorization });
    },
  };
}

function socketPass(port) {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    const onread = {
      buffer: Buffer.alloc(1 << 20),
      callback: (count) => {
        bytes += count;
        return true;
      },
    };
    const socket = connect({ port, host: "127.0.0.1", onread });
    socket.on("error", reject);
    socket.on("end", () => resolve({ bytes }));
    socket.write("x");
  });
}

async function bareServer() {
  const stdio = ["ignore", "inherit", "inherit", "ipc"];
  const child = spawnMeasured([server, Math.ceil(roundBytes / (1 << 20))], { stdio });
  const ports = await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", () => reject(new Error("the server ended")));
  });
  return { ports, pid: child.pid, stop: () => child.kill("SIGKILL") };
}

const python = join(
  process.env.GATEWAY_TEST_CACHE ?? join(homedir(), ".cache", "gateway-test"),
  "python-flight/bin/python",
);

/** Reads the whole result to a table each time; prints the seconds of each. */
const script = `
import sys, time, pyarrow.flight as flight
client = flight.FlightClient(f"grpc://127.0.0.1:{sys.argv[1]}")
options = flight.FlightCallOptions(headers=[client.authenticate_basic_token("bench", "x")])
def any_of(url, body):
    def field(number, value):
        size, length = len(value), b""
        while size >= 128:
            length += bytes([size & 127 | 128]); size >>= 7
        return bytes([number << 3 | 2]) + length + bytes([size]) + value
    return field(1, url.encode()) + field(2, field(1, body.encode()))
url = "type.googleapis.com/arrow.flight.protocol.sql.CommandStatementQuery"
for _ in range(int(sys.argv[3])):
    start = time.perf_counter()
    info = client.get_flight_info(flight.FlightDescriptor.for_command(any_of(url, sys.argv[2])), options)
    rows = client.do_get(info.endpoints[0].ticket, options).read_all().num_rows
    print(rows, time.perf_counter() - start, flush=True)
`;

async function pyarrowRow(gateway) {
  if (!existsSync(python)) return [];
  const wanted = 2_000_000;
  const args = ["-c", script, String(gateway.ports.flightSql), mixed(wanted), String(rounds + 1)];
  const child = spawn(python, args, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    text += chunk;
  });
  await new Promise((resolve) => child.once("close", resolve));
  const lines = text
    .trim()
    .split("\n")
    .map((line) => line.split(" ").map(Number));
  if (lines.length !== rounds + 1 || lines.some(([rows]) => rows !== wanted)) {
    throw new Error(`pyarrow read: ${text}`);
  }
  const speeds = lines.slice(1).map(([rows, seconds]) => rows / seconds);
  return [{ what: `${wanted / 1e6} M rows × 6 to pyarrow`, "rows/s": spread(speeds, 0) }];
}
