/** Clients of `oneCore.mjs`: one connection each, which asks for one row again and again. */
import { connect } from "node:net";
import { pgQuery, pgStartup } from "./rawPostgres.mjs";

const host = "127.0.0.1";

/** Each answers a connection to a port, that asks and closes. */
export const oneCoreClients = { trino, mysql, postgres, clickhouse };

async function postgres(port) {
  const socket = await opened(port);
  const send = exchange(socket, isWholePostgres);
  await send(pgStartup("bench"));
  const query = pgQuery("select 1");
  return { ask: () => send(query), close: () => socket.destroy() };
}

/** ReadyForQuery is six bytes long and the last of every answer. */
function isWholePostgres(bytes) {
  return bytes.length >= 6 && bytes[bytes.length - 6] === 0x5a;
}

/** As Trino's own clients: the password goes with each request, and links are followed. */
async function trino(port) {
  const socket = await opened(port);
  const authorization = `Basic ${Buffer.from("bench:bench").toString("base64")}`;
  const request = (method, path, text) =>
    `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\nX-Trino-User: bench\r\nUser-Agent: trino-cli/476\r\nX-Trino-Client-Capabilities: PARAMETRIC_DATETIME\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
  const send = exchange(socket, isWholeHttp);
  const post = request("POST", "/v1/statement", "select 1");
  const link = /"nextUri":"http:\/\/[^/"]+([^"]+)"/;
  const ask = async () => {
    let page = (await send(post)).toString("latin1");
    for (;;) {
      const [, path] = link.exec(page) ?? [];
      if (path === undefined) break;
      page = (await send(request("GET", path, ""))).toString("latin1");
    }
    if (page.includes('"error":') || !page.startsWith("HTTP/1.1 200")) throw new Error(page);
  };
  return { ask, close: () => socket.destroy() };
}

async function clickhouse(port) {
  const socket = await opened(port);
  const authorization = `Basic ${Buffer.from("bench:bench").toString("base64")}`;
  const send = exchange(socket, isWholeHttp);
  const request = `POST / HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\nContent-Length: 8\r\n\r\nselect 1`;
  const ask = async () => {
    const answer = (await send(request)).toString("latin1");
    if (!answer.startsWith("HTTP/1.1 200")) throw new Error(answer);
  };
  return { ask, close: () => socket.destroy() };
}

/** By a whole length or in chunks. */
function isWholeHttp(bytes) {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const head = bytes.toString("latin1", 0, end);
  const [, length] = /content-length: (\d+)/i.exec(head) ?? [];
  if (length !== undefined) return bytes.length >= end + 4 + Number(length);
  return bytes.subarray(-5).toString("latin1") === "0\r\n\r\n";
}

async function mysql(port) {
  const socket = await opened(port);
  const send = exchange(socket, isWholeMysql);
  await first(socket);
  const protocol41 = 1 << 9;
  const secureConnection = 1 << 15;
  const pluginAuth = 1 << 19;
  const head = Buffer.alloc(32);
  head.writeUInt32LE(protocol41 | secureConnection | pluginAuth);
  head[8] = 255;
  const login = packet(Buffer.concat([head, Buffer.from("bench\0\0mysql_native_password\0")]), 1);
  socket.write(login);
  await first(socket);
  const query = packet(Buffer.from("\x03select 1"), 0);
  return { ask: () => send(query), close: () => socket.destroy() };
}

function packet(payload, sequence) {
  return Buffer.concat([Buffer.of(payload.length, payload.length >> 8, 0, sequence), payload]);
}

/** Definitions end with an EOF, and rows with another. */
function isWholeMysql(bytes) {
  let ends = 0;
  let at = 0;
  while (at + 4 <= bytes.length) {
    const length = bytes.readUIntLE(at, 3);
    if (bytes[at + 4] === 0xff) throw new Error(bytes.toString("latin1", at + 4));
    if (bytes[at + 4] === 0xfe && length < 9) ends += 1;
    at += 4 + length;
  }
  return at === bytes.length && ends === 2;
}

function first(socket) {
  return new Promise((resolve) => {
    socket.once("data", resolve);
  });
}

async function opened(port) {
  const socket = connect({ port, host, noDelay: true });
  await new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => undefined);
  return socket;
}

/** Sends a request, waits until `isWhole` says that the answer is there. */
function exchange(socket, isWhole) {
  let rest = Buffer.alloc(0);
  let done;
  let fail;
  socket.once("close", () => fail?.(new Error("the connection was closed")));
  socket.on("data", (chunk) => {
    if (done === undefined) return;
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (!isWhole(rest)) return;
    const answer = rest;
    const resolve = done;
    rest = Buffer.alloc(0);
    done = undefined;
    resolve(answer);
  });
  return (request) =>
    new Promise((resolve, reject) => {
      done = resolve;
      fail = reject;
      socket.write(request);
    });
}
