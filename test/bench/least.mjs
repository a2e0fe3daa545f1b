/**
 * `node least.mjs postgres|mysql|http PORT LOG`: the least of what a gateway promises, in the same runtime: the floor of what
 * a gateway in Node can reach. It frames the messages of both sides, knows a statement by its text, sends it over a
 * connection of a pool that all clients share, keeps a record of it and writes a line of a log. It judges nothing, routes
 * nothing, limits nothing, can not cancel, and breaks with the first message that it does not know. Logins are the server's:
 * a connection goes to the pool once its own was answered. Sends its own port to whoever forked it.
 */
import { appendFile } from "node:fs";
import { connect, createServer } from "node:net";

const [wire, target, logFile] = process.argv.slice(2);
const host = "127.0.0.1";
const lineEveryMs = 50;
const recordsMax = 100_000;

const known = new Map();
const records = [];
let lines = "";
let count = 0;

setInterval(() => {
  if (lines === "") return;
  appendFile(logFile, lines, () => undefined);
  lines = "";
}, lineEveryMs);

/** The statement of a text, which was read once. */
function statementOf(text) {
  let statement = known.get(text);
  if (statement === undefined) {
    statement = { text, kind: /^\s*(\w+)/.exec(text)?.[1]?.toLowerCase() ?? "" };
    if (known.size < 1_000) known.set(text, statement);
  }
  return statement;
}

function keep({ text, kind }, fromMs, bytes) {
  count += 1;
  const ms = performance.now() - fromMs;
  const record = `{"id":"q-${count}","at":${Date.now()},"ms":${ms.toFixed(3)},"bytes":${bytes},"kind":"${kind}","sql":${JSON.stringify(text)}}`;
  records[count % recordsMax] = record;
  lines += `${record}\n`;
}

/** Connections of the pool that are at rest, and clients that wait for one. */
const idle = [];
const waiting = [];

function give(server) {
  const next = waiting.shift();
  if (next === undefined) idle.push(server);
  else next.sendOn(server);
}

class Server {
  client;
  rest;

  constructor(socket, answerEnd) {
    this.socket = socket;
    socket.on("data", (bytes) => {
      const all = this.rest === undefined ? bytes : Buffer.concat([this.rest, bytes]);
      if (!answerEnd(all)) {
        this.rest = all;
        return;
      }
      this.rest = undefined;
      const { client } = this;
      this.client = undefined;
      give(this);
      client.answered(all);
    });
  }
}

class Client {
  rest;

  constructor(socket) {
    this.socket = socket;
  }

  serve(requestOf) {
    this.socket.on("data", (bytes) => {
      const all = this.rest === undefined ? bytes : Buffer.concat([this.rest, bytes]);
      const text = requestOf(all);
      this.rest = text === undefined ? all : undefined;
      if (text === undefined) return;
      this.fromMs = performance.now();
      this.statement = statementOf(text);
      this.request = all;
      const server = idle.pop();
      if (server === undefined) waiting.push(this);
      else this.sendOn(server);
    });
  }

  sendOn(server) {
    server.client = this;
    server.socket.write(this.request);
  }

  answered(bytes) {
    this.socket.write(bytes);
    keep(this.statement, this.fromMs, bytes.length);
  }
}

/** How the messages of a wire begin and end. `loggedIn`: the server's bytes end its login. */
const wires = {
  postgres: {
    requestOf: (bytes) =>
      bytes.length >= 5 && bytes[0] === 0x51 && bytes.length === 1 + bytes.readUInt32BE(1)
        ? bytes.toString("utf8", 5, bytes.length - 1)
        : undefined,
    answerEnd: (bytes) => endsAt(bytes, 1, (at) => 1 + bytes.readUInt32BE(at + 1), isReady),
    loggedIn: (bytes) => endsAt(bytes, 1, (at) => 1 + bytes.readUInt32BE(at + 1), isReady),
  },
  mysql: {
    requestOf: (bytes) =>
      bytes.length >= 5 && bytes[4] === 3 && bytes.length === 4 + bytes.readUIntLE(0, 3)
        ? bytes.toString("utf8", 5)
        : undefined,
    answerEnd: isWholeResult,
    loggedIn: (bytes) => bytes[4] === 0 && bytes[3] > 0,
  },
  http: {
    requestOf: (bytes) => {
      const end = endOfHttp(bytes);
      return end === bytes.length ? bytes.toString("latin1", bytes.indexOf(blank) + 4) : undefined;
    },
    answerEnd: (bytes) => endOfHttp(bytes) === bytes.length,
    loggedIn: undefined,
  },
};

function isReady(bytes, at) {
  return bytes[at] === 0x5a;
}

/** True where whole messages end with the bytes, and the last one is that one. */
function endsAt(bytes, head, lengthAt, isLast) {
  let at = 0;
  let last = 0;
  while (at + head + 4 <= bytes.length) {
    last = at;
    at += lengthAt(at);
  }
  return at === bytes.length && isLast(bytes, last);
}

/** OK, an error, or definitions and rows with an EOF behind each. */
function isWholeResult(bytes) {
  if (bytes.length < 5) return false;
  const isShort = bytes[4] === 0 || bytes[4] === 0xff;
  let ends = isShort ? 2 : 0;
  let at = 0;
  while (at + 4 <= bytes.length) {
    const length = bytes.readUIntLE(at, 3);
    if (bytes[at + 4] === 0xfe && length < 9) ends += 1;
    at += 4 + length;
  }
  return at === bytes.length && ends >= 2;
}

const blank = Buffer.from("\r\n\r\n");
const lastChunk = Buffer.from("0\r\n\r\n");

function endOfHttp(bytes) {
  const end = bytes.indexOf(blank);
  if (end < 0) return undefined;
  const head = bytes.toString("latin1", 0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return end + 4 + Number(length);
  if (!/\r\ntransfer-encoding:/i.test(head)) return end + 4;
  return bytes.subarray(-5).equals(lastChunk) ? bytes.length : undefined;
}

const { requestOf, answerEnd, loggedIn } = wires[wire];

/** The login passes between the client and a connection of its own, which is everybody's behind it. */
function passLogin(client, server) {
  const forth = (bytes) => server.write(bytes);
  const back = (bytes) => {
    client.write(bytes);
    if (!loggedIn(bytes)) return;
    client.off("data", forth);
    server.off("data", back);
    new Client(client).serve(requestOf);
    give(new Server(server, answerEnd));
  };
  client.on("data", forth);
  server.on("data", back);
}

createServer({ noDelay: true }, (client) => {
  const server = connect({ port: Number(target), host, noDelay: true });
  for (const socket of [client, server]) socket.on("error", () => undefined);
  if (loggedIn !== undefined) return passLogin(client, server);
  new Client(client).serve(requestOf);
  give(new Server(server, answerEnd));
}).listen(0, host, function ready() {
  process.send?.(this.address().port);
});
