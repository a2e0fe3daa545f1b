/** HTTP over the connections that the shared listener accepts, for frontends whose protocol is HTTP. */
import type { Socket } from "node:net";
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { ListenError } from "@gateway/core/port/frontend.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import { openListener } from "../accept.ts";
import type { PolledFrontend, RelayedRequest } from "../elsewhere.ts";
import type { HttpPeers } from "./peer.ts";
import { httpServing } from "./serving.ts";
import type { HttpRequest, HttpResponse } from "./exchange.ts";

/** In milliseconds, beside what a frontend says itself. */
const times = { headersMs: 10_000, keepAliveMs: 75_000, checkMs: 2_000 } as const;

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
  answer(request: HttpRequest, response: HttpResponse): Promise<void> | void;
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
  const { kind, config, host, requestMs: wholeMs, stalledMs: silentMs } = frontend;
  const { peers, headerBytesMax } = frontend;
  const serving = httpServing({
    clock: host.clock,
    times: { ...times, requestMs: wholeMs, stalledMs: silentMs },
    headerBytesMax,
    peers,
    answer: (request, response) => frontend.answer(request, response),
  });
  const opened = await openListener({
    kind,
    config,
    host,
    onConnection: (connection) => serving.accept(connection, config.tls !== undefined),
    onRefused: (socket, error) => refuse(socket, frontend.refusal(error)),
  });
  if (!opened.ok) {
    serving.close();
    return opened;
  }
  const listener = opened.value;
  let drained: Promise<void> | undefined;
  const drain = async (deadline: AbortSignal): Promise<void> => {
    await frontend.drain(deadline);
    await frontend.close?.();
    await listener.drain(deadline);
    serving.close();
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
