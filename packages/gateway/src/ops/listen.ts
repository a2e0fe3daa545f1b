/** Opens the admin listener over Hono's Node server. */
import { createServer, type Server as HttpServer } from "node:http";
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { ListenError } from "@gateway/core/port/frontend.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { prepareServer } from "@gateway/frontends/listener/nodeServer.ts";
import { openTls, type TlsServer } from "@gateway/frontends/listener/tls.ts";
import type { GatewayConfig } from "../config/schema.ts";
import type { App } from "./app.ts";
import type { Callers } from "./callers.ts";

const kind = "adminApi";

const limits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16_384,
};

export interface OpenOps {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  close(): Promise<void>;
}

/** `callers` learns who sends each request, for the app to ask. */
export async function listenOps(
  config: GatewayConfig["adminApi"],
  { app, callers }: { readonly app: App; readonly callers: Callers },
  host: Host,
): Promise<Result<OpenOps, ListenError>> {
  const tls = config.tls === undefined ? ok(undefined) : openTls(kind, config.tls, host);
  if (!tls.ok) return tls;
  const http = httpServer(app, callers, host.clock);
  const server = tls.value === undefined ? http : securedServer(http, tls.value);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once("error", resolve);
    server.listen(config.port, config.host, () => resolve(undefined));
  });
  if (failure !== undefined) {
    tls.value?.[Symbol.dispose]();
    return err(listenErrorOf(failure, config));
  }
  const { port } = server.address() as AddressInfo;
  return ok({
    host: config.host,
    port,
    tls: tls.value !== undefined,
    close: () =>
      new Promise((resolve) => {
        tls.value?.[Symbol.dispose]();
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  });
}

function httpServer(app: App, callers: Callers, clock: Clock): HttpServer {
  const answer = getRequestListener((request, { incoming }) => {
    callers.arrived(request, incoming);
    return app.fetch(request);
  });
  const server = createServer(limits, (request, response) => void answer(request, response));
  prepareServer(server, limits.connectionsCheckingInterval, clock);
  return server;
}

/** A server that does the handshakes for `http`, by the listeners' own TLS, which reloads its files. */
function securedServer(http: HttpServer, tls: TlsServer): Server {
  // It listens nowhere itself, but Node watches its timeouts only after this event.
  http.emit("listening");
  const server = createTcpServer({ noDelay: true }, (raw) => {
    raw.on("error", () => raw.destroy());
    void serve(raw, http, tls);
  });
  server.once("close", () => http.close());
  return server;
}

async function serve(raw: Socket, http: HttpServer, tls: TlsServer): Promise<void> {
  const secured = await tls.secure(raw);
  if (secured !== undefined) http.emit("connection", secured);
}

function listenErrorOf(
  error: NodeJS.ErrnoException,
  { host, port }: GatewayConfig["adminApi"],
): ListenError {
  const detail = `${host}:${port} ${error.code ?? ""}`.trim();
  switch (error.code) {
    case "EADDRINUSE":
      return { kind, reason: "portInUse", detail };
    case "EACCES":
      return { kind, reason: "portForbidden", detail };
    default:
      return { kind, reason: "addressUnavailable", detail };
  }
}
