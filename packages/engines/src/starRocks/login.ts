/**
 * Logging in with mysql2, which knows the handshake, TLS and every way of proving a password; the
 * bytes of results are read here, because an object per cell is what a relay can not afford.
 */
import { connect as connectSocket } from "node:net";
import type { Duplex } from "node:stream";
import type { ClusterAuthOf } from "@gateway/contract/config/cluster.ts";
import { secretText } from "@gateway/contract/config/secret.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { createConnection, type Connection, type ConnectionOptions } from "mysql2";
import { guardedLookup, refused, refusesHost } from "../connect/lookup.ts";
import type { TlsTrust } from "../connect/tls.ts";

export interface LoginOptions {
  readonly host: string;
  readonly port: number;
  readonly auth: ClusterAuthOf<"basic"> | undefined;
  readonly database: string | undefined;
  /** Undefined: without TLS. */
  readonly tls: TlsTrust | undefined;
  readonly connectTimeoutMs: number;
}

/** A connection that is logged in. */
export interface LoggedIn {
  readonly driver: Connection;
  /** The server's id of the connection, for KILL. */
  readonly threadId: number;
  /** Where bytes come and go: the TLS socket where there is one. */
  readonly stream: Duplex;
  /** Hands bytes to the driver, for what it reads itself. */
  readonly feed: (bytes: Buffer) => void;
  /** The server ends a result with an OK packet in the place of EOF. */
  readonly endsWithOk: boolean;
}

/** What mysql2 has and its declarations do not show. */
interface Inside {
  readonly stream: Duplex;
  readonly packetParser: { execute(bytes: Buffer): void };
  readonly config: { readonly clientFlags: number };
  readonly serverCapabilityFlags: number;
}

const deprecateEof = 1 << 24;

/** Refuses with `cluster.connectFailed`; the detail is a code and never a server's text. */
export async function logIn(
  options: LoginOptions,
  host: Pick<Host, "egress" | "clock">,
): Promise<Result<LoggedIn, GatewayError>> {
  if (refusesHost(host.egress, options.host)) return err(failed(refused()));
  const socket = connectSocket({
    host: options.host,
    port: options.port,
    lookup: guardedLookup(host.egress),
    noDelay: true,
  });
  // A socket whose error nobody hears ends the process.
  socket.on("error", nothing);
  const driver = createConnection({ ...settings(options), stream: socket });
  driver.on("error", nothing);
  using _limit = host.clock.timer(options.connectTimeoutMs, () => socket.destroy(timedOut()));
  const failure = await new Promise<Error | undefined>((resolve) => {
    driver.connect((error) => resolve(error ?? undefined));
    socket.once("close", () => resolve(timedOut()));
  });
  if (failure !== undefined) {
    socket.destroy();
    return err(failed(failure));
  }
  return ok(takenOver(driver));
}

function settings(options: LoginOptions): ConnectionOptions {
  const { auth, tls } = options;
  const password = auth === undefined ? "" : secretText(auth.password);
  return {
    host: tls?.servername ?? options.host,
    port: options.port,
    user: auth?.username ?? "root",
    password,
    ...(options.database === undefined ? {} : { database: options.database }),
    charset: "utf8mb4",
    // Texts with several statements, and files of this host, are never taken.
    flags: ["-LOCAL_FILES", "-MULTI_STATEMENTS"],
    ...(tls === undefined
      ? {}
      : { ssl: sslOf(tls), authPlugins: { mysql_clear_password: clearPassword(password) } }),
    rowsAsArray: true,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
  };
}

function sslOf({ ca, minVersion }: TlsTrust) {
  return {
    minVersion,
    rejectUnauthorized: true,
    verifyIdentity: true,
    ...(ca === undefined ? {} : { ca }),
  };
}

/** Accounts of a directory want the password itself; it goes out under TLS only. */
function clearPassword(password: string): () => () => Buffer {
  return () => () => Buffer.from(`${password}\0`);
}

function takenOver(driver: Connection): LoggedIn {
  const inside = driver as unknown as Inside;
  const { stream } = inside;
  stream.removeAllListeners("data");
  stream.pause();
  return {
    driver,
    threadId: driver.threadId ?? 0,
    stream,
    feed: (bytes) => inside.packetParser.execute(bytes),
    endsWithOk: (inside.config.clientFlags & inside.serverCapabilityFlags & deprecateEof) !== 0,
  };
}

function failed(error: Error): GatewayError {
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  return gatewayError("cluster.connectFailed", { detail: code });
}

function timedOut(): Error {
  return Object.assign(new Error("the server did not answer in time"), { code: "ETIMEDOUT" });
}

function nothing(): void {}
