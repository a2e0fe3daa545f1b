/** One request over a pool: the head of its response, and its body for one reader. What a response means is in run.ts. */
import type { Dispatcher, Pool } from "undici";
import { ask } from "../../connect/http.ts";

/** A response whose head arrived. */
export interface HttpResponse {
  readonly statusCode: number;
  readonly headers: Dispatcher.ResponseData["headers"];
  readonly body: Body;
}

/** The bytes of a response, for one reader. Rejects once the request was dropped or its connection broke. */
export interface Body extends AsyncIterable<Uint8Array> {
  /** Ends the request, wherever it is. What was not read is lost. Does nothing behind the end. */
  drop(): void;
}

/**
 * Asks the pool. Rejects with the signal's reason as soon as it is aborted, also while the request waits
 * for a connection: it is not sent any more then. The abort of a signal ends the body as well.
 */
export async function exchange(
  pool: Pool,
  options: Dispatcher.RequestOptions,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const { statusCode, headers, body } = await ask(pool, options, signal);
  // Nobody may be reading when it is dropped, and an error that nobody hears ends the process.
  body.on("error", nothing);
  return {
    statusCode,
    headers,
    body: {
      [Symbol.asyncIterator]: () => body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>,
      drop: () => void body.destroy(),
    },
  };
}

function nothing(): void {}
