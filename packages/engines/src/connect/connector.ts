/** How a socket to an HTTP engine is opened: its certificate checked, past the limits on outgoing connections. */
import type { Host } from "@gateway/core/port/host.ts";
import { egressRefused } from "@gateway/core/port/egress.ts";
import { buildConnector } from "undici";
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
