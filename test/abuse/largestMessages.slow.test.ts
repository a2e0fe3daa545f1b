/**
 * Messages of 64 MiB with one text in each, 64 at once, where a message may be so long and a text may not: each is
 * refused with a typed error, another user is served meanwhile, and the gateway has its memory back afterwards.
 */
import { once } from "node:events";
import { json } from "node:stream/consumers";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askPg, lastOf, type TrinoPage } from "../e2e/clients.ts";
import { configOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { exitOf, loggedPort, spawnProgram } from "../e2e/program.ts";
import { memoryBytes } from "./engineProcess.ts";

const host = "127.0.0.1";
const atOnce = 64;
const megabyte = 1 << 20;
const messageBytes = 64 * megabyte;
/** The most that one packet of MySQL holds; a longer message goes on in the next. */
const packetBytes = (1 << 24) - 1;
/** Four gigabytes arrive at once; what is kept of them for a moment is a small part. */
const bytesMore = 512 * megabyte;
const bytesMoreAfterwards = 300 * megabyte;

let folder: string;
let child: ChildProcess;
let gateway: TestGateway;
let pid: number;
let quietBytes: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gateway-largest-"));
  const file = join(folder, "gateway.json");
  writeFileSync(file, JSON.stringify(configOf({}, { maxMessageBytes: messageBytes })));
  child = spawnProgram(["start", "--config", file]);
  pid = child.pid ?? 0;
  const kinds = ["postgresWire", "mysqlWire", "trinoHttp"];
  const ports = await Promise.all(kinds.map((kind) => loggedPort(child, kind)));
  const found = Object.fromEntries(kinds.map((kind, at) => [kind, ports[at] ?? 0]));
  // What the clients need of a gateway is where it listens.
  gateway = { ports: found } as unknown as TestGateway;
  await askPg(gateway, { sql: "select 1", user: "bob" });
  quietBytes = memoryBytes(pid, "VmRSS");
});

afterAll(async () => {
  const left = exitOf(child);
  child.kill("SIGTERM");
  await left;
  rmSync(folder, { recursive: true });
});

/** How each protocol sends one, and its word for a text that is too long. */
const wires: readonly (readonly [string, () => () => Promise<string>, string])[] = [
  ["PostgreSQL", overPostgres, "54000"],
  ["MySQL", overMysql, "1153"],
  ["HTTP", overHttp, "QUERY_TEXT_TOO_LARGE"],
];

describe.skipIf(process.platform !== "linux")(
  "64 messages of 64 MiB at once (only Linux says how much memory a process had)",
  () => {
    it.each(wires)(
      "are refused over %s, and another user is served",
      async (name, make, refusal) => {
        const send = make();
        writeFileSync(`/proc/${pid}/clear_refs`, "5");
        const state = { answered: false };
        const all = Promise.all(Array.from({ length: atOnce }, send)).finally(() => {
          state.answered = true;
        });
        let served = 0;
        while (!state.answered) {
          expect(await askPg(gateway, { sql: "select 1", user: "bob" })).toBe("1");
          served += 1;
        }
        expect(await all).toEqual(Array.from({ length: atOnce }, () => refusal));
        const highest = memoryBytes(pid, "VmHWM");
        const figures = [quietBytes, highest].map((bytes) => (bytes / megabyte).toFixed(0));
        process.stdout.write(
          `figure: 64 times 64 MiB over ${name}: highest ${figures[1]} MB, quiet ${figures[0]} MB, ${served} answers beside\n`,
        );
        expect(highest).toBeLessThan(quietBytes + bytesMore);
      },
      180_000,
    );

    // What was freed goes back once the process has been quiet for a while.
    it("leave the process with the memory it had", { timeout: 300_000 }, async () => {
      await expect
        .poll(() => memoryBytes(pid, "VmRSS"), { timeout: 45_000, interval: 500 })
        .toBeLessThan(quietBytes + bytesMoreAfterwards);
    });
  },
);

/** What servers say is told from other bytes by control characters. */
/* oxlint-disable no-control-regex */
const said = {
  /** PostgreSQL's ReadyForQuery outside a transaction. */
  ready: /Z\0\0\0\x05I$/,
  /** The SQLSTATE inside PostgreSQL's ErrorResponse. */
  refused: /\0C(\w{5})\0/,
  /** MySQL's OK as the third packet of a login. */
  loggedIn: /^...\x02\0/s,
};
/* oxlint-enable no-control-regex */

/** Sockets share one message, so that the sender's memory is not what is measured. */
function overPostgres(): () => Promise<string> {
  const startup = Buffer.from("\0\0\0\0\0\x03\0\0user\0alice\0\0", "latin1");
  startup.writeInt32BE(startup.length, 0);
  const message = textOf(Buffer.from("Q\0\0\0\0", "latin1"), messageBytes + 1);
  message.writeInt32BE(messageBytes, 1);
  message[message.length - 1] = 0;
  return async () => {
    const socket = await opened("postgresWire");
    socket.write(startup);
    await until(socket, said.ready);
    socket.write(message);
    const [, code = ""] = await until(socket, said.refused);
    socket.destroy();
    return code;
  };
}

function overMysql(): () => Promise<string> {
  const login = Buffer.alloc(32);
  // The protocol of 4.1, its way of proving a password, and plugins.
  login.writeUInt32LE((1 << 9) | (1 << 15) | (1 << 19));
  login[8] = 255;
  const names = Buffer.from("alice\0\0mysql_native_password\0");
  const response = packetOf(Buffer.concat([login, names]), 1);
  const payload = textOf(Buffer.from("\x03"), messageBytes);
  const packets: Buffer[] = [];
  for (let at = 0; at <= payload.length; at += packetBytes) {
    packets.push(packetOf(payload.subarray(at, at + packetBytes), packets.length));
  }
  const message = Buffer.concat(packets);
  return async () => {
    const socket = await opened("mysqlWire");
    await until(socket, /mysql_native_password|caching_sha2_password/);
    socket.write(response);
    await until(socket, said.loggedIn);
    socket.write(message);
    const [, low = "", high = ""] = await until(socket, /^....\xff(.)(.)/s);
    socket.destroy();
    return String(low.charCodeAt(0) + 256 * high.charCodeAt(0));
  };
}

function overHttp(): () => Promise<string> {
  const message = textOf(Buffer.alloc(0), messageBytes);
  const port = portOf(gateway, "trinoHttp");
  const headers = { "x-trino-user": "alice", "content-length": message.length };
  const options = { host, port, path: "/v1/statement", method: "POST", headers, agent: false };
  return () =>
    new Promise((resolve, reject) => {
      const sent = request(options, (response) => {
        json(response)
          .then((page) => lastOf(page as TrinoPage, { "x-trino-user": "alice" }))
          .then(resolve, reject);
      });
      sent.once("error", reject);
      sent.end(message);
    });
}

/** `select '` and more of it, behind a head, so many bytes in all. */
function textOf(head: Buffer, bytes: number): Buffer {
  const message = Buffer.alloc(bytes, "x");
  head.copy(message);
  message.write("select '", head.length);
  return message;
}

function packetOf(payload: Buffer, sequence: number): Buffer {
  const head = Buffer.of(0, 0, 0, sequence);
  head.writeUIntLE(payload.length, 0, 3);
  return Buffer.concat([head, payload]);
}

async function opened(kind: string): Promise<Socket> {
  const socket = connect(portOf(gateway, kind), host);
  // A refusal may come while we still send.
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** What the pattern finds in what comes from now on, a character for each byte. */
function until(socket: Socket, pattern: RegExp): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    let text = "";
    const read = (chunk: Buffer): void => {
      text += chunk.toString("latin1");
      const found = pattern.exec(text);
      if (found === null) return;
      socket.off("data", read);
      resolve(found);
    };
    socket.on("data", read);
    socket.once("close", () => reject(new Error(`closed after ${JSON.stringify(text)}`)));
  });
}
