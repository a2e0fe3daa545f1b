/**
 * F21: messages whose lengths lie, on every wire, before and after a login: nothing, less than their own head, two
 * gigabytes, one gigabyte that comes, a hundred thousand parameters. Each is refused before memory is taken for it.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { count as addCount } from "../../evidence/counted.mjs";
import { askMysql, askPg, mysqlClient } from "../ask.mjs";
import { ready } from "../ops.mjs";
import { forgetMost, memoryOf, mib } from "../processOf.mjs";
import { mysqlIdle, mysqlPacket, openSocket, pgIdle, pgMessage } from "../rawLogins.mjs";
import { chanceOf, seed } from "../seed.mjs";
import { check, notices, same, until } from "../wait.mjs";

export const title =
  "F21: lying lengths on every wire are refused before memory is taken (I9, I10)";

const loopback = { host: "127.0.0.1", port: 0 };
/** Each claims at least a gigabyte; what is read at a time and what waits to be collected is far less. */
const bytesMore = 128 * 2 ** 20;
const gigabyte = 2 ** 30;
const pieceBytes = 2 ** 20;
const parameters = 100_000;
const claims = [0, 3, 2 ** 31 - 1, gigabyte, 2 ** 32 - 1];
const packetMost = 2 ** 24 - 1;

const head = (length) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length >>> 0);
  return bytes;
};
const post = (...lines) =>
  `${["POST /v1/statement HTTP/1.1", "host: 127.0.0.1", "x-trino-user: eve", ...lines].join("\r\n")}\r\n\r\n`;

/** Each says something and goes on with zeros for as long as it is listened to; it is over when the other side ends it. */
const lies = {
  ...Object.fromEntries(claims.map((length) => [`a start-up of ${length} bytes`, startUp(length)])),
  ...Object.fromEntries(
    ["Q", "P", "d", "X", "?"].flatMap((type) =>
      claims.map((length) => [
        `a message ${type} of ${length} bytes`,
        (worker) => afterLogin(worker, pgMessage(type, "", length)),
      ]),
    ),
  ),
  "a login of MySQL of 16 MiB": async (worker) => {
    const socket = await openSocket(worker.ports.mysqlWire);
    return zeros(socket, mysqlPacket(Buffer.alloc(0), 1, packetMost));
  },
  "packets of MySQL without end": async (worker) => {
    const socket = await mysqlIdle(worker.ports.mysqlWire);
    return zeros(socket, mysqlPacket(Buffer.from([3]), 0, packetMost));
  },
  "a body of two gigabytes": (worker) => overHttp(worker, post(`content-length: ${2 ** 31 - 1}`)),
  "a body of nothing that comes": (worker) => overHttp(worker, post("content-length: 0")),
  "two lengths": (worker) => overHttp(worker, post("content-length: 3", "content-length: 4")),
  "a length below nothing": (worker) => overHttp(worker, post("content-length: -1")),
  "a chunk of two gigabytes": (worker) =>
    overHttp(worker, `${post("transfer-encoding: chunked")}7fffffff\r\n`),
  "a chunk beyond every number": (worker) =>
    overHttp(worker, `${post("transfer-encoding: chunked")}ffffffffffffffffffff\r\n`),
  "a body of a gigabyte, ClickHouse": (worker) =>
    overHttp(worker, post(`content-length: ${gigabyte}`), "clickhouseHttp"),
  "a call of two gigabytes, Flight SQL": overGrpc,
};

export async function run(fleet) {
  fleet.figure(`seed ${seed}`);
  const control = await fleet.controlPlane();
  await control.open();
  const frontends = Object.fromEntries(
    ["postgresWire", "mysqlWire", "trinoHttp", "clickhouseHttp", "flightSql"].map((kind) => [
      kind,
      loopback,
    ]),
  );
  const worker = await fleet.worker("w1", `http://127.0.0.1:${control.port}`, { frontends });
  await worker.open().then(ready);
  await Promise.all([askPg(worker, "select 1"), askMysql(worker, "select 1")]);
  await lies["a call of two gigabytes, Flight SQL"](worker);

  const names = chanceOf().shuffled(Object.keys(lies));
  let most = 0;
  for (const name of names) {
    forgetMost(worker.pid);
    const before = memoryOf(worker.pid);
    await lies[name](worker).catch((error) => {
      throw new Error(`${name}: ${error.message}`);
    });
    most = Math.max(most, judgeMemory(worker.pid, before, name));
    same(await askPg(worker, "select 42"), "42", `after ${name}: the next client`);
  }
  await manyParameters(worker);
  addCount("badInputs", names.length + 2);
  fleet.figure(`${names.length} lies, none believed: ${mib(most)} at most for one of them`);
  await believed();
}

/** Bytes that the process had more than before, at its most. */
function judgeMemory(pid, before, name) {
  const more = memoryOf(pid, "VmHWM") - before;
  check(more <= bytesMore, `${name}: ${mib(more)} were taken`);
  return more;
}

function startUp(length) {
  return async (worker) => zeros(await openSocket(worker.ports.postgresWire), head(length));
}

async function afterLogin(worker, bytes) {
  return zeros(await pgIdle(worker.ports.postgresWire), bytes);
}

async function overHttp(worker, text, kind = "trinoHttp") {
  return zeros(await openSocket(worker.ports[kind]), Buffer.from(text, "latin1"));
}

/** Until the other side has had enough: it says so or ends. A gigabyte that was taken is one too many. */
async function zeros(socket, first) {
  socket.resume();
  socket.write(first);
  const piece = Buffer.alloc(pieceBytes);
  let sent = 0;
  const ended = () => socket.destroyed || socket.readableEnded;
  const more = () => {
    while (!ended() && sent < gigabyte && socket.write(piece)) sent += pieceBytes;
    sent += pieceBytes;
  };
  socket.on("drain", more);
  more();
  await until(`it is refused (${mib(sent)} sent)`, () => ended() || sent > gigabyte, 20);
  socket.destroy();
  check(sent <= gigabyte, "a gigabyte was taken");
}

/** A message of gRPC (length-prefixed, two gigabytes) on a stream that stays open. */
async function overGrpc(worker) {
  const session = connectHttp2(`http://127.0.0.1:${worker.ports.flightSql}`);
  session.on("error", () => {});
  const stream = session.request({
    ":method": "POST",
    ":path": "/arrow.flight.protocol.FlightService/GetFlightInfo",
    "content-type": "application/grpc",
    te: "trailers",
  });
  stream.on("error", () => {});
  stream.resume();
  stream.write(Buffer.concat([Buffer.from([0]), head(2 ** 31 - 1)]));
  stream.write(Buffer.alloc(pieceBytes));
  await until("it is refused", () => stream.closed || stream.destroyed || stream.readableEnded, 20);
  session.destroy();
}

async function manyParameters(worker) {
  const signs = (sign) => Array.from({ length: parameters }, (_, at) => sign(at + 1)).join(",");
  const pg = await askPg(worker, `select ${signs((at) => `$${at}`)}`);
  check(/^(42P0[12]|54\w{3}|0A000|08P01|22023|42\w{3})$/.test(pg), `PostgreSQL says ${pg}`);
  const client = await mysqlClient(worker);
  const mysql = await client.prepare(`select ${signs(() => "?")}`).then(
    () => "prepared",
    (error) => String(error.errno),
  );
  check(/^\d{4}$/.test(mysql), `MySQL says ${mysql}`);
  client.destroy();
  same(await askMysql(worker, "select 42"), "42", "the next client");
}

/** A server that takes what it is told there will be: what the judge must not let pass. */
async function believed() {
  const server = `require("node:net").createServer((socket) => {
    socket.on("error", () => {}).once("data", (bytes) => {
      globalThis.kept = Buffer.alloc(Math.min(bytes.readUInt32BE(0), 2 ** 28), 1);
      socket.end();
    });
  }).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;
  const child = spawn(process.execPath, ["-e", server], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [port] = await once(child.stdout, "data");
    forgetMost(child.pid);
    const before = memoryOf(child.pid);
    await startUp(2 ** 31 - 1)({ ports: { postgresWire: Number(port) } });
    const judge = () => judgeMemory(child.pid, before, "believed");
    await notices("a length that is believed", judge, /were taken/);
  } finally {
    child.kill("SIGKILL");
  }
}
