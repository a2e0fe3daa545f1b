/** How a socket to an HTTP engine is opened: its certificate checked, past the limits on outgoing connections. */
import type { Host } from "@gateway/core/port/host.ts";
import { egressRefused } from "@gateway/core/port/egress.ts";
import { buildConnector } from "undici";
import { connectPlain } from "./plainSocket.ts";
import type { TlsTrust } from "./tls.ts";

export interface ConnectorOptions {
  readonly tls: TlsTrust;
  readonly connectTimeoutMs: number;
}

/** Opens plain or TLS sockets by the protocol it is asked with; a refused address is `EACCES`. */
export function connectorOf(
  { tls, connectTimeoutMs }: ConnectorOptions,
  { egress }: Pick<Host, "egress">,
): buildConnector.connector {
  const connect = buildConnector({
    ...tls,
    timeout: connectTimeoutMs,
    ...(egress.lookup && { lookup: egress.lookup }),
  });
  return (place, callback) => {
    if (egress.refusesHost(place.hostname)) return callback(egressRefused(), null);
    return connect(place, callback);
  };
}

/** The same for a reader of `data`, whose sockets without TLS read into buffers of their own. */
export function readerConnectorOf(
  options: ConnectorOptions,
  host: Pick<Host, "egress" | "clock">,
): buildConnector.connector {
  const connect = connectorOf(options, host);
  const { egress, clock } = host;
  return (place, callback) => {
    const { hostname, protocol, port } = place;
    if (protocol !== "http:" || egress.refusesHost(hostname)) return connect(place, callback);
    const { lookup } = egress;
    const socket = connectPlain({
      host: hostname,
      port: Number(port === "" ? httpPort : port),
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveMs,
      ...(lookup && { lookup }),
    });
    const limit = clock.timer(options.connectTimeoutMs, () => socket.destroy(timedOut()));
    const settle = (error: Error | null): void => {
      limit[Symbol.dispose]();
      socket.off("connect", connected);
      socket.off("error", settle);
      if (error === null) callback(null, socket);
      else callback(error, null);
    };
    const connected = (): void => settle(null);
    socket.on("connect", connected);
    socket.on("error", settle);
  };
}

const httpPort = 80;
const keepAliveMs = 60_000;

function timedOut(): Error {
  return Object.assign(new Error("no connection in time"), { code: "ETIMEDOUT" });
}
