import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { connect as connectPlain, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import type { TlsConfig } from "@gateway/contract/config/listener.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import type { Connection } from "./connection.ts";
import { certificatePollMs } from "./limits.ts";
import { clientOf, configOf, listenerOf, readAll, stop } from "./rig/listener.ts";
import { certificateOf, type TestCertificate } from "./rig/certificate.ts";
import {
  certificateFault,
  loopbackOnly,
  mayTakeCredentials,
  openTls,
  plainAddress,
} from "./tls.ts";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

describe("certificateFault", () => {
  it("names the key of the file that can not be used, and finds nothing in a pair that can", async () => {
    const [{ tls }, other] = [await filesOf(), await filesOf()];
    const keyOfOther = { ...tls, keyFile: other.tls.keyFile };
    const noKey = { ...tls, keyFile: tls.certFile };
    const noAuthority = { ...tls, clientCaFile: "/nowhere/ca.pem" };
    const found = [tls, keyOfOther, noKey, noAuthority].map(
      (config) => certificateFault(config)?.field,
    );
    expect(found).toEqual([undefined, "keyFile", "keyFile", "clientCaFile"]);
  });
});

describe("upgrade", () => {
  it("goes on in TLS on a connection that began without, from the bytes already read on", async () => {
    const { tls, cert } = await filesOf();
    const { listener } = await listenerOf(configOf({ tls }), { onConnection: echoAfterRequest });
    const raw = await clientOf(listener.port);
    const secured = connectTls({ socket: await requested(raw), ca: cert, servername: "localhost" });
    await once(secured, "secureConnect");
    secured.write("over TLS");
    const [chunk] = (await once(secured, "data")) as [Buffer];
    expect(chunk.toString()).toBe("over TLS");
    secured.destroy();
    await stop(listener);
  });

  it("takes a handshake that comes right behind the request, in its packet or in the next", async () => {
    const { tls, cert } = await filesOf();
    const { listener } = await listenerOf(configOf({ tls }), { onConnection: silentAfterRequest });
    for (const corked of [true, false]) {
      const raw = await clientOf(listener.port);
      if (corked) raw.cork();
      raw.write("S");
      const secured = connectTls({ socket: raw, ca: cert, servername: "localhost" });
      if (corked) process.nextTick(() => raw.uncork());
      await once(secured, "secureConnect");
      secured.write("over TLS");
      const [chunk] = (await once(secured, "data")) as [Buffer];
      expect(chunk.toString()).toBe("over TLS");
      secured.destroy();
    }
    await stop(listener);
  });

  it("takes a handshake byte by byte, and large messages behind it", async () => {
    const { tls, cert } = await filesOf();
    const { listener } = await listenerOf(configOf({ tls }), { onConnection: echoAfterRequest });
    const raw = await requested(await clientOf(listener.port));
    raw.setNoDelay(true);
    const slow = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => void trickle(raw, chunk, done),
    });
    raw.on("data", (chunk: Buffer) => slow.push(chunk));
    const secured = connectTls({ socket: slow, ca: cert, servername: "localhost" });
    await once(secured, "secureConnect");
    const sent = randomBytes(300_000);
    secured.write(sent);
    const chunks: Buffer[] = [];
    for await (const chunk of secured) {
      chunks.push(chunk as Buffer);
      if (chunks.reduce((sum, { length }) => sum + length, 0) >= sent.length) break;
    }
    expect(Buffer.concat(chunks).equals(sent)).toBe(true);
    raw.destroy();
    await stop(listener);
  });

  it("answers undefined and closes when the other side does not speak TLS", async () => {
    const { tls } = await filesOf();
    const results: unknown[] = [];
    const { listener } = await listenerOf(configOf({ tls }), {
      onConnection: async (connection) => {
        results.push(await connection.upgrade());
      },
    });
    const client = await clientOf(listener.port);
    client.write("this is no handshake, whatever it may be");
    await readAll(client);
    expect(results).toEqual([undefined]);
    await stop(listener);
  });

  it("answers undefined when the client leaves in the handshake", async () => {
    const { tls } = await filesOf();
    const results: Promise<unknown>[] = [];
    const { listener } = await listenerOf(configOf({ tls }), {
      onConnection: (connection) => {
        results.push(connection.upgrade());
        client.destroy();
      },
    });
    const client = connectPlain(listener.port, "127.0.0.1");
    client.on("error", () => undefined);
    await new Promise<void>((resolve) => client.once("close", () => resolve()));
    expect(await Promise.all(results)).toEqual([undefined]);
    await stop(listener);
  });

  it("refuses versions below the configured one", async () => {
    const { tls, cert } = await filesOf({ minVersion: "1.3" });
    const { listener } = await listenerOf(configOf({ tls }), { onConnection: echoAtOnce });
    expect(await handshake(listener.port, { ca: cert, maxVersion: "TLSv1.2" })).toBe("refused");
    expect(await handshake(listener.port, { ca: cert })).toBe("answered");
    await stop(listener);
  });

  it("takes only client certificates of the configured authority", async () => {
    const authority = certificateOf("authority");
    const { tls, cert } = await filesOf({}, authority);
    const { listener } = await listenerOf(configOf({ tls }), { onConnection: echoAtOnce });
    const own = certificateOf("client", authority);
    const foreign = certificateOf("client", certificateOf("authority"));
    const attempt = (client?: TestCertificate) =>
      handshake(listener.port, { ca: cert, ...(client && { cert: client.cert, key: client.key }) });
    expect(await attempt(own)).toBe("answered");
    expect(await attempt(foreign)).toBe("refused");
    expect(await attempt()).toBe("refused");
    await stop(listener);
  });

  it("keeps two hundred handshakes at once apart", async () => {
    const { tls, cert } = await filesOf();
    const { listener } = await listenerOf(
      configOf({ tls, maxConnections: 500, maxConnectionsPerAddress: 500 }),
      {
        onConnection: echoAtOnce,
      },
    );
    const all = Array.from({ length: 200 }, () => handshake(listener.port, { ca: cert }));
    expect(new Set(await Promise.all(all))).toEqual(new Set(["answered"]));
    await stop(listener);
  });
});

describe("openTls", () => {
  it("takes new files without a restart, and keeps the old certificate when they are bad", async () => {
    const { tls, folder, cert } = await filesOf();
    const { listener, host } = await listenerOf(configOf({ tls }), { onConnection: echoAtOnce });
    const events = () => host.log.lines.map((line) => line.event);
    const polledUntil = async (event: string, count: number) => {
      while (events().filter((each) => each === event).length < count) {
        await host.advance(certificatePollMs);
      }
    };
    await until(() => host.timerCount > 0);

    await replace(folder, "key.pem", "no key at all");
    await polledUntil("tls.reloadFailed", 1);
    expect(await handshake(listener.port, { ca: cert })).toBe("answered");

    const renewed = certificateOf("renewed");
    await replace(folder, "cert.pem", renewed.cert);
    await replace(folder, "key.pem", renewed.key);
    await polledUntil("tls.reloaded", 1);
    expect(await handshake(listener.port, { ca: renewed.cert })).toBe("answered");
    expect(await handshake(listener.port, { ca: cert })).toBe("refused");
    await stop(listener);
  });

  it("names the files of a pair that does not fit together", async () => {
    const { tls, folder } = await filesOf();
    await replace(folder, "key.pem", certificateOf("other").key);
    const opened = openTls("postgresWire", tls, virtualHost(1));
    expect(opened).toMatchObject({
      ok: false,
      error: { kind: "postgresWire", reason: "certificate" },
    });
    expect(opened.ok ? "" : opened.error.detail).toContain("key.pem");
  });
});

describe("mayTakeCredentials", () => {
  it.each([
    [true, "0.0.0.0", false, true],
    [false, "0.0.0.0", false, false],
    [false, "0.0.0.0", true, true],
    [false, "127.0.0.1", false, true],
    [false, "::1", false, true],
  ])("secure %s on %s, allowCleartext %s: %s", (secure, host, allowCleartext, may) => {
    expect(mayTakeCredentials({ secure, config: { host, allowCleartext } })).toBe(may);
  });
});

describe("loopbackOnly", () => {
  it("knows the addresses that no other machine reaches", () => {
    const own = ["127.0.0.1", "127.9.9.9", "localhost", "::1", "[::1]", "::ffff:127.0.0.1"];
    expect(own.filter(loopbackOnly)).toEqual(own);
    const others = ["0.0.0.0", "::", "10.0.0.1", "127.evil.example", "localhost.example", ""];
    expect(others.filter(loopbackOnly)).toEqual([]);
  });
});

describe("plainAddress", () => {
  it("takes an IPv4 address out of IPv6 notation and leaves others alone", () => {
    expect(["::ffff:10.0.0.1", "::FFFF:10.0.0.1", "10.0.0.1", "::1"].map(plainAddress)).toEqual([
      "10.0.0.1",
      "10.0.0.1",
      "10.0.0.1",
      "::1",
    ]);
  });
});

async function filesOf(more: Partial<TlsConfig> = {}, clientAuthority?: TestCertificate) {
  const folder = await mkdtemp(join(tmpdir(), "gateway-tls-"));
  folders.push(folder);
  const { cert, key } = certificateOf("gateway");
  await writeFile(join(folder, "cert.pem"), cert);
  await writeFile(join(folder, "key.pem"), key);
  if (clientAuthority !== undefined) await writeFile(join(folder, "ca.pem"), clientAuthority.cert);
  const tls: TlsConfig = {
    certFile: join(folder, "cert.pem"),
    keyFile: join(folder, "key.pem"),
    ...(clientAuthority && { clientCaFile: join(folder, "ca.pem") }),
    minVersion: "1.2",
    ...more,
  };
  return { tls, folder, cert };
}

/** Puts a whole file in place of another, as certificate tools do. */
async function replace(folder: string, name: string, content: string): Promise<void> {
  await writeFile(join(folder, `${name}.new`), content);
  await rename(join(folder, `${name}.new`), join(folder, name));
}

async function echoAtOnce(connection: Connection): Promise<void> {
  const secured = await connection.upgrade();
  secured?.on("data", (chunk: Buffer) => void connection.send(chunk));
}

/** Takes one byte as the request and what came behind it as the start of the handshake. */
function silentAfterRequest(connection: Connection): void {
  connection.socket.on("data", (chunk: Buffer) => {
    connection.upgrade(Uint8Array.from(chunk.subarray(1))).then(
      (secured) => secured?.on("data", (more: Buffer) => void connection.send(more)),
      () => undefined,
    );
  });
}

/** Waits for one byte, answers it, and takes what came behind it as the start of the handshake. */
function echoAfterRequest(connection: Connection): void {
  connection.socket.once("data", (chunk: Buffer) => {
    void connection.send(chunk.subarray(0, 1));
    connection.upgrade(chunk.subarray(1)).then(
      (secured) => secured?.on("data", (more: Buffer) => void connection.send(more)),
      () => undefined,
    );
  });
}

async function requested(raw: Socket): Promise<Socket> {
  raw.write("S");
  await once(raw, "data");
  return raw;
}

/** One exchange over TLS. */
function handshake(port: number, options: ConnectionOptions): Promise<"answered" | "refused"> {
  return new Promise((resolve) => {
    const client: TLSSocket = connectTls({
      port,
      host: "127.0.0.1",
      servername: "localhost",
      ...options,
    });
    const settle = (result: "answered" | "refused") => {
      client.destroy();
      resolve(result);
    };
    client.on("error", () => settle("refused"));
    client.on("close", () => settle("refused"));
    client.on("data", () => settle("answered"));
    client.write("hello");
  });
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setImmediate(resolve));
}

/** The first bytes one by one, the rest as it comes. */
async function trickle(socket: Socket, bytes: Buffer, done: () => void): Promise<void> {
  const first = Math.min(bytes.length, 40);
  for (let at = 0; at < first; at += 1) {
    socket.write(bytes.subarray(at, at + 1));
    await turn();
  }
  socket.write(bytes.subarray(first));
  done();
}
