import { once } from "node:events";
import { connect, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { openListener } from "./accept.ts";
import type { Connection } from "./connection.ts";
import { handshakeMsMax, judgementMsMax, lingerMsMax } from "./limits.ts";
import { clientOf, configOf, listenerOf, readAll, stop } from "./rig/listener.ts";

describe("openListener", () => {
  it("binds a free port for 0 and says which", async () => {
    const { listener } = await listenerOf(configOf(), { onConnection: (c) => c.end() });
    expect(listener.port).toBeGreaterThan(0);
    expect(await readAll(await clientOf(listener.port))).toBe("");
    await stop(listener);
  });

  it("answers a port in use with the address and the system's code", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const address = taken.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    expect(await failureOf(configOf({ port }))).toEqual({
      kind: "test",
      reason: "portInUse",
      detail: `127.0.0.1:${port} EADDRINUSE`,
    });
    taken.close();
  });

  it("answers an address that is not this machine's", async () => {
    expect((await failureOf(configOf({ host: "192.0.2.1" }))).reason).toBe("addressUnavailable");
  });

  it("answers a certificate that can not be read, and binds nothing", async () => {
    const tls = {
      certFile: "/nowhere/cert.pem",
      keyFile: "/nowhere/key.pem",
      minVersion: "1.2",
    } as const;
    expect(await failureOf(configOf({ tls }))).toEqual({
      kind: "test",
      reason: "certificate",
      detail: "tls.certFile /nowhere/cert.pem: ENOENT",
    });
  });

  it("refuses a client over the cap in the protocol's words, and takes one again when one has left", async () => {
    const { connections, onConnection, next } = collector();
    const { listener } = await listenerOf(configOf({ maxConnections: 1 }), {
      onConnection,
      onRefused: (socket, error) => void socket.write(error.code),
    });
    const first = await clientOf(listener.port);
    await next();
    expect(await readAll(await clientOf(listener.port))).toBe("connection.limit");
    const left = once(connections[0]?.closed ?? new EventTarget(), "abort");
    first.destroy();
    await left;
    await clientOf(listener.port);
    await next();
    expect(connections).toHaveLength(2);
    await stop(listener);
  });

  it("counts connections by client address", async () => {
    const { connections, onConnection, next } = collector();
    const { listener } = await listenerOf(configOf({ maxConnectionsPerAddress: 1 }), {
      onConnection,
    });
    await clientOf(listener.port, "127.0.0.1");
    await next();
    expect(await readAll(await clientOf(listener.port, "127.0.0.1"))).toBe("");
    await clientOf(listener.port, "127.0.0.2");
    await next();
    expect(connections.map((connection) => connection.address)).toEqual(["127.0.0.1", "127.0.0.2"]);
    await stop(listener);
  });

  it("logs a throw or rejection of its handler as a bug and cuts that client off", async () => {
    const failures = [
      () => {
        throw new Error("first");
      },
      () => Promise.reject(new Error("second")),
    ];
    const { listener, host } = await listenerOf(configOf(), {
      onConnection: () => failures.shift()?.(),
    });
    await readAll(await clientOf(listener.port));
    await readAll(await clientOf(listener.port));
    expect(host.log.bugs.map(String)).toEqual(["Error: first", "Error: second"]);
    await stop(listener);
  });
});

describe("PROXY protocol", () => {
  it("takes the address from the header and hands the rest of the packet on", async () => {
    const { connections, onConnection, next } = collector();
    const { listener } = await listenerOf(configOf({ proxyProtocol: true }), { onConnection });
    const client = await clientOf(listener.port);
    client.write("PROXY TCP4 203.0.113.9 ");
    client.write("192.0.2.2 56324 443\r\nhello");
    await next();
    const [connection] = connections;
    const [chunk] = (await once(connection?.socket ?? client, "data")) as [Buffer];
    expect([connection?.address, chunk.toString()]).toEqual(["203.0.113.9", "hello"]);
    await stop(listener);
  });

  it("closes a connection without a header, and one whose header does not come in time", async () => {
    const { onConnection } = collector();
    const { listener, host } = await listenerOf(configOf({ proxyProtocol: true }), {
      onConnection,
    });
    const liar = await clientOf(listener.port);
    liar.write("GET / HTTP/1.1\r\n\r\n");
    expect(await readAll(liar)).toBe("");
    const silent = await clientOf(listener.port);
    silent.write("PROXY ");
    const closed = readAll(silent);
    await until(() => host.timerCount > 0);
    await host.advance(handshakeMsMax);
    expect(await closed).toBe("");
    expect(listener.connections.size).toBe(0);
    await stop(listener);
  });

  it("counts clients by the address in the header", async () => {
    const { onConnection, next } = collector();
    const config = configOf({ proxyProtocol: true, maxConnectionsPerAddress: 1 });
    const { listener } = await listenerOf(config, {
      onConnection,
      onRefused: (socket, error) => void socket.write(error.code),
    });
    const header = "PROXY TCP4 203.0.113.9 192.0.2.2 1 2\r\n";
    (await clientOf(listener.port)).write(header);
    await next();
    const second = await clientOf(listener.port);
    second.write(header);
    expect(await readAll(second)).toBe("connection.limit");
    await stop(listener);
  });
});

describe("Connection", () => {
  it("is cut off when the client has not identified itself in time", async () => {
    const { onConnection, next } = collector();
    const { listener, host } = await listenerOf(configOf(), { onConnection });
    const client = await clientOf(listener.port);
    await next();
    await host.advance(handshakeMsMax);
    expect(await readAll(client)).toBe("");
    await stop(listener);
  });

  it("stays longer when the client has shown its credential and waits for us, and not for ever", async () => {
    const { connections, onConnection, next } = collector();
    const { listener, host } = await listenerOf(configOf(), { onConnection });
    const client = await clientOf(listener.port);
    await next();
    await host.advance(handshakeMsMax - 1);
    connections[0]?.credentialShown();
    await host.advance(judgementMsMax - 1);
    await connections[0]?.send(Buffer.from("still here"));
    const [chunk] = (await once(client, "data")) as [Buffer];
    expect(chunk.toString()).toBe("still here");
    await host.advance(1);
    expect(await readAll(client)).toBe("");
    await stop(listener);
  });

  it("stays when the client has", async () => {
    const { connections, onConnection, next } = collector();
    const { listener, host } = await listenerOf(configOf(), { onConnection });
    const client = await clientOf(listener.port);
    await next();
    connections[0]?.handshakeDone();
    await host.advance(handshakeMsMax * 10);
    await connections[0]?.send(Buffer.from("still here"));
    const [chunk] = (await once(client, "data")) as [Buffer];
    expect(chunk.toString()).toBe("still here");
    await stop(listener);
  });

  it.each([
    ["ends its half", (client: { end(): void }) => client.end()],
    ["is cut off", (client: { resetAndDestroy(): void }) => client.resetAndDestroy()],
  ])(
    "tells at once that a client %s, while something else is being waited for",
    async (_how, leave) => {
      const { connections, onConnection, next } = collector();
      const { listener } = await listenerOf(configOf(), { onConnection });
      const client = await clientOf(listener.port);
      await next();
      const [connection] = connections;
      connection?.socket.resume();
      const gone = once(connection?.closed ?? new EventTarget(), "abort");
      leave(client);
      await gone;
      expect(connection?.closed.aborted).toBe(true);
      await stop(listener);
    },
  );

  it("makes the sender wait for a client that does not read, and lets it go when the client leaves", async () => {
    const { connections, onConnection, next } = collector();
    const { listener } = await listenerOf(configOf(), { onConnection });
    const client = await clientOf(listener.port);
    await next();
    client.pause();
    let waiting: Promise<void> | undefined;
    for (let count = 0; waiting === undefined && count < 1000; count += 1) {
      waiting = connections[0]?.send(new Uint8Array(1 << 20));
    }
    expect(waiting).toBeDefined();
    client.destroy();
    await waiting;
    expect(connections[0]?.send(new Uint8Array(1))).toBeUndefined();
    await stop(listener);
  });

  it("has let go of a buffer once send says so", async () => {
    const { connections, onConnection, next } = collector();
    const { listener } = await listenerOf(configOf(), { onConnection });
    const client = await clientOf(listener.port);
    await next();
    const received = readAll(client);
    const buffer = Buffer.alloc(1 << 16);
    for (let count = 0; count < 200; count += 1) {
      buffer.fill(count);
      await connections[0]?.send(buffer);
    }
    connections[0]?.end();
    const bytes = Buffer.from(await received, "latin1");
    expect(bytes.length).toBe(200 << 16);
    for (let count = 0; count < 200; count += 1) {
      const part = bytes.subarray(count << 16, (count + 1) << 16);
      expect(part.every((byte) => byte === count)).toBe(true);
    }
    await stop(listener);
  });

  it("closes behind its last bytes, and cuts off a client that does not take them", async () => {
    const { connections, onConnection, next } = collector();
    const { listener, host } = await listenerOf(configOf(), { onConnection });
    const polite = await clientOf(listener.port);
    await next();
    polite.write("unread bytes");
    void connections[0]?.send(Buffer.from("goodbye"));
    connections[0]?.end();
    expect(await readAll(polite)).toBe("goodbye");
    const deaf = await clientOf(listener.port);
    await next();
    deaf.pause();
    while (connections[1]?.send(new Uint8Array(1 << 20)) === undefined);
    connections[1]?.end();
    const gone = once(connections[1]?.closed ?? new EventTarget(), "abort");
    await host.advance(lingerMsMax);
    await gone;
    expect(connections[1]?.closed.aborted).toBe(true);
    await stop(listener);
  });
});

describe("drain", () => {
  it("closes idle connections with a goodbye, lets busy ones finish, and refuses new ones", async () => {
    const { connections, onConnection, next } = collector();
    const { listener } = await listenerOf(configOf(), {
      onConnection,
      onDrain: (connection) => void connection.send(Buffer.from("bye")),
    });
    const [idle, busy] = [await clientOf(listener.port), await clientOf(listener.port)];
    await next();
    await next();
    for (const connection of connections) connection.handshakeDone();
    connections[0]?.idle(true);
    const { port } = listener;
    const drained = listener.drain(new AbortController().signal);
    expect(await readAll(idle)).toBe("bye");
    expect(connections[1]?.draining).toBe(true);
    const refused = connect(port, "127.0.0.1");
    const [error] = (await once(refused, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ECONNREFUSED");
    await connections[1]?.send(Buffer.from("answer "));
    connections[1]?.idle(true);
    expect(await readAll(busy)).toBe("answer bye");
    await drained;
    expect(listener.connections.size).toBe(0);
  });

  it("cuts off what is left at the deadline, also one given by a later call", async () => {
    const { connections, onConnection, next } = collector();
    const { listener } = await listenerOf(configOf(), { onConnection });
    const client = await clientOf(listener.port);
    await next();
    connections[0]?.handshakeDone();
    const first = listener.drain(new AbortController().signal);
    const deadline = new AbortController();
    const second = listener.drain(deadline.signal);
    deadline.abort();
    expect(await readAll(client)).toBe("");
    await Promise.all([first, second]);
  });

  it("does not wait for clients that have not identified themselves", async () => {
    const { onConnection, next } = collector();
    const { listener } = await listenerOf(configOf(), { onConnection });
    const client = await clientOf(listener.port);
    await next();
    const drained = listener.drain(new AbortController().signal);
    expect(await readAll(client)).toBe("");
    await drained;
  });
});

/** Connections in the order they came, and a wait for the next one. */
function collector() {
  const connections: Connection[] = [];
  const arrived: Connection[] = [];
  const waiting: (() => void)[] = [];
  return {
    connections,
    onConnection: (connection: Connection) => {
      connections.push(connection);
      arrived.push(connection);
      waiting.shift()?.();
    },
    next: async () => {
      while (arrived.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      arrived.shift();
    },
  };
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setImmediate(resolve));
}

async function failureOf(config: ReturnType<typeof configOf>) {
  const opened = await openListener({
    kind: "test",
    config,
    host: virtualHost(1),
    onConnection: () => undefined,
  });
  if (opened.ok) throw new Error("it opened");
  return opened.error;
}
