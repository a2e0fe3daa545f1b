/**
 * `npm run bench flight`: results of an embedded DuckDB over Flight SQL, as bytes to a reader that decodes nothing, beside
 * a server of grpc-js that sends one ready megabyte again and again: what the library can reach at all. Resident memory
 * while ten gigabytes pass (`BENCH_GIGABYTES`), and rows/s to pyarrow where the Python of `npm run test:real` is there.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, spread } from "./figures.mjs";
import { flightReader } from "./flightReader.mjs";
import { configOf, startGateway } from "./gateway.mjs";
import { memoryOf, pinBeside, spawnMeasured } from "./processes.mjs";

const server = fileURLToPath(new URL("flightServer.mjs", import.meta.url));
const rounds = 5;
const roundRows = 16_000_000;
const columns = 8;
const gigabytes = Number(process.env.BENCH_GIGABYTES ?? 10);

/** Eight columns of eight bytes, which cost DuckDB next to nothing. */
const wide = (rows) => {
  const names = Array.from({ length: columns }, (_, at) => `i + ${at} as c${at}`);
  return `select ${names.join(", ")} from range(${rows}) t(i)`;
};
/** What the other benches of rows read. */
const mixed = (rows) => `select i as id, 'customer ' || (i % 1000) as name, i * 1.5 as amount,
  cast(i % 100000 as decimal(12,2)) as price, date '2020-01-01' + cast(i % 1000 as int) as day,
  timestamp '2020-01-01 00:00:00' + to_seconds(i) as at from range(${rows}) t(i)`;

export async function flightRows() {
  pinBeside();
  const config = configOf().replace(
    "    mysqlWire: {host: 127.0.0.1, port: 0}\n",
    "    flightSql: {host: 127.0.0.1, port: 0}\n",
  );
  const gateway = await startGateway(config, { pinned: true });
  const bare = await bareServer();
  try {
    const through = readerOf(gateway.ports.flightSql);
    const direct = readerOf(bare.port);
    return [
      ...(await rates({ direct, through })),
      await memoryRow(gateway, through),
      ...(await pyarrowRow(gateway)),
    ];
  } finally {
    bare.stop();
    await gateway.stop();
  }
}

async function rates({ direct, through }) {
  const ways = [
    { what: "a megabyte again and again, grpc-js alone", pass: () => direct.pass("bare") },
    {
      what: `${columns} columns of BIGINT from DuckDB, gateway`,
      pass: () => through.pass(wide(roundRows)),
    },
  ].map((way) => ({ ...way, seen: [], messages: 0 }));
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const way of ways) {
      const from = performance.now();
      const { bytes, messages } = await way.pass();
      if (round > 0) way.seen.push(bytes / 1e3 / (performance.now() - from));
      way.messages = bytes / messages;
    }
  }
  const reached = median(ways[0].seen);
  return ways.map(({ what, seen, messages }) => ({
    what,
    "MB/s": spread(seen, 0),
    "of grpc-js alone": `${((median(seen) / reached) * 100).toFixed(0)} %`,
    "a message": `${(messages / 1024).toFixed(0)} KB`,
  }));
}

async function memoryRow(gateway, through) {
  const rows = Math.ceil((gigabytes * 1e9) / (columns * 8));
  const { what, ...figures } = await memoryOf(
    `${gigabytes} GB over Flight`,
    gateway.pid,
    async () => (await through.pass(wide(rows))).bytes,
  );
  return { what, ...figures };
}

/** The rows of a statement, or what the bare server sends whatever is asked. */
function readerOf(port) {
  const reader = flightReader(port);
  return {
    pass: async (sql) =>
      reader.get(
        sql === "bare" ? new Uint8Array(0) : (await reader.info(sql)).endpoint[0].ticket.ticket,
      ),
  };
}

async function bareServer() {
  const stdio = ["ignore", "inherit", "inherit", "ipc"];
  const child = spawnMeasured([server], { stdio });
  const port = await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", () => reject(new Error("the server ended")));
  });
  return { port, stop: () => child.kill("SIGKILL") };
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
