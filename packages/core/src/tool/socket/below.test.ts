import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { BelowSockets } from "./below.ts";

describe("BelowSockets", () => {
  it("writes what arrives as it was written, below the stream and between what the stream wrote", async () => {
    const { here, there } = await joined();
    const below = new BelowSockets();
    const went: string[] = [];
    for (let n = 0; n < 50; n += 1) {
      const piece = Buffer.from(`${n},`);
      went.push(below.write(here, piece) === undefined ? "stream" : "below");
      if (went.at(-1) === "stream") here.write(piece);
      if (n % 7 === 0) here.write(`+${n},`, "latin1");
    }
    here.end();
    const expected = Array.from({ length: 50 }, (_, n) => `${n},${n % 7 === 0 ? `+${n},` : ""}`);
    expect(await allOf(there)).toBe(expected.join(""));
    expect(went).not.toContain("stream");
    // The first is the stream's, which is looked at; from the second on its request is not made anew.
    expect(here.bytesWritten).toBe(expected.join("").length);
  });

  it("leaves it to the stream while the system has not taken all, and loses nothing of it", async () => {
    const { here, there } = await joined();
    const below = new BelowSockets();
    there.pause();
    const { written, byStream } = fill(below, here);
    expect(byStream).toBe(true);
    expect(here.writableLength).toBeGreaterThan(0);
    const arrived = lengthOf(there);
    here.end();
    expect(await arrived).toBe(written);
    // Nothing is unfinished any more.
    const other = await joined();
    expect(below.write(other.here, Buffer.from("a"))).toBe(true);
    other.here.end();
    expect(await allOf(other.there)).toBe("a");
  });

  it("forgets what a socket had left to write that is destroyed", async () => {
    const { here, there } = await joined();
    const below = new BelowSockets();
    there.pause();
    fill(below, here);
    const closed = once(here, "close");
    here.destroy();
    await closed;
    const other = await joined();
    expect(below.write(other.here, Buffer.from("a"))).toBe(true);
  });

  it("leaves a connection that is broken to its stream, which says so", async () => {
    const { here, there } = await joined();
    const below = new BelowSockets();
    below.write(here, Buffer.from("a"));
    const broken = new Promise<Error>((resolve) => here.once("error", resolve));
    const reset = new Promise<void>((resolve) => here.once("close", () => resolve()));
    there.resetAndDestroy();
    const again = (): void => {
      if (here.destroyed) return;
      const piece = Buffer.from("b");
      if (below.write(here, piece) === undefined) here.write(piece);
      setImmediate(again);
    };
    again();
    expect(await broken).toBeInstanceOf(Error);
    await reset;
    expect(below.write(here, Buffer.from("c"))).toBeUndefined();
  });

  it("asks nothing of a socket whose stream has something to do", async () => {
    const { here, there } = await joined();
    const below = new BelowSockets();
    const piece = Buffer.from("a");
    expect(below.write(here, piece)).toBe(true);
    here.cork();
    expect(below.write(here, piece)).toBeUndefined();
    here.write("b");
    here.uncork();
    here.end();
    expect(below.write(here, piece)).toBeUndefined();
    expect(await allOf(there)).toBe("ab");
    expect(below.write(here, piece)).toBeUndefined();
  });

  it("knows only what Node makes for a connection without TLS", () => {
    const said: string[] = [];
    const write = (bytes: Uint8Array): boolean => said.push(String(bytes)) > 0;
    const idle = { writable: true, writableLength: 0, writableCorked: 0, write };
    const below = new BelowSockets();
    class Wrapped {
      readonly writeQueueSize = 0;
      writeBuffer(): number {
        return 0;
      }
    }
    class TCP extends Wrapped {}
    const others = [undefined, null, {}, "tcp", new Wrapped(), Object.create(null) as object];
    for (const handle of others)
      expect(below.write({ ...idle, _handle: handle }, new Uint8Array(1))).toBeUndefined();
    // It asks for no request, so none can be made.
    expect(below.write({ ...idle, _handle: new TCP() }, new Uint8Array(1))).toBe(true);
    expect(below.write({ ...idle, _handle: new TCP() }, new Uint8Array(1))).toBeUndefined();
    expect(said).toEqual(["0"]);
  });
});

const open: { readonly server: Server; readonly sockets: readonly Socket[] }[] = [];

afterEach(() => {
  for (const { server, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

async function joined(): Promise<{ readonly here: Socket; readonly there: Socket }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const came = once(server, "connection");
  const here = connect(address.port, "127.0.0.1");
  await once(here, "connect");
  const [there] = (await came) as [Socket];
  there.on("error", () => {});
  open.push({ server, sockets: [here, there] });
  return { here, there };
}

/** Writes until the stream is asked, and once more. */
function fill(below: BelowSockets, here: Socket): { written: number; byStream: boolean } {
  const piece = Buffer.alloc(8_192, "x");
  let written = 0;
  for (let n = 0; n < 10_000; n += 1) {
    written += piece.length;
    if (below.write(here, piece) !== undefined) continue;
    here.write(piece);
    return { written, byStream: true };
  }
  return { written, byStream: false };
}

async function allOf(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

async function lengthOf(socket: Socket): Promise<number> {
  let length = 0;
  for await (const chunk of socket) length += (chunk as Uint8Array).length;
  return length;
}
