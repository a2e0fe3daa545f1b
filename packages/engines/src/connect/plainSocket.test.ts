import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { seededRandom } from "@gateway/core/rig/virtual.ts";
import { giveBack } from "@gateway/core/tool/socket/lent.ts";
import { connectPlain } from "./plainSocket.ts";

const opened: { destroy(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.destroy();
});

describe("a plain socket", () => {
  it("hands over every byte in order, in pieces of any size, to one who pauses", async () => {
    const { client, server } = await pair();
    const sent = bytesByChance(3_000_000);
    const got: Buffer[] = [];
    let pieces = 0;
    client.on("data", (bytes: Buffer) => {
      got.push(bytes);
      pieces += 1;
      if (pieces % 7 !== 0) return;
      client.pause();
      setImmediate(() => client.resume());
    });
    for (let at = 0; at < sent.length;) {
      const next = at + (at % 3 === 0 ? 17 : 90_001);
      if (!server.write(sent.subarray(at, next))) await once(server, "drain");
      at = next;
    }
    server.end();
    await once(client, "end");
    // Pieces stay what they were: none lies in a buffer that is read into again.
    expect(Buffer.concat(got).equals(sent)).toBe(true);
  });

  it("reads again into what was given back, and into nothing else", async () => {
    const { client, server } = await pair();
    const random = seededRandom(2);
    const sent = bytesByChance(8_000_000);
    const held: { readonly bytes: Buffer; readonly at: number }[] = [];
    const memory = new Set<ArrayBufferLike>();
    let at = 0;
    let wrong = 0;
    client.on("data", (bytes: Buffer) => {
      memory.add(bytes.buffer);
      held.push({ bytes, at });
      at += bytes.length;
      while (held.length > random() * 4) {
        const index = Math.floor(random() * held.length);
        for (const one of held.splice(index, 1)) {
          if (one.bytes.compare(sent, one.at, one.at + one.bytes.length) !== 0) wrong += 1;
          if (random() < 0.9) giveBack(one.bytes);
        }
      }
    });
    server.end(sent);
    await once(client, "end");
    expect({ at, wrong }).toEqual({ at: sent.length, wrong: 0 });
    expect(memory.size).toBeLessThan(sent.length / 64 / 1024 / 2);
  });

  it("lets others have their turn within a large result", async () => {
    const { client, server } = await pair();
    const sent = Buffer.alloc(40_000_000);
    let [bytes, most] = [0, 0];
    client.on("data", (piece: Buffer) => {
      if (bytes === 0) {
        setImmediate(() => {
          bytes = 0;
        });
      }
      bytes += piece.length;
      most = Math.max(most, bytes);
      giveBack(piece);
    });
    server.end(sent);
    await once(client, "end");
    expect(most).toBeLessThanOrEqual(2 * 1024 * 1024);
  });

  it("keeps what comes before anybody listens, and tells it before what comes later", async () => {
    const { client, server } = await pair();
    server.write("early ");
    await once(client, "readable");
    client.removeAllListeners("readable");
    const got: string[] = [];
    client.on("data", (bytes: Buffer) => got.push(bytes.toString()));
    client.resume();
    server.end("late");
    await once(client, "end");
    expect(got.join("")).toBe("early late");
  });

  it("reads of the address that answered where the first ones did not", async () => {
    const { port } = await listening();
    const client = connectPlain({
      host: "several.example",
      port,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: 50,
      lookup: (_name, _options, found) =>
        found(null, [
          { address: "::1", family: 6 },
          { address: "127.0.0.1", family: 4 },
        ]),
    });
    opened.push(client);
    client.write("echo");
    const [bytes] = (await once(client, "data")) as [Buffer];
    expect(bytes.toString()).toBe("echo");
  });
});

/** Echoes what it gets first. */
async function listening() {
  const server = createServer((socket) => {
    opened.push(socket);
    socket.once("data", (bytes) => socket.write(bytes));
  }).listen(0, "127.0.0.1");
  opened.push({ destroy: () => server.close() });
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

async function pair(): Promise<{ readonly client: Socket; readonly server: Socket }> {
  const { server: listener, port } = await listening();
  listener.removeAllListeners("connection");
  const accepted = once(listener, "connection") as Promise<[Socket]>;
  const client = connectPlain({ host: "127.0.0.1", port });
  opened.push(client);
  const [server] = await accepted;
  opened.push(server);
  return { client, server };
}

function bytesByChance(count: number): Buffer {
  const chance = seededRandom(1);
  return Buffer.from(Uint8Array.from({ length: count }, () => chance() * 256));
}
