import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { readingIntoOwn } from "./ownBuffer.ts";

describe("readingIntoOwn", () => {
  let server: Server;
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  });

  /** An accepted connection, and the client's end of it. */
  async function accepted(prepare: (socket: Socket) => void = () => {}) {
    if (!server?.listening) {
      server = createServer({ pauseOnConnect: true }).listen(0, "127.0.0.1");
      await once(server, "listening");
    }
    const coming = once(server, "connection");
    const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
    const [shell] = (await coming) as [Socket];
    prepare(shell);
    const socket = readingIntoOwn(shell);
    sockets.push(client, socket);
    return { client, socket, shell };
  }

  it("keeps what each connection sent, though all are read into one buffer", async () => {
    const one = await accepted();
    const other = await accepted();
    const kept: Buffer[] = [];
    for (const { socket } of [one, other]) socket.on("data", (bytes: Buffer) => kept.push(bytes));
    const first = once(one.socket, "data");
    one.client.write("aaaa");
    await first;
    const second = once(other.socket, "data");
    other.client.write("bbbb");
    await second;
    expect(kept.map(String)).toEqual(["aaaa", "bbbb"]);
  });

  it("passes megabytes in their order, also to a reader that pauses", async () => {
    const { client, socket } = await accepted();
    const sent = Buffer.alloc(3_000_001, "0123456789");
    client.end(sent);
    const got: Buffer[] = [];
    socket.on("data", (bytes: Buffer) => {
      got.push(bytes);
      socket.pause();
      setImmediate(() => socket.resume());
    });
    await once(socket, "end");
    expect(Buffer.concat(got).equals(sent)).toBe(true);
  });

  it("keeps what came before anybody listens, and reads no further meanwhile", async () => {
    const { client, socket } = await accepted();
    client.end(Buffer.alloc(8_000_000));
    await once(socket, "readable");
    socket.removeAllListeners("readable");
    expect(socket.readableLength).toBeLessThan(1_000_000);
    let bytes = 0;
    socket.on("data", (piece: Buffer) => (bytes += piece.length)).resume();
    await once(socket, "end");
    expect(bytes).toBe(8_000_000);
  });

  it("writes, knows the client's address, and ends", async () => {
    const { client, socket } = await accepted();
    expect(socket.remoteAddress).toBe("127.0.0.1");
    socket.end("bye");
    const [bytes] = (await once(client, "data")) as [Buffer];
    expect(String(bytes)).toBe("bye");
    await once(client, "end");
  });

  it("counts for its server until it is closed", async () => {
    const { socket, shell } = await accepted();
    const connections = () =>
      new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
    expect(await connections()).toBe(1);
    const left = once(shell, "close");
    socket.destroy();
    await left;
    expect(await connections()).toBe(0);
  });

  it("reads a socket as it is where it has no handle to take", async () => {
    const { client, socket, shell } = await accepted((given) => {
      Object.defineProperty(given, "_handle", {
        get: () => undefined,
        set: () => {},
        configurable: true,
      });
    });
    expect(socket).toBe(shell);
    Reflect.deleteProperty(shell, "_handle");
    client.destroy();
  });
});
