/**
 * TLS of a listener: the certificate, its reload when a file changes, and which connections may
 * carry credentials. Handshakes begin in-band (PostgreSQL, MySQL) or with the first byte (HTTP);
 * both come here with a plain socket.
 */
import { readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { isIP, type Socket } from "node:net";
import { createSecureContext, createServer, type Server, type TLSSocket } from "node:tls";
import type { ListenerConfig, TlsConfig } from "@gateway/contract/config/listener.ts";
import type { ListenError } from "@gateway/core/port/frontend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { remembered } from "@gateway/core/sql/reading/remembered.ts";
import { certificatePollMs, handshakeMsMax } from "./limits.ts";

/** A loaded certificate, whose files are watched until it is disposed. */
export interface TlsServer extends Disposable {
  /** Does the handshake on a plain socket. Undefined when it failed; the socket is then closed. */
  secure(raw: Socket): Promise<TLSSocket | undefined>;
}

/** Loads the files of `config`. `kind` names the listener in the error and in the log, `protocol` what it speaks (ALPN). */
export function openTls(
  kind: string,
  config: TlsConfig,
  host: Host,
  protocol?: string,
): Result<TlsServer, ListenError> {
  const loaded = loadContext(config);
  if (!loaded.ok) return err({ kind, reason: "certificate", detail: detailOf(loaded.error) });
  const server = createServer({
    ...loaded.value,
    // The library verifies client certificates only on sockets that its own server has made.
    requestCert: config.clientCaFile !== undefined,
    rejectUnauthorized: config.clientCaFile !== undefined,
    ...(protocol === undefined ? {} : { ALPNProtocols: [protocol] }),
    handshakeTimeout: handshakeMsMax,
  });
  const watch = watchFiles(filesOf(config), host, () => reload(server, kind, config, host));
  return ok({ secure: handshakes(server), [Symbol.dispose]: () => watch[Symbol.dispose]() });
}

/** A file that can not be used: by which key the config names it, its path, and what the system or OpenSSL said. */
export interface CertificateFault {
  readonly field: "certFile" | "keyFile" | "clientCaFile";
  readonly file: string;
  readonly code: string;
}

/** Why a listener could not serve with these files; undefined when it could. Nothing is opened. */
export function certificateFault(config: TlsConfig): CertificateFault | undefined {
  const loaded = loadContext(config);
  return loaded.ok ? undefined : loaded.error;
}

function detailOf({ field, file, code }: CertificateFault): string {
  return `tls.${field} ${file}: ${code}`;
}

/** True when the address can be reached from this machine only. Each request asks of its listener's. */
export const loopbackOnly = remembered(
  (host) => {
    const address = plainAddress(host.replace(/^\[|\]$/g, ""));
    if (address.toLowerCase() === "localhost" || address === "::1") return true;
    return isIP(address) === 4 && address.startsWith("127.");
  },
  { textsMax: 100, lengthMax: 300 },
);

/** True when the connection, as it is now, may carry a password or token. */
export function mayTakeCredentials(connection: {
  readonly secure: boolean;
  readonly config: Pick<ListenerConfig, "host" | "allowCleartext">;
}): boolean {
  const { config } = connection;
  return connection.secure || config.allowCleartext || loopbackOnly(config.host);
}

/** The address, without the IPv6 prefix of an IPv4 address. */
export function plainAddress(address: string): string {
  const inner = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  return inner ?? address;
}

interface ContextOptions {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca?: Buffer;
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
}

/** Reads and checks the files, one by one and then together. */
function loadContext(config: TlsConfig): Result<ContextOptions, CertificateFault> {
  const read = new Map<CertificateFault["field"], Buffer>();
  for (const field of ["certFile", "keyFile", "clientCaFile"] as const) {
    const file = config[field];
    if (file === undefined) continue;
    try {
      read.set(field, readFileSync(file));
      createSecureContext({ [optionOf[field]]: read.get(field) });
    } catch (error) {
      return err({ field, file, code: codeOf(error) });
    }
  }
  const { certFile: cert, keyFile: key, clientCaFile: ca } = Object.fromEntries(read);
  const options: ContextOptions = {
    cert: cert ?? Buffer.alloc(0),
    key: key ?? Buffer.alloc(0),
    ...(ca === undefined ? {} : { ca }),
    minVersion: config.minVersion === "1.3" ? "TLSv1.3" : "TLSv1.2",
  };
  try {
    createSecureContext(options);
    return ok(options);
  } catch (error) {
    // Each can be read: the key is that of another certificate.
    return err({ field: "keyFile", file: config.keyFile, code: codeOf(error) });
  }
}

const optionOf = { certFile: "cert", keyFile: "key", clientCaFile: "ca" } as const;

function filesOf(config: TlsConfig): readonly string[] {
  const { certFile, keyFile, clientCaFile } = config;
  return clientCaFile === undefined ? [certFile, keyFile] : [certFile, keyFile, clientCaFile];
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unusable";
}

function reload(server: Server, kind: string, config: TlsConfig, host: Host): void {
  const loaded = loadContext(config);
  if (!loaded.ok) {
    host.log.write("warn", "tls.reloadFailed", { listener: kind, detail: detailOf(loaded.error) });
    return;
  }
  server.setSecureContext(loaded.value);
  host.log.write("info", "tls.reloaded", { listener: kind });
}

/**
 * Hands sockets to a server that listens nowhere. It answers with a new socket and does not say for which one;
 * the peer's address and port show that.
 */
function handshakes(server: Server): TlsServer["secure"] {
  const waiting = new Map<string, (secured: TLSSocket) => void>();
  server.on("secureConnection", (secured) => {
    const settle = waiting.get(peerOf(secured));
    if (settle === undefined) secured.destroy();
    else settle(secured);
  });
  // Without this listener a failed handshake would throw its error.
  server.on("tlsClientError", (_error, secured) => secured.destroy());

  return (raw) =>
    new Promise((resolve) => {
      const peer = peerOf(raw);
      const gone = () => {
        waiting.delete(peer);
        resolve(undefined);
      };
      waiting.set(peer, (secured) => {
        waiting.delete(peer);
        raw.off("close", gone);
        resolve(secured);
      });
      raw.once("close", gone);
      if (raw.destroyed) gone();
      else withFirstBytes(raw, () => server.emit("connection", raw));
    });
}

/**
 * The library keeps the buffer of its first read as long as the connection lives: 64 KiB, or only the bytes that
 * were read already. So we read the client's first bytes here and hand them over.
 */
function withFirstBytes(raw: Socket, begin: () => void): void {
  if (raw.readableLength > 0) return begin();
  raw.once("data", (chunk: Buffer) => {
    raw.pause();
    raw.unshift(chunk);
    begin();
  });
  raw.resume();
}

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress ?? ""} ${socket.remotePort ?? ""} ${socket.localPort ?? ""}`;
}

/** Calls `onChange` once files changed and then rested for one interval: a pair is written one file after the other. */
function watchFiles(files: readonly string[], host: Host, onChange: () => void): Disposable {
  let timer: Disposable | undefined;
  let stopped = false;
  let loaded: string | undefined;
  let seen: string | undefined;

  const look = async (): Promise<void> => {
    const now = (await Promise.all(files.map(stampOf))).join(" ");
    if (stopped) return;
    loaded ??= now;
    if (now !== loaded && now === seen) {
      loaded = now;
      onChange();
    }
    seen = now;
    timer = host.clock.timer(certificatePollMs, again);
  };
  const again = (): void => {
    look().catch((error: unknown) => host.log.bug(error));
  };
  again();
  return {
    [Symbol.dispose]: () => {
      stopped = true;
      timer?.[Symbol.dispose]();
    },
  };
}

/** Changes whenever the file's content does, also when a link points to another file. */
async function stampOf(file: string): Promise<string> {
  try {
    const found = await stat(file);
    return `${found.ino}:${found.size}:${found.mtimeMs}`;
  } catch {
    return "missing";
  }
}
