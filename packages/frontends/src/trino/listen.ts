/**
 * Opens the Trino listener: HTTP over the connections that the shared listener accepts, and the drain of a protocol whose queries live between connections.
 */
import type { Socket } from "node:net";
import type { GatewayError } from "@gateway/core/error.ts";
import { ok } from "@gateway/core/result.ts";
import { openListener, type OpenListener } from "../listener/accept.ts";
import type { ListenPolled, PolledFrontend } from "../listener/elsewhere.ts";
import { httpServing, type HttpServing, type HttpTimes } from "../listener/http/serving.ts";
import type { TrinoConfig } from "./config.ts";
import { Peers } from "./peer.ts";
import { Requests } from "./requests.ts";

const kind = "trinoHttp";

/** Clients send prepared statements and session properties in headers. */
const headerBytesMax = 64 * 1024;

/** Tests shorten them. A query whose client takes nothing any more is swept as late. */
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
  const serving = httpServing({
    clock: host.clock,
    times: limits,
    headerBytesMax,
    peers,
    answer: (request, response) => requests.handle(request, response),
  });
  const opened = await openListener({
    kind,
    config,
    host,
    onConnection: (connection) => serving.accept(connection, config.tls !== undefined),
    onRefused: refuse,
  });
  if (!opened.ok) {
    serving.close();
    return opened;
  }
  return ok(frontendOf(opened.value, { config, requests, serving }));
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
  readonly serving: HttpServing;
}

function frontendOf(listener: OpenListener, { config, requests, serving }: Opened): PolledFrontend {
  let drained: Promise<void> | undefined;
  return {
    kind,
    host: config.host,
    port: listener.port,
    tls: listener.tls,
    relayed: (asked) => void requests.relayed(asked),
    drain: (deadline) => {
      drained ??= drain(listener, { config, requests, serving }, deadline);
      return drained;
    },
  };
}

/** Between two polls a query has no connection, so the port stays open until the last one has its end. */
async function drain(
  listener: OpenListener,
  { requests, serving }: Opened,
  deadline: AbortSignal,
): Promise<void> {
  await requests.drain(deadline);
  await requests.close();
  await listener.drain(deadline);
  serving.close();
}
