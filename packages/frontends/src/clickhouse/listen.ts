/** Opens the ClickHouse listener: plain `node:http` over the connections that the shared listener accepts. */
import { createServer, type Server, type ServerOptions } from "node:http";
import type { Socket } from "node:net";
import { exceptionText } from "@gateway/wire/clickhouse/exception.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { Frontend, Listen } from "@gateway/core/port/frontend.ts";
import { ok } from "@gateway/core/result.ts";
import { openListener, type OpenListener } from "../listener/accept.ts";
import type { Connection } from "../listener/connection.ts";
import type { ClickhouseConfig } from "./config.ts";
import { refusalOf } from "./errors.ts";
import { headerBytesMax } from "./limits.ts";
import { Peers } from "./peer.ts";
import { Requests } from "./requests.ts";

const kind = "clickhouseHttp";

/** How long parts of a request may take, in milliseconds. */
const times = {
  headersMs: 10_000,
  /** Longer than the minute that balancers keep an idle connection, so that they close it and not we. */
  keepAliveMs: 75_000,
  /** A client that takes nothing of its answer, or sends nothing of its rows, for so long is cut off. */
  stalledMs: 300_000,
  checkMs: 2000,
} as const;

/** Opens the listener on its address. */
export const listen: Listen<ClickhouseConfig> = async (config, door, host) => {
  const peers = new Peers(config);
  const requests = new Requests({ config, door, host, peers });
  const server = httpServer(requests, peers);
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
  return ok(frontendOf(opened.value, config, requests, server));
};

function httpServer(requests: Requests, peers: Peers): Server {
  const options: ServerOptions = {
    maxHeaderSize: headerBytesMax,
    headersTimeout: times.headersMs,
    // Rows of an INSERT may come for as long as their client likes; silence is limited above.
    requestTimeout: 0,
    keepAliveTimeout: times.keepAliveMs,
    connectionsCheckingInterval: times.checkMs,
    noDelay: true,
  };
  const server = createServer(options, (request, response) => {
    const connection = peers.connectionOf(request);
    connection?.handshakeDone();
    connection?.idle(false);
    response.on("close", () => connection?.idle(true));
    void requests.handle(request, response);
  });
  server.setTimeout(times.stalledMs);
  // The server listens nowhere itself, but only this event starts the watch over its timeouts.
  server.emit("listening");
  return server;
}

async function accept(
  connection: Connection,
  config: ClickhouseConfig,
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
  const refusal = refusalOf(error);
  const body = exceptionText(refusal);
  const head = [
    "HTTP/1.1 503 Service Unavailable",
    "Retry-After: 1",
    "Connection: close",
    `X-ClickHouse-Exception-Code: ${refusal.code}`,
    "Content-Type: text/plain; charset=UTF-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function frontendOf(
  listener: OpenListener,
  config: ClickhouseConfig,
  requests: Requests,
  server: Server,
): Frontend {
  let drained: Promise<void> | undefined;
  const drain = async (deadline: AbortSignal): Promise<void> => {
    requests.drain();
    await listener.drain(deadline);
    server.close();
  };
  return {
    kind,
    host: config.host,
    port: listener.port,
    tls: listener.tls,
    drain: (deadline) => {
      drained ??= drain(deadline);
      return drained;
    },
  };
}
