/**
 * Serves HTTP on connections that the shared listener accepts: requests that come whole by `http1/`, all others by `node:http`.
 */
import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Connection } from "../connection.ts";
import { servePlain, type PlainServing } from "./plain/connection.ts";
import type { HttpRequest, HttpResponse } from "./exchange.ts";
import { prepareServer } from "../nodeServer.ts";

/** How long parts of a request may take. */
export interface HttpTimes {
  readonly headersMs: number;
  /** A whole request; 0: a body may come for as long as its client likes, while it comes. */
  readonly requestMs: number;
  /** Longer than the minute that balancers keep an idle connection, so that they close it and not we. */
  readonly keepAliveMs: number;
  /** A client that takes nothing of its answer for so long is cut off. */
  readonly stalledMs: number;
  readonly checkMs: number;
}

export interface HttpServed {
  readonly clock: Clock;
  readonly times: HttpTimes;
  readonly headerBytesMax: number;
  /** Who remembers whose socket it is. */
  readonly peers: {
    add(socket: Socket, connection: Connection): void;
    connectionOf(request: HttpRequest): Connection | undefined;
  };
  /** Never rejects. */
  answer(request: HttpRequest, response: HttpResponse): Promise<void> | void;
}

export interface HttpServing {
  /** Serves its requests, behind the handshake where `secured`. */
  accept(connection: Connection, secured: boolean): Promise<void>;
  close(): void;
}

/** Listens nowhere itself. */
export function httpServing(served: HttpServed): HttpServing {
  const { peers, times } = served;
  const serve = (request: HttpRequest, response: HttpResponse): void => {
    const connection = peers.connectionOf(request);
    connection?.handshakeDone();
    connection?.idle(false);
    response.on("close", () => connection?.idle(true));
    void served.answer(request, response);
  };
  const server = serverOf(served, serve);
  const { keepAliveMs, stalledMs } = times;
  const requestMs = times.requestMs === 0 ? stalledMs : times.requestMs;
  const plain: PlainServing = {
    clock: served.clock,
    server,
    keepAliveMs,
    requestMs,
    stalledMs,
    serve,
  };
  return {
    accept: async (connection, secured) => {
      const socket = secured ? await connection.upgrade() : connection.socket;
      if (socket === undefined) return;
      peers.add(socket, connection);
      servePlain(socket, plain);
    },
    close: () => void server.close(),
  };
}

function serverOf(
  { times, headerBytesMax, clock }: HttpServed,
  serve: PlainServing["serve"],
): Server {
  const options = {
    maxHeaderSize: headerBytesMax,
    headersTimeout: times.headersMs,
    requestTimeout: times.requestMs,
    keepAliveTimeout: times.keepAliveMs,
    connectionsCheckingInterval: times.checkMs,
    // The listener has said so of each connection.
    noDelay: false,
  };
  const server = createServer(options, serve);
  server.setTimeout(times.stalledMs);
  prepareServer(server, times.checkMs, clock);
  // The server listens nowhere itself, but only this event starts the watch over its timeouts.
  server.emit("listening");
  return server;
}
