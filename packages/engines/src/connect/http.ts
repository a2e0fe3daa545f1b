/** The pool of connections to an HTTP engine: keep-alive, no pipelining, no redirects, past the limits on outgoing connections. */
import type { Host } from "@gateway/core/port/host.ts";
import { buildConnector, Pool } from "undici";
import { guardedLookup, refused, refusesHost } from "./lookup.ts";
import type { TlsTrust } from "./tls.ts";

export interface HttpPoolOptions {
  readonly origin: string;
  readonly tls: TlsTrust;
  /** Connections at once; further requests wait. */
  readonly connectionsMax: number;
  readonly connectTimeoutMs: number;
}

/** Time limits of answers are the caller's: a query may be silent for long. */
export function httpPool(options: HttpPoolOptions, { egress }: Pick<Host, "egress">): Pool {
  const connect = buildConnector({
    ...options.tls,
    timeout: options.connectTimeoutMs,
    lookup: guardedLookup(egress),
  });
  return new Pool(options.origin, {
    connections: options.connectionsMax,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (place, callback) => {
      if (refusesHost(egress, place.hostname)) return callback(refused(), null);
      return connect(place, callback);
    },
  });
}
