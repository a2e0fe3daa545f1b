/** The listener on which other gateways of the fleet bring requests of their clients about queries that are here. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { ListenError } from "@gateway/core/port/frontend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Secret } from "@gateway/core/secret.ts";
import type { PolledFrontend } from "@gateway/frontends/listener/elsewhere.ts";
import { prepareServer } from "@gateway/frontends/listener/nodeServer.ts";
import type { RelayConfig } from "../config/control.ts";
import { relayKey, relayTls } from "./keys.ts";
import { relayFamilies } from "./metrics.ts";
import { clientHeader, frontendHeader, readClient } from "./message.ts";

const kind = "relay";
/** A client's headers, which a frontend lets be 64 KB, and ours. */
const headerBytesMax = 80 * 1_024;
const connectionsMax = 4_096;
const handshakeMs = 5_000;
const headersMs = 10_000;
const checkMs = 5_000;
/** Longer than the sender keeps one, so that it closes and not we. */
const keepAliveMs = 75_000;
const stalledMs = 330_000;

export interface OpenRelayListener {
  /** The port really bound. */
  readonly port: number;
  /** Begins to answer for these; until then requests are told that there is nobody. */
  serve(frontends: readonly PolledFrontend[]): void;
  close(): Promise<void>;
}

/** Binds, and refuses whoever does not have one of `secrets`. */
export async function listenRelay(
  config: RelayConfig,
  secrets: readonly Secret[],
  host: Pick<Host, "metrics" | "clock">,
): Promise<Result<OpenRelayListener, ListenError>> {
  const frontends = new Map<string, PolledFrontend>();
  const server = serverOf(secrets, host, (request, response) => {
    const frontend = frontends.get(String(request.headers[frontendHeader]));
    const client = readClient(textOf(request.headers[clientHeader]));
    if (frontend?.relayed === undefined || client === undefined) return nobody(response);
    return frontend.relayed({ request, response, client });
  });
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once("error", resolve);
    // Of this process alone, where several share the listeners of clients.
    const { port, host: address } = config;
    server.listen({ port, host: address, exclusive: true }, () => resolve(undefined));
  });
  if (failure !== undefined) return err(listenErrorOf(failure, config));
  return ok({
    port: (server.address() as AddressInfo).port,
    serve: (open) => {
      for (const frontend of open) frontends.set(frontend.kind, frontend);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

function serverOf(
  secrets: readonly Secret[],
  { metrics, clock }: Pick<Host, "metrics" | "clock">,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  const refused = metrics.counter(relayFamilies.refused, {});
  const keys = new Map(secrets.map(relayKey).map(({ identity, psk }) => [identity, psk]));
  const server = createServer(
    {
      ...relayTls,
      pskCallback: (_socket, identity) => keys.get(identity) ?? null,
      handshakeTimeout: handshakeMs,
      maxHeaderSize: headerBytesMax,
      headersTimeout: headersMs,
      keepAliveTimeout: keepAliveMs,
      connectionsCheckingInterval: checkMs,
      noDelay: true,
    },
    answer,
  );
  server.maxConnections = connectionsMax;
  server.setTimeout(stalledMs);
  prepareServer(server, checkMs, clock);
  server.on("tlsClientError", (_error, socket) => {
    refused.add(1);
    socket.destroy();
  });
  return server;
}

function textOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "string" ? header : undefined;
}

/** The frontend is off here, or not open yet: the client is told to come again. */
function nobody(response: ServerResponse): void {
  response.writeHead(503, { "Retry-After": "1" }).end();
}

function listenErrorOf(
  { code = "" }: NodeJS.ErrnoException,
  { host, port }: RelayConfig,
): ListenError {
  const detail = `${host}:${port} ${code}`.trim();
  if (code === "EADDRINUSE") return { kind, reason: "portInUse", detail };
  if (code === "EACCES") return { kind, reason: "portForbidden", detail };
  return { kind, reason: "addressUnavailable", detail };
}
