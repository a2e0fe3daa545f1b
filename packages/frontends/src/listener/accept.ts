/**
 * Opens a TCP listener and hands over its connections, for every frontend alike: bind errors, caps,
 * PROXY header, handshake deadline, TLS, drain. Only the frontend knows what the bytes mean.
 */
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { ListenError } from "@gateway/core/port/frontend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import {
  OwnedConnection,
  type Connection,
  type ConnectionOwner,
  type FollowedConnection,
} from "./connection.ts";
import { backlogMax, handshakeMsMax, keepAliveMs, lingerMsMax, refusalsMax } from "./limits.ts";
import { readingIntoOwn } from "./socket/ownBuffer.ts";
import { readProxyHeader } from "./socket/proxyHeader.ts";
import { openTls, plainAddress, type TlsServer } from "./tls.ts";

export interface ListenerOptions {
  /** The key in the config, for errors and logs. */
  readonly kind: string;
  readonly config: ListenerConfig;
  readonly host: Host;
  /** Name of the protocol in TLS handshakes; a client that names only others is refused. */
  readonly protocol?: string;
  /** A client connected, and nothing was read from it yet. A throw or rejection is logged as a bug and cuts it off. */
  onConnection(connection: FollowedConnection): void | Promise<void>;
  /** Tells a client over a cap (`connection.limit`) why, in its own protocol; it is closed afterwards. */
  onRefused?(socket: Socket, error: GatewayError): void;
  /** Says goodbye (by `send`) on an idle connection that a drain is about to close. */
  onDrain?(connection: Connection): void;
}

export interface OpenListener {
  /** The port really bound. */
  readonly port: number;
  readonly tls: boolean;
  readonly connections: ReadonlySet<Connection>;
  /**
   * Stops accepting, and closes each connection once it is idle; the abort of `deadline` cuts off the
   * rest. Resolves when every connection is gone. Idempotent.
   */
  drain(deadline: AbortSignal): Promise<void>;
}

/** Binds and starts to accept. On an error nothing stays open. */
export async function openListener(
  options: ListenerOptions,
): Promise<Result<OpenListener, ListenError>> {
  const { kind, config, host } = options;
  let tls: TlsServer | undefined;
  if (config.tls !== undefined) {
    const opened = openTls(kind, config.tls, host, options.protocol);
    if (!opened.ok) return opened;
    tls = opened.value;
  }
  const listener = new Listener(options, tls);
  const failure = await listener.listen();
  if (failure === undefined) return ok(listener);
  tls?.[Symbol.dispose]();
  return err(listenErrorOf(failure, kind, config));
}

class Listener implements OpenListener {
  readonly connections = new Set<OwnedConnection>();
  readonly #options: ListenerOptions;
  readonly #tls: TlsServer | undefined;
  readonly #server: Server;
  /** One field that changes: with an accessor it would be a table of names, read slowly with each message. */
  readonly #owner: { -readonly [Field in keyof ConnectionOwner]: ConnectionOwner[Field] };
  /** Connections by client address, for the cap. */
  readonly #perAddress = new Map<string, number>();
  /** Sockets whose PROXY header is still read. They count against the cap. */
  readonly #unnamed = new Set<Socket>();
  /** Sockets that are being told why they are refused. They have a cap of their own. */
  readonly #refused = new Set<Socket>();
  #drained: Promise<void> | undefined;
  /** Checks during a drain whether the last connection is gone. */
  #onForgotten: () => void = ignore;

  constructor(options: ListenerOptions, tls: TlsServer | undefined) {
    this.#options = options;
    this.#tls = tls;
    this.#server = createServer({
      noDelay: true,
      pauseOnConnect: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveMs,
    });
    this.#owner = {
      host: options.host,
      config: options.config,
      tls,
      draining: false,
      onIdle: (connection) => this.#sayGoodbye(connection),
    };
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get tls(): boolean {
    return this.#tls !== undefined;
  }

  /** Answers why it failed, or undefined. */
  async listen(): Promise<NodeJS.ErrnoException | undefined> {
    const { host, port } = this.#options.config;
    const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      this.#server.once("error", resolve);
      this.#server.listen({ host, port, backlog: backlogMax }, () => resolve(undefined));
    });
    if (failure !== undefined) return failure;
    this.#server.removeAllListeners("error");
    // For instance no file descriptor is left: that client is lost, the listener is not.
    this.#server.on("error", (error) => {
      const code = "code" in error ? String(error.code) : "unknown";
      this.#options.host.log.write("error", "listener.acceptFailed", {
        listener: this.#options.kind,
        code,
      });
    });
    this.#server.on("connection", (socket) => this.#accept(readingIntoOwn(socket)));
    return undefined;
  }

  drain(deadline: AbortSignal): Promise<void> {
    const cut = () => {
      for (const connection of this.connections) connection.destroy();
      for (const socket of this.#refused) socket.destroy();
    };
    this.#drained ??= this.#startDrain();
    if (deadline.aborted) cut();
    else deadline.addEventListener("abort", cut, { once: true });
    return this.#drained.finally(() => deadline.removeEventListener("abort", cut));
  }

  #startDrain(): Promise<void> {
    this.#owner.draining = true;
    this.#tls?.[Symbol.dispose]();
    const closed = new Promise<void>((resolve) => {
      this.#onForgotten = () => {
        if (this.connections.size === 0) resolve();
      };
      // The server calls back when its last socket is destroyed, before that socket emits "close".
      this.#server.close(() => this.#onForgotten());
    });
    for (const connection of this.connections) {
      if (connection.closable) this.#sayGoodbye(connection);
    }
    for (const socket of this.#unnamed) socket.destroy();
    return closed;
  }

  #sayGoodbye(connection: OwnedConnection): void {
    try {
      if (connection.identified) this.#options.onDrain?.(connection);
    } catch (bug) {
      this.#options.host.log.bug(bug);
    }
    connection.end();
  }

  #accept(socket: Socket): void {
    // From its first moment on: an error without a listener would end the process.
    socket.on("error", ignore);
    if (this.#owner.draining) return void socket.destroy();
    if (this.connections.size + this.#unnamed.size >= this.#options.config.maxConnections) {
      return this.#refuse(socket);
    }
    const peer = plainAddress(socket.remoteAddress ?? "");
    if (this.#options.config.proxyProtocol) return this.#readHeader(socket, peer);
    this.#connect(socket, peer);
  }

  #readHeader(socket: Socket, peer: string): void {
    const deadline = this.#options.host.clock.timer(handshakeMsMax, () => socket.destroy());
    const gone = () => {
      deadline[Symbol.dispose]();
      this.#unnamed.delete(socket);
    };
    this.#unnamed.add(socket);
    socket.once("close", gone);
    let held: Buffer = Buffer.alloc(0);

    const read = (): void => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const header = readProxyHeader(held);
      if (header.kind === "more") return;
      socket.off("readable", read);
      socket.off("close", gone);
      gone();
      if (header.kind === "bad") return void socket.destroy();
      const rest = held.subarray(header.length);
      if (rest.length > 0) socket.unshift(rest);
      // The stream drops its "readable" listener in the next tick; nobody may read before.
      process.nextTick(() => this.#connect(socket, header.address ?? peer));
    };
    socket.on("readable", read);
    // The client leaves before its header is complete.
    socket.once("end", () => socket.destroy());
  }

  #connect(socket: Socket, address: string): void {
    if (socket.destroyed) return;
    const { config, host } = this.#options;
    const before = this.#perAddress.get(address) ?? 0;
    if (
      before >= config.maxConnectionsPerAddress ||
      this.connections.size >= config.maxConnections
    ) {
      return this.#refuse(socket);
    }
    this.#perAddress.set(address, before + 1);
    const connection = new OwnedConnection(socket, address, this.#owner);
    this.connections.add(connection);
    socket.on("close", () => this.#forget(connection));
    const failed = (bug: unknown): void => {
      host.log.bug(bug, { listener: this.#options.kind });
      connection.destroy();
    };
    try {
      Promise.resolve(this.#options.onConnection(connection)).catch(failed);
    } catch (bug) {
      failed(bug);
    }
  }

  #forget(connection: OwnedConnection): void {
    if (!this.connections.delete(connection)) return;
    const left = (this.#perAddress.get(connection.address) ?? 1) - 1;
    if (left > 0) this.#perAddress.set(connection.address, left);
    else this.#perAddress.delete(connection.address);
    this.#onForgotten();
  }

  /** Tells a client over a cap why, unless too many are being told at the same time. */
  #refuse(socket: Socket): void {
    const { host } = this.#options;
    if (this.#options.onRefused === undefined || this.#refused.size >= refusalsMax) {
      return void socket.destroy();
    }
    this.#refused.add(socket);
    const deadline = host.clock.timer(lingerMsMax, () => socket.destroy());
    socket.once("close", () => {
      this.#refused.delete(socket);
      deadline[Symbol.dispose]();
    });
    try {
      this.#options.onRefused(socket, gatewayError("connection.limit"));
    } catch (bug) {
      host.log.bug(bug, { listener: this.#options.kind });
    }
    // What the client sent is read and dropped: unread bytes would reset the connection before the answer.
    socket.resume();
    socket.end();
  }
}

/** For errors of sockets: a "close" follows each of them, and only that matters. */
function ignore(): void {}

function listenErrorOf(
  error: NodeJS.ErrnoException,
  kind: string,
  { host, port }: ListenerConfig,
): ListenError {
  const detail = `${host}:${port} ${error.code ?? ""}`.trim();
  switch (error.code) {
    case "EADDRINUSE":
      return { kind, reason: "portInUse", detail };
    case "EACCES":
    case "EPERM":
      return { kind, reason: "portForbidden", detail };
    default:
      return { kind, reason: "addressUnavailable", detail };
  }
}
