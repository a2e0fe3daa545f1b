/**
 * PGlite behind PostgreSQL's wire protocol on a local port, for tests that need a server by its
 * address and no more than one connection's worth of it.
 *
 * Every client shares the one session: a transaction keeps the others waiting, and `set` is seen by
 * all; whoever waits for a second connection while holding a transaction waits for ever. It asks for no password, offers no TLS, knows no cancel, and tells nobody of notifications.
 */
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { PGlite } from "@electric-sql/pglite";
import type { Target } from "./emulator.ts";

export interface PgliteServer extends Target, AsyncDisposable {
  readonly url: string;
}

const startupCode = 196_608;
const query = "Q".charCodeAt(0);
const sync = "S".charCodeAt(0);
const terminate = "X".charCodeAt(0);
const readyIdle = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/** Starts with an empty database on a free port. */
export async function startPgliteServer(): Promise<PgliteServer> {
  const pglite = await PGlite.create();
  const line = new Line();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    void serve(socket, pglite, line);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    host: "127.0.0.1",
    port,
    url: `postgresql://gateway@127.0.0.1:${port}/postgres`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await pglite.close();
    },
  };
}

/** One client's turn lasts until it is outside a transaction. */
class Line {
  #last = Promise.resolve();

  async take(): Promise<() => void> {
    const before = this.#last;
    let leave = (): void => {};
    this.#last = new Promise((resolve) => {
      leave = resolve;
    });
    await before;
    return leave;
  }
}

async function serve(socket: Socket, pglite: PGlite, line: Line): Promise<void> {
  let leave: (() => void) | undefined;
  let waiting: Buffer[] = [];
  try {
    for await (const { code, bytes } of messagesOf(socket)) {
      if (code === terminate) break;
      waiting.push(bytes);
      if (code !== query && code !== sync) continue;
      leave ??= await line.take();
      const answer = await pglite.execProtocolRaw(Buffer.concat(waiting));
      waiting = [];
      socket.write(answer);
      if (pglite.isInTransaction()) continue;
      leave();
      leave = undefined;
    }
  } catch {
    // A client that broke off is one that left.
  }
  if (leave !== undefined) {
    if (!pglite.closed) await pglite.exec("rollback");
    leave();
  }
  socket.destroy();
}

interface Message {
  readonly code: number;
  readonly bytes: Buffer;
}

/** The messages after the handshake, which it does itself: PGlite has no more than one session. */
async function* messagesOf(socket: Socket): AsyncGenerator<Message, void, void> {
  let buffer = Buffer.alloc(0);
  let started = false;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    buffer = Buffer.concat([buffer, chunk]);
    while (buffer.length >= (started ? 5 : 8)) {
      const head = started ? 1 : 0;
      const length = head + buffer.readUInt32BE(head);
      if (buffer.length < length) break;
      const bytes = buffer.subarray(0, length);
      buffer = buffer.subarray(length);
      if (started) {
        yield { code: bytes[0] ?? 0, bytes };
        continue;
      }
      started = bytes.readUInt32BE(4) === startupCode;
      socket.write(started ? greeting() : "N");
    }
  }
}

/** Authentication is fine, and the session is ready. */
function greeting(): Buffer {
  const parameter = (name: string, value: string): Buffer => {
    const text = Buffer.from(`${name}\0${value}\0`);
    const head = Buffer.from([0x53, 0, 0, 0, 0]);
    head.writeUInt32BE(text.length + 4, 1);
    return Buffer.concat([head, text]);
  };
  return Buffer.concat([
    Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]),
    parameter("server_version", "18"),
    parameter("client_encoding", "UTF8"),
    parameter("standard_conforming_strings", "on"),
    readyIdle,
  ]);
}
