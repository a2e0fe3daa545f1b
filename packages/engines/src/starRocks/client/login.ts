/**
 * Logging in with mysql2, which knows the handshake, TLS and every way of proving a password; the
 * bytes of results are read here, because an object per cell is what a relay can not afford.
 */
import { connect as connectSocket, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { egressRefused } from "@gateway/core/port/egress.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import { createConnection, type Connection, type ConnectionOptions } from "mysql2";
import { connectPlain } from "../../connect/plainSocket.ts";
import type { TlsTrust } from "../../connect/tls.ts";
import { ed25519Plugin } from "./ed25519.ts";
import { judgeGreeting } from "./granted.ts";

/** Where a server is, and how it is reached. */
export interface Server {
  readonly host: string;
  readonly port: number;
  /** Undefined: without TLS. */
  readonly tls: (TlsTrust & { readonly cert?: string; readonly key?: string }) | undefined;
  readonly connectTimeoutMs: number;
}

/** Whom a connection logs in as. */
export interface Account {
  readonly user: string;
  readonly password: Secret;
}

/** A login at a server. */
export interface Login {
  readonly server: Server;
  /** Undefined: the user root without a password, which a server takes as it is configured. */
  readonly account: Account | undefined;
  readonly database: string | undefined;
  /** Capabilities beside those of every connection, in the words of mysql2. */
  readonly flags?: readonly string[];
  /** Query attributes are sent to a server that takes them: whoever writes to the connection leaves room for them. */
  readonly attributes?: boolean;
  /** Capabilities that the server has to grant beside those of every login, as the protocol's flags. */
  readonly needed?: number;
  /** Ends a login that nobody waits for any more. */
  readonly signal?: AbortSignal;
}

/**
 * Why a login failed: codes, and never a server's text. `number` and `sqlState` are the server's own, where
 * it spoke.
 */
export interface LoginFailure {
  readonly code: string;
  readonly number: number | undefined;
  readonly sqlState: string | undefined;
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
  /** Texts and executions have attributes, or say that they have none. */
  readonly takesAttributes: boolean;
  /** It is a MariaDB, by its greeting. */
  readonly isMariadb: boolean;
  /** What its greeting says of the server. */
  readonly greeted: ReadonlyMap<string, string>;
}

/** What mysql2 has and its declarations do not show. */
interface Inside {
  readonly stream: Duplex;
  readonly packetParser: { execute(bytes: Buffer): void };
  readonly config: { readonly clientFlags: number };
  readonly serverCapabilityFlags: number;
  readonly _handshakePacket?: {
    readonly serverVersion?: string;
    readonly mariadbExtendedCapabilityFlags?: number;
  };
}

/** Logs in within the time limit of the server. */
export async function logIn(
  login: Login,
  host: Pick<Host, "egress" | "clock">,
): Promise<Result<LoggedIn, LoginFailure>> {
  const { server, signal } = login;
  if (host.egress.refusesHost(server.host)) return err(failureOf(egressRefused()));
  const socket = reach(server, host);
  const tls = server.tls === undefined ? 0 : capability.ssl;
  const judged = judgeGreeting(socket, (login.needed ?? 0) | tls);
  const driver = createConnection({ ...settings(login), stream: socket });
  driver.on("error", nothing);
  using _limit = host.clock.timer(server.connectTimeoutMs, () => socket.destroy(timedOut()));
  const leave = (): void => void socket.destroy(timedOut());
  signal?.addEventListener("abort", leave, { once: true });
  if (signal?.aborted === true) leave();
  const failure = await new Promise<Error | undefined>((resolve) => {
    driver.connect((error) => resolve(error ?? undefined));
    socket.once("close", () => resolve(timedOut()));
  });
  signal?.removeEventListener("abort", leave);
  if (judged.refusal !== undefined) {
    return err({ code: judged.refusal, number: undefined, sqlState: undefined });
  }
  if (failure !== undefined) {
    socket.destroy();
    return err(failureOf(failure));
  }
  return ok(takenOver(driver));
}

/** A socket on its way to the server, past the limits on outgoing connections. */
export function reach(
  { host, port, tls }: Pick<Server, "host" | "port" | "tls">,
  { egress }: Pick<Host, "egress">,
): Socket {
  const { lookup } = egress;
  const connectTo = tls === undefined ? connectPlain : connectSocket;
  const socket = connectTo({ host, port, noDelay: true, ...(lookup && { lookup }) });
  // A socket whose error nobody hears ends the process.
  socket.on("error", nothing);
  return socket;
}

function settings({
  server,
  account,
  database,
  flags = plainFlags,
  attributes = false,
}: Login): ConnectionOptions {
  const { tls } = server;
  const password = account?.password.reveal() ?? "";
  return {
    host: tls?.servername ?? server.host,
    port: server.port,
    user: account?.user ?? "root",
    password,
    ...(database === undefined ? {} : { database }),
    charset: "utf8mb4",
    // Texts with several statements are never taken. A server that was promised attributes can not read commands
    // without.
    flags: ["-MULTI_STATEMENTS", ...(attributes ? [] : ["-CLIENT_QUERY_ATTRIBUTES"]), ...flags],
    authPlugins: {
      client_ed25519: once(ed25519Plugin(password)),
      ...(tls === undefined ? {} : { mysql_clear_password: once(clearPassword(password)) }),
    },
    ...(tls === undefined ? {} : { ssl: sslOf(tls) }),
    rowsAsArray: true,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
  };
}

/** Files of this host are never sent. Without FOUND_ROWS a server tells both counts, of rows found and of rows changed. */
const plainFlags: readonly string[] = ["-LOCAL_FILES", "-FOUND_ROWS"];

function sslOf({ ca, minVersion, cert, key }: NonNullable<Server["tls"]>) {
  return {
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    minVersion,
    rejectUnauthorized: true,
    verifyIdentity: true,
    ...(ca === undefined ? {} : { ca }),
  };
}

/** A second factor is another secret than the first one, which is never sent in its place. */
function once(plugin: () => Proof): () => Proof {
  let used = false;
  return () => {
    if (used) throw new Error("a login of one factor was asked for a second");
    used = true;
    return plugin();
  };
}

/** The answer to a challenge. */
type Proof = (challenge: Buffer) => Buffer | Promise<Buffer>;

/** Accounts of a directory want the password itself; it goes out under TLS only. */
function clearPassword(password: string): () => () => Buffer {
  return () => () => Buffer.from(`${password}\0`);
}

function takenOver(driver: Connection): LoggedIn {
  const inside = driver as unknown as Inside;
  const { stream } = inside;
  const agreed = inside.config.clientFlags & inside.serverCapabilityFlags;
  const hasAttributes = (inside.serverCapabilityFlags & capability.queryAttributes) !== 0;
  stream.removeAllListeners("data");
  stream.pause();
  const { serverVersion = "", mariadbExtendedCapabilityFlags = 0 } = inside._handshakePacket ?? {};
  return {
    driver,
    threadId: driver.threadId ?? 0,
    stream,
    feed: (bytes) => inside.packetParser.execute(bytes),
    endsWithOk: (agreed & capability.deprecateEof) !== 0,
    takesAttributes: (agreed & capability.queryAttributes) !== 0,
    isMariadb: /mariadb/i.test(serverVersion),
    greeted: new Map([
      ["version", serverVersion],
      ["mariadb_capabilities", String(mariadbExtendedCapabilityFlags)],
      ["query_attributes", hasAttributes ? "ON" : "OFF"],
    ]),
  };
}

function failureOf(error: Error & { errno?: unknown; sqlState?: unknown }): LoginFailure {
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  // Of a socket's failure `errno` is the system's, and below zero.
  const number = typeof error.errno === "number" && error.errno > 0 ? error.errno : undefined;
  const sqlState = typeof error.sqlState === "string" ? error.sqlState : undefined;
  return { code, number, sqlState: sqlState?.replace("#", "") };
}

function timedOut(): Error {
  return Object.assign(new Error("the server did not answer in time"), { code: "ETIMEDOUT" });
}

function nothing(): void {}
