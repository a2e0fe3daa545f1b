/**
 * Opens the admin listener. Health and metrics are answered here; the app, and Hono's Node server for it, are loaded with the
 * first request for anything else.
 */
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from "node:net";
import type { ListenError } from "@gateway/core/port/frontend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { prepareServer } from "@gateway/frontends/listener/nodeServer.ts";
import { openTls, type TlsServer } from "@gateway/frontends/listener/tls.ts";
import type { GatewayConfig } from "../config/schema.ts";
import type { App } from "./app.ts";
import type { Callers } from "./callers.ts";
import { plainAnswer, plainPathOf, type PlainParts, type PlainPath } from "./plain.ts";
import { whenAsked } from "./whenAsked.ts";

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

export interface OpsAnswers {
  readonly plain: PlainParts;
  /** Called once, with the first request that is its own. */
  readonly app: () => Promise<App>;
  /** Whether it is called before the first request. */
  readonly appAhead?: boolean;
  /** Learns who sends each request, for the app to ask. */
  readonly callers: Callers;
}

export async function listenOps(
  config: GatewayConfig["adminApi"],
  answers: OpsAnswers,
  host: Host,
): Promise<Result<OpenOps, ListenError>> {
  const tls = config.tls === undefined ? ok(undefined) : openTls(kind, config.tls, host);
  if (!tls.ok) return tls;
  const http = await httpServer(answers, config.allowedHosts, host);
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

async function httpServer(
  { plain, app, appAhead = false, callers }: OpsAnswers,
  allowedHosts: readonly string[],
  host: Host,
): Promise<HttpServer> {
  const listener = whenAsked(async () => {
    const [{ appListener }, loaded] = await Promise.all([import("./appListener.ts"), app()]);
    return appListener(loaded, callers);
  });
  if (appAhead) await listener();
  const byApp = (request: IncomingMessage, response: ServerResponse): void =>
    void listener().then(
      (answer) => answer(request, response),
      (error: unknown) => {
        host.log.bug(error, { part: "adminApi" });
        response.writeHead(500).end();
      },
    );
  const server = createServer(limits, (request, response) => {
    const path = plainPathOf(request, allowedHosts);
    if (path === undefined) return byApp(request, response);
    // Its own way to say that something failed.
    return void writePlain(response, path, plain).catch(() => byApp(request, response));
  });
  prepareServer(server, limits.connectionsCheckingInterval, host.clock);
  return server;
}

async function writePlain(
  response: ServerResponse,
  path: PlainPath,
  parts: PlainParts,
): Promise<void> {
  const { status, type, body } = await plainAnswer(path, parts);
  response.statusCode = status;
  response.setHeader("content-type", type);
  // Node says the length of a text that comes at once by itself, but not for HTTP/1.0.
  const isOld = !response.useChunkedEncodingByDefault;
  if (isOld) response.setHeader("Content-Length", Buffer.byteLength(body));
  response.end(body);
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
