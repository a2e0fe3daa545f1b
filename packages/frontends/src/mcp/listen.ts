/**
 * Opens the MCP listener: plain `node:http` over the connections that the shared listener accepts, and the drain of a
 * protocol whose queries may live between connections.
 */
import { createServer, type Server, type ServerOptions } from "node:http";
import type { Socket } from "node:net";
import type { GatewayError } from "@gateway/core/error.ts";
import { ok } from "@gateway/core/result.ts";
import { openListener, type OpenListener } from "../listener/accept.ts";
import type { Connection } from "../listener/connection.ts";
import type { ListenPolled, PolledFrontend } from "../listener/elsewhere.ts";
import type { McpConfig } from "./config.ts";
import { refusalBody } from "./errors.ts";
import { Peers } from "./peer.ts";
import { Requests } from "./requests.ts";

const kind = "mcp";

/** Tokens of identity providers are the longest headers there are. */
const headerBytesMax = 32 * 1024;

const times = {
  headersMs: 10_000,
  requestMs: 60_000,
  /** Longer than the minute that balancers keep an idle connection, so that they close it and not we. */
  keepAliveMs: 75_000,
  /** A client that takes nothing of its answer for so long is cut off. */
  stalledMs: 300_000,
  checkMs: 2_000,
} as const;

/** Opens the listener on its address. */
export const listen: ListenPolled<McpConfig> = async (config, door, host, elsewhere) => {
  const peers = new Peers(config);
  const requests = new Requests(config, door, host, { peers, elsewhere });
  const server = httpServer(config, requests, peers);
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
};

function httpServer(config: McpConfig, requests: Requests, peers: Peers): Server {
  const options: ServerOptions = {
    maxHeaderSize: headerBytesMax,
    headersTimeout: times.headersMs,
    requestTimeout: times.requestMs,
    keepAliveTimeout: times.keepAliveMs,
    connectionsCheckingInterval: times.checkMs,
  };
  const server = createServer(options, (request, response) => {
    const connection = peers.connectionOf(request);
    connection?.handshakeDone();
    connection?.idle(false);
    response.on("close", () => connection?.idle(true));
    void requests.handle(request, response);
  });
  // A call may wait in silence for as long as the config lets it.
  server.setTimeout(Math.max(times.stalledMs, config.maxWaitSecs * 1000 + times.requestMs));
  // The server listens nowhere itself, but only this event starts the watch over its timeouts.
  server.emit("listening");
  return server;
}

async function accept(
  connection: Connection,
  config: McpConfig,
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
  const body = refusalBody(error);
  const head = `HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  socket.write(head + body);
}

interface Opened {
  readonly config: McpConfig;
  readonly requests: Requests;
  readonly server: Server;
}

function frontendOf(listener: OpenListener, opened: Opened): PolledFrontend {
  let drained: Promise<void> | undefined;
  return {
    kind,
    host: opened.config.host,
    port: listener.port,
    tls: listener.tls,
    relayed: (asked) => void opened.requests.relayed(asked),
    drain: (deadline) => {
      drained ??= drain(listener, opened, deadline);
      return drained;
    },
  };
}

/** Between two calls a query has no connection, so the port stays open until the last one has its end. */
async function drain(
  listener: OpenListener,
  { requests, server }: Opened,
  deadline: AbortSignal,
): Promise<void> {
  await requests.drain(deadline);
  requests.close();
  await listener.drain(deadline);
  server.close();
}
