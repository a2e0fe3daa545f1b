/** The pool of connections to an HTTP engine: keep-alive, no pipelining, no redirects, past the limits on outgoing connections. */
import type { Host } from "@gateway/core/port/host.ts";
import { Pool, type Dispatcher } from "undici";
import { connectorOf, type ConnectorOptions } from "./connector.ts";

export interface HttpPoolOptions extends ConnectorOptions {
  readonly origin: string;
  /** Connections at once; further requests wait. */
  readonly connectionsMax: number;
}

/** Time limits of answers are the caller's: a query may be silent for long. */
export function httpPool(options: HttpPoolOptions, host: Pick<Host, "egress">): Pool {
  return new Pool(options.origin, {
    connections: options.connectionsMax,
    pipelining: 1,
    // Some engines tell their progress in headers, for as long as a query runs.
    maxHeaderSize: 256 * 1024,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: connectorOf(options, host),
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
