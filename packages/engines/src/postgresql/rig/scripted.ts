/** A server of PostgreSQL's wire that answers what a test tells it, message by message, and takes every login. */
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A message as its bytes. */
export function message(letter: string, body: readonly number[] = []): Uint8Array {
  const bytes = Buffer.alloc(5 + body.length);
  bytes.write(letter, 0, "latin1");
  bytes.writeInt32BE(4 + body.length, 1);
  bytes.set(body, 5);
  return bytes;
}

/** What the client sent: a message's letter, and the last text that it parsed, asked or copied. */
export interface SeenMessage {
  readonly letter: string;
  readonly text: string;
}

/** The answer to each message, or the end of the connection. */
export type Script = (seen: SeenMessage) => readonly Uint8Array[] | "close";

export class ScriptedPostgres implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #logins = 0;
  #sent: Promise<void> = Promise.resolve();

  private constructor(script: Script) {
    this.#server = createServer((socket) => this.#serve(socket, script));
  }

  static async start(script: Script): Promise<ScriptedPostgres> {
    const made = new ScriptedPostgres(script);
    await new Promise<void>((resolve) => made.#server.listen(0, "127.0.0.1", resolve));
    return made;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections that were logged in. */
  get logins(): number {
    return this.#logins;
  }

  /** Resolves when what was sent last has reached the other end of the loopback. */
  async sent(): Promise<void> {
    await this.#sent;
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Ends every connection, as a restart does; resolves when the other ends have heard of it. */
  async endAll(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.sent();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #serve(socket: Socket, script: Script): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    let bytes = Buffer.alloc(0);
    let started = false;
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (;;) {
        const head = started ? 1 : 0;
        if (bytes.length < head + 4) return;
        const size = head + bytes.readInt32BE(head);
        if (bytes.length < size) return;
        const letter = started ? String.fromCharCode(bytes[0] ?? 0) : "";
        const body = bytes.subarray(head + 4, size);
        bytes = bytes.subarray(size);
        if (!started) {
          // A cancel request is answered by closing.
          if (body.readInt32BE(0) === 80877102) return void socket.end();
          started = true;
          this.#logins += 1;
          socket.write(Buffer.concat(greeting));
          continue;
        }
        if (letter === "P") text = body.toString("utf8", 1);
        if (letter === "Q" || letter === "d") text = body.toString("utf8").replace("\0", "");
        const answer = script({ letter, text });
        if (answer === "close") return void socket.destroy();
        this.#sent = new Promise((resolve) => {
          socket.write(Buffer.concat(answer), () => resolve());
        });
      }
    });
  }
}

const greeting = [
  message("R", [0, 0, 0, 0]),
  message("K", [0, 0, 0, 1, 0, 0, 0, 2]),
  message("Z", [0x49]),
];
