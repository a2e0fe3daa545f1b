/**
 * Requests to a Trino server. An answer is read whole into memory, within limits of bytes and of silence. A
 * failure says what the server may have seen of the request. No redirect is followed, and nothing is
 * repeated.
 */
import { gunzip } from "node:zlib";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { requestHeader } from "@gateway/wire/trino/headers.ts";
import type { Dispatcher, Pool } from "undici";
import { httpPool } from "../../connect/http.ts";
import type { TlsTrust } from "../../connect/tls.ts";
import type { TrinoConfig } from "../config.ts";
import type { Caller } from "../identity.ts";
import * as limits from "../limits.ts";
import { StallWatch } from "./stall.ts";

export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Names, in lower case, and values in turn: `["user-agent", "gateway", …]`. A name stands once. */
export type HeaderList = readonly string[];

declare const identified: unique symbol;
/**
 * All headers of a request, with those of its caller. Only `TrinoHttp.headersOf` makes them, so no request
 * goes out without a caller.
 */
export type SentHeaders = HeaderList & { readonly [identified]: true };

export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly headers: SentHeaders;
  readonly body: string | undefined;
  /** Does not wait in line with statements. */
  readonly control: boolean;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly body: Uint8Array;
}

/**
 * `unreachable`: no byte was sent · `closed`: the request may have been read, no answer began ·
 * `broken`: the answer did not come whole, or is too large · `stalled`: silence · `aborted`: our signal.
 */
export type HttpFailure = "unreachable" | "closed" | "broken" | "stalled" | "aborted";

/** What came of a request. */
export type HttpOutcome = Result<HttpResponse, HttpFailure>;

/** A request under way. */
export interface Sent {
  /** The outcome is then `aborted`, and reported before this returns. Does nothing once there is an outcome. */
  abort(): void;
}

export class TrinoHttp {
  /** `https://host:8443`, as the server's links begin. */
  readonly origin: string;
  readonly #statements: Pool;
  readonly #control: Pool;
  readonly #encodings: string;
  readonly #watch: StallWatch;

  constructor(config: TrinoConfig, tls: TlsTrust, host: Host) {
    this.origin = new URL(config.endpoint).origin;
    this.#encodings = config.compression ? "gzip" : "identity";
    this.#watch = new StallWatch(host.clock, limits.stallMs);
    const { connectTimeoutMs } = limits;
    const common = { origin: this.origin, tls, connectTimeoutMs };
    const { connectionsMax, controlConnectionsMax } = limits;
    this.#statements = httpPool({ ...common, connectionsMax }, host);
    this.#control = httpPool({ ...common, connectionsMax: controlConnectionsMax }, host);
  }

  /** Headers with those of the caller, which nothing in `headers` replaces; nobody may ask for what the server shows to everyone. */
  headersOf(headers: HeaderList, caller: Caller | "nobody"): SentHeaders {
    const sent = ["accept-encoding", this.#encodings];
    for (let at = 0; at + 1 < headers.length; at += 2) {
      const name = headers[at] ?? "";
      if (!isOwn(name)) sent.push(name, headers[at + 1] ?? "");
    }
    if (caller !== "nobody") {
      for (const [name, value] of Object.entries(caller.headers)) sent.push(name, value);
      const { authorization } = caller;
      if (authorization !== undefined) sent.push("authorization", authorization.reveal());
    }
    return sent as readonly string[] as SentHeaders;
  }

  /** As `send`, for those who wait. Never rejects. */
  ask(request: HttpRequest, signal: AbortSignal): Promise<HttpOutcome> {
    if (signal.aborted) return Promise.resolve(err("aborted"));
    return new Promise((resolve) => {
      let sent: Sent | undefined;
      const onAbort = (): void => sent?.abort();
      signal.addEventListener("abort", onAbort);
      sent = this.send(request, (outcome) => {
        signal.removeEventListener("abort", onAbort);
        resolve(outcome);
      });
    });
  }

  /**
   * Calls `settle` once with the outcome, perhaps before this returns. The call may come out of undici,
   * which swallows what is thrown there: `settle` may only note the outcome.
   */
  send(request: HttpRequest, settle: (outcome: HttpOutcome) => void): Sent {
    const { method, path, headers, body, control } = request;
    const exchange = new Exchange(this.#watch, settle);
    const pool = control ? this.#control : this.#statements;
    // undici sends a list as it is; it would first turn an object into one.
    const sent = headers as readonly string[] as string[];
    try {
      pool.dispatch({ method, path, headers: sent, body: body ?? null }, exchange);
    } catch {
      // A closed pool, or a header that HTTP can not carry.
      exchange.end(err("unreachable"));
    }
    return exchange;
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    await Promise.all([this.#statements.destroy(), this.#control.destroy()]);
    this.#watch.close();
  }
}

/** Headers that are decided here: what we read, and who asks. */
function isOwn(name: string): boolean {
  return name === "accept-encoding" || name === "authorization" || name === requestHeader.user;
}

/** One request on its way, as undici tells of it. */
class Exchange implements Dispatcher.DispatchHandler, Sent {
  /** Of the answer so far. */
  bytes = 0;
  readonly #watch: StallWatch;
  readonly #settle: (outcome: HttpOutcome) => void;
  /** Most answers come in one piece. */
  #first: Uint8Array | undefined;
  #more: Uint8Array[] | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: HttpHeaders = none;
  #failure: HttpFailure = "unreachable";
  #over = false;

  constructor(watch: StallWatch, settle: (outcome: HttpOutcome) => void) {
    this.#watch = watch;
    this.#settle = settle;
    watch.add(this);
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
    this.bytes += chunk.length;
    if (this.bytes > limits.answerBytesMax) return this.#fail("broken");
    if (this.#first === undefined) this.#first = chunk;
    else if (this.#more === undefined) this.#more = [this.#first, chunk];
    else this.#more.push(chunk);
  }

  onResponseEnd(): void {
    const body =
      this.#more === undefined ? (this.#first ?? empty) : Buffer.concat(this.#more, this.bytes);
    const encoding = this.#headers["content-encoding"];
    if (encoding === undefined || encoding === "identity") return this.#succeed(body);
    if (encoding !== "gzip") return this.end(err("broken"));
    // The answer is whole, so that silence means nothing any more.
    this.#watch.remove(this);
    gunzip(body, { maxOutputLength: limits.answerBytesMax }, (error, unpacked) => {
      if (error === null) this.#succeed(unpacked);
      else this.end(err("broken"));
    });
  }

  onResponseError(): void {
    this.end(err(this.#failure));
  }

  abort(): void {
    this.#fail("aborted");
  }

  stalled(): void {
    // Still in line for a connection: nothing was sent.
    this.#fail(this.#controller === undefined ? "unreachable" : "stalled");
  }

  end(outcome: HttpOutcome): void {
    if (this.#over) return;
    this.#over = true;
    this.#watch.remove(this);
    this.#settle(outcome);
  }

  #succeed(body: Uint8Array): void {
    this.end(ok({ status: this.#status, headers: this.#headers, body }));
  }

  #fail(failure: HttpFailure): void {
    if (this.#over) return;
    this.end(err(failure));
    this.#controller?.abort(new Error(failure));
  }
}

const none: HttpHeaders = {};
const empty = new Uint8Array(0);
