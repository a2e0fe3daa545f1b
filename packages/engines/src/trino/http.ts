/**
 * Requests to a Trino server: one answer whole in memory, bounded in bytes and silence, or what went
 * wrong, told apart by what the server may have seen. It follows no redirect and repeats nothing.
 */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Dispatcher, Pool } from "undici";
import { httpPool } from "../connect/http.ts";
import type { TlsTrust } from "../connect/tls.ts";
import type { TrinoConfig } from "./config.ts";
import type { Caller } from "./identity.ts";
import * as limits from "./limits.ts";

export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As whom it is sent; nobody may ask for what the server shows to everyone. */
  readonly caller: Caller | "nobody";
  readonly body?: string;
  /** Goes past the line of statements. */
  readonly control?: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly body: Uint8Array;
}

/**
 * `unreachable`: no byte was sent · `closed`: the request may have been read, no answer began ·
 * `broken`: the answer did not come whole, or is too large · `stalled`: silence · `aborted`: our signal.
 */
export type HttpFailure = "unreachable" | "closed" | "broken" | "stalled" | "aborted";

const unpack = promisify(gunzip);

export class TrinoHttp {
  /** `https://host:8443`, as the server's links begin. */
  readonly origin: string;
  readonly #host: Host;
  readonly #statements: Pool;
  readonly #control: Pool;
  readonly #encodings: string;

  constructor(config: TrinoConfig, tls: TlsTrust, host: Host) {
    this.origin = new URL(config.endpoint).origin;
    this.#host = host;
    this.#encodings = config.compression ? "gzip" : "identity";
    const { connectTimeoutMs } = limits;
    const common = { origin: this.origin, tls, connectTimeoutMs };
    const { connectionsMax, controlConnectionsMax } = limits;
    this.#statements = httpPool({ ...common, connectionsMax }, host);
    this.#control = httpPool({ ...common, connectionsMax: controlConnectionsMax }, host);
  }

  /** Never rejects. */
  async ask(request: HttpRequest, signal?: AbortSignal): Promise<Result<HttpAnswer, HttpFailure>> {
    if (signal?.aborted === true) return err("aborted");
    const answer = await this.#exchange(request, signal);
    if (!answer.ok) return answer;
    const encoding = answer.value.headers["content-encoding"] ?? "identity";
    if (encoding === "identity") return answer;
    if (encoding !== "gzip") return err("broken");
    try {
      const body = await unpack(answer.value.body, { maxOutputLength: limits.answerBytesMax });
      return ok({ ...answer.value, body });
    } catch {
      return err("broken");
    }
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    await Promise.all([this.#statements.destroy(), this.#control.destroy()]);
  }

  #exchange(
    { method, path, headers, caller, body, control }: HttpRequest,
    signal: AbortSignal | undefined,
  ): Promise<Result<HttpAnswer, HttpFailure>> {
    const pool = control === true ? this.#control : this.#statements;
    return new Promise((resolve) => {
      const exchange = new Exchange(this.#host, signal, resolve);
      const sent = {
        ...headers,
        "accept-encoding": this.#encodings,
        // Last, so that nothing else can say who asks.
        ...identifying(caller),
      };
      try {
        pool.dispatch({ method, path, headers: sent, body: body ?? null }, exchange);
      } catch {
        // A closed pool, or a header that HTTP can not carry.
        exchange.end(err("unreachable"));
      }
    });
  }
}

function identifying(caller: Caller | "nobody"): Readonly<Record<string, string>> {
  if (caller === "nobody") return {};
  const { headers, authorization } = caller;
  return authorization === undefined
    ? headers
    : { ...headers, authorization: authorization.reveal() };
}

/** One request on its way, as undici tells of it. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #host: Host;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (answer: Result<HttpAnswer, HttpFailure>) => void;
  readonly #chunks: Uint8Array[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #silence: Disposable | undefined;
  #status = 0;
  #headers: HttpHeaders = {};
  #bytes = 0;
  #bytesSeen = 0;
  #failure: HttpFailure = "unreachable";
  #over = false;

  constructor(
    host: Host,
    signal: AbortSignal | undefined,
    resolve: (answer: Result<HttpAnswer, HttpFailure>) => void,
  ) {
    this.#host = host;
    this.#signal = signal;
    this.#resolve = resolve;
    signal?.addEventListener("abort", this.#aborted);
    this.#listen();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) return controller.abort(new Error("too late"));
    this.#failure = "closed";
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: HttpHeaders,
  ): void {
    this.#status = status;
    this.#headers = headers;
    this.#failure = "broken";
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > limits.answerBytesMax) return this.#fail("broken");
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [only] = this.#chunks;
    const whole = this.#chunks.length === 1 && only !== undefined;
    const body = whole ? only : Buffer.concat(this.#chunks, this.#bytes);
    this.end(ok({ status: this.#status, headers: this.#headers, body }));
  }

  onResponseError(): void {
    this.end(err(this.#failure));
  }

  end(answer: Result<HttpAnswer, HttpFailure>): void {
    if (this.#over) return;
    this.#over = true;
    this.#silence?.[Symbol.dispose]();
    this.#signal?.removeEventListener("abort", this.#aborted);
    this.#resolve(answer);
  }

  /** Looks again after the time in which a byte must have come. */
  #listen(): void {
    this.#silence = this.#host.clock.timer(limits.stallMs, () => {
      // In line for a connection nothing was sent.
      const silent = this.#controller === undefined ? "unreachable" : "stalled";
      if (this.#bytesSeen === this.#bytes) return this.#fail(silent);
      this.#bytesSeen = this.#bytes;
      this.#listen();
    });
  }

  readonly #aborted = (): void => this.#fail("aborted");

  #fail(failure: HttpFailure): void {
    this.end(err(failure));
    this.#controller?.abort(new Error(failure));
  }
}
