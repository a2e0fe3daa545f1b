/**
 * How Neon's driver sends its requests: over Node's own HTTP client. `fetch` costs a cold function a third of its time
 * to the first answer, for streams and redirects that nobody here asks for.
 *
 * Connections serve the requests of one burst. What a function held before it was frozen is gone when it wakes, and a
 * statement on it would fail without anybody knowing whether it ran; so connections that were idle are left.
 */
import { Agent as PlainAgent, request as plain, type IncomingMessage } from "node:http";
import { Agent as SecureAgent, request as secure } from "node:https";

/** What the driver gives. */
interface Sent {
  readonly method: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** What the driver reads of a response. */
interface Answer {
  readonly ok: boolean;
  readonly status: number;
  json(): Promise<unknown>;
  text(): Promise<string>;
}

/** Neon's own limit of an answer. */
const bytesMax = 64 * 1024 * 1024;
/** Less than servers and what stands before them wait. By the clock of the host, which goes on while a function is frozen. */
const idleMsMax = 3_000;

/** One statement's request. Rejects when there is no whole answer, with the signal's reason where that was why. */
export type NeonFetch = (url: string, sent: Sent) => Promise<Answer>;

export function neonFetch(unixMs: () => number = Date.now): NeonFetch {
  const bursts = new Map<string, Burst>();
  return async (url, sent) => {
    const { protocol } = new URL(url);
    const burst = bursts.get(protocol) ?? new Burst(protocol === "https:");
    bursts.set(protocol, burst);
    const agent = burst.begin(unixMs());
    try {
      return answerOf(...(await exchanged(url, sent, agent)));
    } catch (error) {
      sent.signal?.throwIfAborted();
      throw error;
    } finally {
      burst.end(unixMs());
    }
  };
}

/** The connections of requests that follow each other closely. */
class Burst {
  readonly #secure: boolean;
  #agent: PlainAgent;
  #running = 0;
  #endedMs = 0;

  constructor(isSecure: boolean) {
    this.#secure = isSecure;
    this.#agent = this.#fresh();
  }

  begin(nowMs: number): PlainAgent {
    if (this.#running === 0 && Math.abs(nowMs - this.#endedMs) > idleMsMax) {
      this.#agent.destroy();
      this.#agent = this.#fresh();
    }
    this.#running += 1;
    return this.#agent;
  }

  end(nowMs: number): void {
    this.#running -= 1;
    this.#endedMs = nowMs;
  }

  #fresh(): PlainAgent {
    return this.#secure
      ? new SecureAgent({ keepAlive: true })
      : new PlainAgent({ keepAlive: true });
  }
}

function exchanged(
  url: string,
  { method, body, headers, signal }: Sent,
  agent: PlainAgent,
): Promise<readonly [number, Buffer]> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body);
    const options = {
      method,
      agent,
      headers: { ...headers, "content-length": bytes.length },
      ...(signal === undefined ? {} : { signal }),
    };
    const ask = url.startsWith("https:") ? secure : plain;
    const asked = ask(url, options, (response) => {
      wholeOf(response).then(
        (whole) => resolve([response.statusCode ?? 0, whole]),
        (error: unknown) => {
          asked.destroy();
          reject(error instanceof Error ? error : new Error("no answer"));
        },
      );
    });
    asked.on("error", reject);
    asked.end(bytes);
  });
}

async function wholeOf(response: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > bytesMax) throw new Error("the answer is too large");
    pieces.push(piece);
  }
  // A connection that ends in the middle of an answer ends the loop as well.
  if (!response.complete) throw new Error("the answer ended in its middle");
  return Buffer.concat(pieces, length);
}

function answerOf(status: number, bytes: Buffer): Answer {
  return {
    ok: status >= 200 && status < 300,
    status,
    json: async (): Promise<unknown> => JSON.parse(bytes.toString()),
    text: async () => bytes.toString(),
  };
}
