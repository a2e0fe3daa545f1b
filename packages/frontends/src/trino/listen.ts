/**
 * Opens the Trino listener: plain `node:http` over the connections that the shared listener accepts,
 * and the drain of a protocol whose queries live between connections.
 */
import { createServer, type Server, type ServerOptions } from "node:http";
import type { Socket } from "node:net";
import type { GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { ok } from "@gateway/core/result.ts";
import { openListener, type OpenListener } from "../listener/accept.ts";
import type { Connection } from "../listener/connection.ts";
import type { ListenPolled, PolledFrontend } from "../listener/elsewhere.ts";
import { prepareServer } from "../listener/nodeServer.ts";
import type { TrinoConfig } from "./config.ts";
import { Peers } from "./peer.ts";
import { Requests } from "./requests.ts";

const kind = "trinoHttp";

/** Clients send prepared statements and session properties in headers. */
const headerBytesMax = 64 * 1024;

/** How long parts of a request may take. Tests shorten them. */
export interface HttpTimes {
  readonly headersMs: number;
  readonly requestMs: number;
  /** Longer than the minute that balancers keep an idle connection, so that they close it and not we. */
  readonly keepAliveMs: number;
  /** A client that takes nothing of its answer for so long is cut off; a query it left is swept as late. */
  readonly stalledMs: number;
  readonly checkMs: number;
}

export const times: HttpTimes = {
  headersMs: 10_000,
  requestMs: 60_000,
  keepAliveMs: 75_000,
  stalledMs: 300_000,
  checkMs: 2000,
};

/** Opens the listener on its address. */
export const listen: ListenPolled<TrinoConfig> = (config, door, host, elsewhere) =>
  listenWith(times, config, door, host, elsewhere);

/** The same with other times. */
export async function listenWith(
  limits: HttpTimes,
  ...[config, door, host, elsewhere]: Parameters<ListenPolled<TrinoConfig>>
): ReturnType<ListenPolled<TrinoConfig>> {
  const peers = new Peers(config);
  const requests = new Requests(config, door, host, { peers, elsewhere });
  const server = httpServer(limits, { requests, peers, clock: host.clock });
  const opened = await openListener({
    kind,
    config,
    host,
    onConnection: (connection) => accept(connection, config, server, peers),
    onRefused: refuse,
  });
  if (!opened.ok) {
    server.close();
    return opened;
  }
  return ok(frontendOf(opened.value, { config, requests, server }));
}

interface Serving {
  readonly requests: Requests;
  readonly peers: Peers;
  readonly clock: Clock;
}

function httpServer(limits: HttpTimes, { requests, peers, clock }: Serving): Server {
  const options: ServerOptions = {
    maxHeaderSize: headerBytesMax,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
    noDelay: false,
  };
  const server = createServer(options, (request, response) => {
    const connection = peers.connectionOf(request);
    connection?.handshakeDone();
    connection?.idle(false);
    response.on("close", () => connection?.idle(true));
    void requests.handle(request, response);
  });
  server.setTimeout(limits.stalledMs);
  prepareServer(server, limits.checkMs, clock);
  // The server listens nowhere itself, but only this event starts the watch over its timeouts.
  server.emit("listening");
  return server;
}

async function accept(
  connection: Connection,
  config: TrinoConfig,
  server: Server,
  peers: Peers,
): Promise<void> {
  const secured = config.tls === undefined ? connection.socket : await connection.upgrade();
  if (secured === undefined) return;
  peers.add(secured, connection);
  server.emit("connection", secured);
}

/** A client over a cap is told so in HTTP, which clients read as "try again". */
function refuse(socket: Socket, error: GatewayError): void {
  const body = `${error.message}\n`;
  const head = `HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n`;
  socket.write(head + body);
}

interface Opened {
  readonly config: TrinoConfig;
  readonly requests: Requests;
  readonly server: Server;
}

function frontendOf(listener: OpenListener, { config, requests, server }: Opened): PolledFrontend {
  let drained: Promise<void> | undefined;
  return {
    kind,
    host: config.host,
    port: listener.port,
    tls: listener.tls,
    relayed: (asked) => void requests.relayed(asked),
    drain: (deadline) => {
      drained ??= drain(listener, { config, requests, server }, deadline);
      return drained;
    },
  };
}

/** Between two polls a query has no connection, so the port stays open until the last one has its end. */
async function drain(
  listener: OpenListener,
  { requests, server }: Opened,
  deadline: AbortSignal,
): Promise<void> {
  await requests.drain(deadline);
  await requests.close();
  await listener.drain(deadline);
  server.close();
}
