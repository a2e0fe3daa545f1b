/** The pool of connections to an HTTP engine: keep-alive, no pipelining, no redirects, past the limits on outgoing connections. */
import type { Host } from "@gateway/core/port/host.ts";
import { egressRefused } from "@gateway/core/port/egress.ts";
import { buildConnector, Pool, type Dispatcher } from "undici";
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
    ...(egress.lookup && { lookup: egress.lookup }),
  });
  return new Pool(options.origin, {
    connections: options.connectionsMax,
    pipelining: 1,
    // Some engines tell their progress in headers, for as long as a query runs.
    maxHeaderSize: 256 * 1024,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (place, callback) => {
      if (egress.refusesHost(place.hostname)) return callback(egressRefused(), null);
      return connect(place, callback);
    },
  });
}

/**
 * Asks the pool. Rejects with the signal's reason as soon as it aborts. undici looks at the signal only once
 * the request has a connection, which may never happen while all are at work. A request that still waited is
 * not sent any more.
 */
export async function ask(
  pool: Pool,
  options: Dispatcher.RequestOptions,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  signal.throwIfAborted();
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  const answer = pool.request({ ...options, signal });
  // If the signal wins the race, nobody waits for this.
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
  }
}
