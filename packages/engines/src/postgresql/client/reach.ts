/** The way to a server: a socket past the limits on outgoing connections, and TLS on it where the cluster has it. */
import { createHash } from "node:crypto";
import { connect as connectSocket, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { HostPort } from "@gateway/contract/config/server.ts";
import { egressRefused } from "@gateway/core/port/egress.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { ByteWriter } from "@gateway/wire/postgres/bytes.ts";
import { writeSslRequest } from "@gateway/wire/postgres/client.ts";
import { connectPlain } from "../../connect/plainSocket.ts";
import type { ServerTls } from "../../connect/tls.ts";

/** Where a server is, and how it is reached. */
export interface Server extends HostPort {
  /** Undefined: without TLS. */
  readonly tls: ServerTls | undefined;
  readonly connectTimeoutMs: number;
}

/** A connection to a server, encrypted where it has to be. Whoever has it closes it. */
export interface Reached {
  readonly stream: Duplex;
  /** What a login by SCRAM can be bound to; undefined without TLS, or where the certificate names no hash. */
  readonly binding: Uint8Array | undefined;
}

/** Connects. Throws with the reason's code; `socket` is told at once, so that the caller can end the wait. */
export async function reach(
  server: Server,
  { egress }: Pick<Host, "egress">,
  told: (socket: Socket) => void,
): Promise<Reached> {
  const { host, port, tls } = server;
  if (egress.refusesHost(host)) throw egressRefused();
  const { lookup } = egress;
  const connectTo = tls === undefined ? connectPlain : connectSocket;
  const socket = connectTo({ host, port, noDelay: true, ...(lookup && { lookup }) });
  // A socket whose error nobody hears ends the process.
  socket.on("error", nothing);
  told(socket);
  await once(socket, "connect");
  socket.setKeepAlive(true, keepAliveMs);
  if (tls === undefined) return { stream: socket, binding: undefined };
  const out = new ByteWriter();
  writeSslRequest(out);
  socket.write(out.take());
  const answer = await firstByte(socket);
  if (answer !== sslAccepted) throw reasonOf("GATEWAY_NO_TLS");
  const name = tls.servername ?? host;
  const secured = connectTls({
    socket,
    host: name,
    ...(isIP(name) === 0 ? { servername: name } : {}),
    minVersion: tls.minVersion,
    rejectUnauthorized: true,
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls.key === undefined ? {} : { key: tls.key }),
  });
  secured.on("error", nothing);
  await once(secured, "secureConnect");
  return { stream: secured, binding: serverEndPoint(secured) };
}

const keepAliveMs = 30_000;
const sslAccepted = 0x53;

/** Exactly one byte may come before the handshake: whatever is behind it was sent by somebody in between. */
async function firstByte(socket: Socket): Promise<number | undefined> {
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    socket.once("data", (chunk: Buffer) => {
      socket.pause();
      resolve(chunk);
    });
    socket.once("close", () => reject(reasonOf("ECONNRESET")));
  });
  if (bytes.length !== 1) throw reasonOf("GATEWAY_BYTES_IN_CLEAR");
  return bytes[0];
}

function once(stream: Duplex, event: "connect" | "secureConnect"): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (failure?: Error): void => {
      stream.off("error", settle);
      stream.off("close", closed);
      if (failure === undefined) resolve();
      else reject(failure);
    };
    const closed = (): void => settle(reasonOf("ECONNRESET"));
    stream.once("error", settle);
    stream.once("close", closed);
    stream.once(event, () => settle());
  });
}

function reasonOf(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function nothing(): void {}

/**
 * The channel binding `tls-server-end-point` (RFC 5929 §4.1): the server's certificate under the hash of its own
 * signature, SHA-256 where that is MD5 or SHA-1. Undefined where the signature names no hash.
 */
function serverEndPoint(socket: TLSSocket): Uint8Array | undefined {
  const certificate = socket.getPeerX509Certificate()?.raw;
  const hash =
    certificate === undefined ? undefined : signatureHashes.get(signatureOf(certificate));
  if (certificate === undefined || hash === undefined) return undefined;
  return createHash(hash).update(certificate).digest();
}

/** The hash of each signature, by the signature's object identifier in hex. */
const signatureHashes: ReadonlyMap<string, string> = new Map([
  ["2a864886f70d010104", "sha256"],
  ["2a864886f70d010105", "sha256"],
  ["2a864886f70d01010b", "sha256"],
  ["2a864886f70d01010c", "sha384"],
  ["2a864886f70d01010d", "sha512"],
  ["2a8648ce3d0401", "sha256"],
  ["2a8648ce3d040302", "sha256"],
  ["2a8648ce3d040303", "sha384"],
  ["2a8648ce3d040304", "sha512"],
]);

/** `Certificate ::= SEQUENCE { tbsCertificate, signatureAlgorithm SEQUENCE { OID … }, … }` (RFC 5280 §4.1). */
function signatureOf(certificate: Buffer): string {
  const outer = headOf(certificate, 0);
  const signed = headOf(certificate, outer.from);
  const algorithm = headOf(certificate, signed.to);
  const identifier = headOf(certificate, algorithm.from);
  return certificate.subarray(identifier.from, identifier.to).toString("hex");
}

/** Where the content of the DER element at `at` begins and ends. The library has parsed it before. */
function headOf(der: Buffer, at: number): { readonly from: number; readonly to: number } {
  const first = der[at + 1] ?? 0;
  if (first < 0x80) return { from: at + 2, to: at + 2 + first };
  const count = Math.min(first & 0x7f, 4);
  const length = count === 0 ? 0 : der.readUIntBE(at + 2, count);
  return { from: at + 2 + count, to: at + 2 + count + length };
}
