/**
 * Attack 7: somebody on the way puts bytes of their own in clear behind a client's request for TLS, so that they count as
 * said by whoever logs in afterwards. The same bytes in turn, within TLS, are served.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { certificateOf } from "@gateway/frontends/listener/rig/certificate.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";

const host = "127.0.0.1";
const certificate = certificateOf("localhost");
let folder: string;
let gateway: TestGateway;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "before-tls-"));
  const tls = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
  writeFileSync(tls.certFile, certificate.cert);
  writeFileSync(tls.keyFile, certificate.key);
  gateway = await gatewayOf(configOf({}, { tls }));
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** What a client says: the request for TLS, and what it says within. */
interface Said {
  readonly kind: string;
  /** The server speaks first. */
  readonly greets: boolean;
  readonly request: Buffer;
  readonly within: Buffer;
  /** All that is answered to bytes in clear. */
  readonly ends: RegExp;
}

const wires: readonly Said[] = [
  {
    kind: "postgresWire",
    greets: false,
    request: Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]),
    within: Buffer.concat([
      counted(Buffer.from("\0\u0003\0\0user\0mallory\0\0", "latin1")),
      Buffer.from("Q"),
      counted(Buffer.from("select 4711\0")),
      Buffer.from("X\0\0\0\u0004", "latin1"),
    ]),
    ends: /^E[^]{4}SFATAL\0[^]*C08P01/,
  },
  {
    kind: "mysqlWire",
    greets: true,
    request: packet(1, loginHead()),
    within: Buffer.concat([
      packet(2, Buffer.concat([loginHead(), Buffer.from("mallory\0\0mysql_native_password\0")])),
      packet(0, Buffer.from("\u0003select 4711")),
      packet(0, Buffer.from([1])),
    ]),
    // It is no beginning of TLS.
    ends: /^$/,
  },
];

describe.each(wires)("what is said over $kind", ({ kind, greets, request, within, ends }) => {
  it("is served within TLS", async () => {
    const socket = await opened(kind, greets);
    socket.write(request);
    if (!greets) await once(socket, "data");
    const secured = connectTls({ socket, ca: certificate.cert, servername: "localhost" });
    await once(secured, "secureConnect");
    secured.write(within);
    expect(await untilClosed(secured)).toContain("4711");
  });

  it("counts for nothing in clear behind the request for it, and ends the connection", async () => {
    const socket = await opened(kind, greets);
    socket.write(Buffer.concat([request, within]));
    const answer = await untilClosed(socket);
    expect(answer).not.toContain("4711");
    expect(answer).toMatch(ends);
  });
});

async function opened(kind: string, greets: boolean): Promise<Socket> {
  const socket = connect(portOf(gateway, kind), host);
  await once(socket, greets ? "data" : "connect");
  return socket;
}

function untilClosed(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    socket.on("data", (part: Buffer) => {
      text += part.toString("latin1");
    });
    socket.on("error", () => {});
    socket.once("close", () => resolve(text));
  });
}

/** What it holds and its length, which counts itself. */
function counted(body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  return Buffer.concat([length, body]);
}

function packet(number: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([body.length, 0, 0, number]), body]);
}

/** Of MySQL's login and its request for TLS: what the client can do, its largest packet and its character set. */
function loginHead(): Buffer {
  const head = Buffer.alloc(32);
  head.writeUInt32LE(0x00_08_8a_00);
  head.writeUInt32LE(1 << 24, 4);
  head.writeUInt8(255, 8);
  return head;
}
