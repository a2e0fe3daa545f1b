/** Clients that know one conversation each, so that the load costs less than what is measured. */
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";

const host = "127.0.0.1";
const tls = { host, rejectUnauthorized: false };

/** By what is measured: `open` answers a connection that asks and closes, `rest` one that only stays. */
export const clients = [
  { what: "a Node server that only answers", ...bare() },
  { what: "PostgreSQL simple, engine of no cost", ...postgres(["simple"]) },
  { what: "PostgreSQL extended, engine of no cost", ...postgres(["extended"]) },
  { what: "PostgreSQL prepared, engine of no cost", ...postgres(["prepared"]) },
  { what: "MySQL text, engine of no cost", ...mysql("text") },
  { what: "MySQL prepared, engine of no cost", ...mysql("prepared") },
  { what: "Trino HTTP in one request, engine of no cost", ...trino("StatementClientV1/476") },
  { what: "Trino HTTP polled, engine of no cost", ...trino("trino-bench") },
];

/** Sends `request`, waits until `whole` says that the answer is there. */
function exchange(socket, whole) {
  let rest = Buffer.alloc(0);
  let done;
  socket.on("data", (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (!whole(rest)) return;
    const answer = rest;
    rest = Buffer.alloc(0);
    done(answer);
  });
  return (request) =>
    new Promise((resolve) => {
      done = resolve;
      if (request !== undefined) socket.write(request);
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

async function secured(socket) {
  socket.removeAllListeners("data");
  const safe = connectTls({ ...tls, socket });
  safe.on("error", () => undefined);
  await new Promise((resolve) => {
    safe.once("secureConnect", resolve);
  });
  return safe;
}

/** The floor under every wire here. */
function bare() {
  const request = Buffer.alloc(32);
  return {
    wire: "bare",
    open: async (ports) => {
      const socket = await opened(ports.bare);
      const send = exchange(socket, (bytes) => bytes.length >= 64);
      return { ask: () => send(request), close: () => socket.destroy() };
    },
  };
}

function postgres([form]) {
  const int32 = (value) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return bytes;
  };
  const body = (...parts) => {
    const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
    return Buffer.concat([int32(bytes.length + 4), bytes]);
  };
  const message = (letter, ...parts) => Buffer.concat([Buffer.from(letter), body(...parts)]);
  const sync = message("S");
  const bind = (name) => message("B", `\0${name}\0`, [0, 0, 0, 0, 0, 0]);
  const execute = message("E", "\0", int32(0));
  const parse = (name) => message("P", `${name}\0select 1\0`, [0, 0]);
  const forms = {
    simple: message("Q", "select 1\0"),
    extended: Buffer.concat([parse(""), bind(""), message("D", "P\0"), execute, sync]),
    prepared: Buffer.concat([bind("one"), execute, sync]),
  };
  const startup = body(int32(0x30000), "user\0bench\0\0");
  // ReadyForQuery is six bytes long and the last of every answer.
  const ready = (bytes) => bytes.length >= 6 && bytes[bytes.length - 6] === 0x5a;
  const login = async (socket) => {
    const send = exchange(socket, ready);
    await send(startup);
    return send;
  };
  return {
    wire: "postgres",
    open: async (ports) => {
      const socket = await opened(ports.postgres);
      const send = await login(socket);
      await send(Buffer.concat([parse("one"), sync]));
      return { ask: () => send(forms[form]), close: () => socket.destroy() };
    },
    rest: async (ports, security) => {
      const plain = await opened(ports.postgres);
      if (security === "tls") await exchange(plain, () => true)(body(int32(80877103)));
      const socket = security === "tls" ? await secured(plain) : plain;
      await login(socket);
      return socket;
    },
  };
}

function mysql(form) {
  const packet = (payload, sequence) =>
    Buffer.concat([Buffer.of(payload.length, payload.length >> 8, 0, sequence), payload]);
  const packetsOf = (bytes) => {
    let count = 0;
    for (let at = 0; at + 4 <= bytes.length; at += 4 + bytes.readUIntLE(at, 3)) count += 1;
    return count;
  };
  const protocol41 = 1 << 9;
  const secureConnection = 1 << 15;
  const pluginAuth = 1 << 19;
  const deprecateEof = 1 << 24;
  const tlsWanted = 1 << 11;
  const flags = protocol41 | secureConnection | pluginAuth | deprecateEof;
  const head = (more) => {
    const bytes = Buffer.alloc(32);
    bytes.writeUInt32LE(flags | more);
    bytes[8] = 255;
    return bytes;
  };
  const response = (more) =>
    Buffer.concat([head(more), Buffer.from("bench\0\0mysql_native_password\0")]);
  const query = packet(Buffer.from("\x03select 1"), 0);
  const prepare = packet(Buffer.from("\x16select ?"), 0);
  // Without a cursor, once; no NULL, types told; an integer of 64 bits.
  const execute = (statement) =>
    packet(Buffer.of(0x17, ...statement, 0, 1, 0, 0, 0, 0, 1, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0), 0);
  const preparedIn = async (socket) => {
    // The statement's number, a parameter, a column.
    const answer = await exchange(socket, (bytes) => packetsOf(bytes) === 3)(prepare);
    socket.removeAllListeners("data");
    return answer.subarray(5, 9);
  };
  const login = async (plain, security) => {
    await exchange(plain, () => true)();
    if (security !== "tls") {
      plain.removeAllListeners("data");
      await exchange(plain, () => true)(packet(response(0), 1));
      return plain;
    }
    plain.write(packet(head(tlsWanted), 1));
    const socket = await secured(plain);
    await exchange(socket, () => true)(packet(response(tlsWanted), 2));
    return socket;
  };
  return {
    wire: "mysql",
    open: async (ports) => {
      const socket = await login(await opened(ports.mysql), "plain");
      socket.removeAllListeners("data");
      const request = form === "text" ? query : execute(await preparedIn(socket));
      // The number of columns, a column, a row, the end.
      const send = exchange(socket, (bytes) => packetsOf(bytes) === 4);
      return { ask: () => send(request), close: () => socket.destroy() };
    },
    rest: async (ports, security) => await login(await opened(ports.mysql), security),
  };
}

function trino(agent) {
  const request = (method, path, text) =>
    `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nX-Trino-User: bench\r\nUser-Agent: ${agent}\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
  const whole = (bytes) => {
    const end = bytes.indexOf("\r\n\r\n");
    if (end < 0) return false;
    const [, length] = /content-length: (\d+)/i.exec(bytes.toString("latin1", 0, end)) ?? [];
    return bytes.length >= end + 4 + Number(length);
  };
  const link = /"nextUri":"http:\/\/[^/"]+([^"]+)"/;
  const post = request("POST", "/v1/statement", "select 1");
  const asks = (send) => async () => {
    let page = (await send(post)).toString("latin1");
    for (;;) {
      const [, path] = link.exec(page) ?? [];
      if (path === undefined) break;
      page = (await send(request("GET", path, ""))).toString("latin1");
    }
    if (!page.includes('"FINISHED"')) throw new Error(page);
  };
  return {
    wire: "trino",
    open: async (ports) => {
      const socket = await opened(ports.trino);
      return { ask: asks(exchange(socket, whole)), close: () => socket.destroy() };
    },
    rest: async (ports, security) => {
      const plain = await opened(ports.trino);
      const socket = security === "tls" ? await secured(plain) : plain;
      await exchange(socket, whole)(request("GET", "/v1/info", ""));
      return socket;
    },
  };
}
