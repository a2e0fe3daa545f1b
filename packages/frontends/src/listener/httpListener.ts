/** Plain `node:http` over the connections that the shared listener accepts, for frontends whose protocol is HTTP. */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { ListenError } from "@gateway/core/port/frontend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import { openListener } from "./accept.ts";
import type { Connection } from "./connection.ts";
import type { PolledFrontend, RelayedRequest } from "./elsewhere.ts";
import type { HttpPeers } from "./httpPeer.ts";
import { prepareServer } from "./nodeServer.ts";

/** How long parts of a request may take, in milliseconds, beside what a frontend says itself. */
const times = {
  headersMs: 10_000,
  /** Longer than the minute that balancers keep an idle connection, so that they close it and not we. */
  keepAliveMs: 75_000,
  checkMs: 2_000,
} as const;

/** A client that takes nothing of its answer for so long is cut off. */
export const stalledMs = 300_000;
/** How long a whole request may take to come. */
export const requestMs = 60_000;

/** The answer to a client over a cap, which clients read as "try again". */
export interface RefusalText {
  readonly type: string;
  readonly body: string;
  /** Whole lines. */
  readonly headers?: readonly string[];
}

export interface HttpFrontend {
  readonly kind: string;
  readonly config: ListenerConfig;
  readonly host: Host;
  readonly peers: HttpPeers;
  readonly headerBytesMax: number;
  /** 0: a body may come for as long as its client likes, while it comes. */
  readonly requestMs: number;
  readonly stalledMs: number;
  /** Never rejects. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  refusal(error: GatewayError): RefusalText;
  /** Answers what another gateway's client sent; absent where nothing of this protocol outlives a request. */
  relayed?(asked: RelayedRequest): void;
  /** Takes nothing new, and resolves when what began has its end, or at the deadline. */
  drain(deadline: AbortSignal): Promise<void> | void;
  /** Ends what is left, before the connections close. */
  close?(): Promise<void> | void;
}

/** Opens the listener on its address. Between two requests a query may have no connection, so the port stays open in a drain until the last one has its end. */
export async function listenHttp(
  frontend: HttpFrontend,
): Promise<Result<PolledFrontend, ListenError>> {
  const { kind, config, host } = frontend;
  const server = serverOf(frontend);
  const opened = await openListener({
    kind,
    config,
    host,
    onConnection: (connection) => accept(connection, frontend, server),
    onRefused: (socket, error) => refuse(socket, frontend.refusal(error)),
  });
  if (!opened.ok) {
    server.close();
    return opened;
  }
  const listener = opened.value;
  let drained: Promise<void> | undefined;
  const drain = async (deadline: AbortSignal): Promise<void> => {
    await frontend.drain(deadline);
    await frontend.close?.();
    await listener.drain(deadline);
    server.close();
  };
  return ok({
    kind,
    host: config.host,
    port: listener.port,
    tls: listener.tls,
    ...(frontend.relayed === undefined ? {} : { relayed: (asked) => frontend.relayed?.(asked) }),
    drain: (deadline) => {
      drained ??= drain(deadline);
      return drained;
    },
  });
}

function serverOf(frontend: HttpFrontend): Server {
  const options: ServerOptions = {
    maxHeaderSize: frontend.headerBytesMax,
    headersTimeout: times.headersMs,
    requestTimeout: frontend.requestMs,
    keepAliveTimeout: times.keepAliveMs,
    connectionsCheckingInterval: times.checkMs,
    noDelay: true,
  };
  const server = createServer(options, (request, response) => {
    const connection = frontend.peers.connectionOf(request);
    connection?.handshakeDone();
    connection?.idle(false);
    response.on("close", () => connection?.idle(true));
    void frontend.answer(request, response);
  });
  server.setTimeout(frontend.stalledMs);
  prepareServer(server, times.checkMs, frontend.host.clock);
  // The server listens nowhere itself, but only this event starts the watch over its timeouts.
  server.emit("listening");
  return server;
}

async function accept(
  connection: Connection,
  { config, peers }: HttpFrontend,
  server: Server,
): Promise<void> {
  const secured = config.tls === undefined ? connection.socket : await connection.upgrade();
  if (secured === undefined) return;
  peers.add(secured, connection);
  server.emit("connection", secured);
}

function refuse(socket: Socket, { type, body, headers = [] }: RefusalText): void {
  const head = [
    "HTTP/1.1 503 Service Unavailable",
    "Retry-After: 1",
    "Connection: close",
    ...headers,
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
}
