/**
 * Requests to a Trino server. An answer is read whole into memory, within limits of bytes and of silence. A
 * failure says what the server may have seen of the request. No redirect is followed, and nothing is
 * repeated.
 */
import { gunzip } from "node:zlib";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { requestHeader } from "@gateway/wire/trino/headers.ts";
import type { ResponseHeaders } from "@gateway/wire/http/responseHead.ts";
import type { Answering } from "../../connect/http1/connection.ts";
import { Http1Pool, type Asked } from "../../connect/http1/pool.ts";
import { HeaderLines, linesOf } from "../../connect/http1/request.ts";
import type { TlsTrust } from "../../connect/tls.ts";
import type { TrinoConfig } from "../config.ts";
import type { Caller } from "../identity.ts";
import * as limits from "../limits.ts";
import { StallWatch, type Watching } from "./stall.ts";

export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Names, in lower case, and values in turn: `["user-agent", "gateway", …]`. A name stands once. */
export type HeaderList = readonly string[];

declare const identified: unique symbol;
/**
 * All headers of a request, with those of its caller. Only `TrinoHttp.headersOf` makes them, so no request
 * goes out without a caller.
 */
export type SentHeaders = HeaderLines & { readonly [identified]: true };

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
  readonly #statements: Http1Pool;
  readonly #control: Http1Pool;
  readonly #encodings: string;
  readonly #watch: StallWatch;
  /** Of lists of headers that come again, for the service account: a user's credential is not kept. */
  readonly #written = new WeakMap<HeaderList, Written>();

  constructor(config: TrinoConfig, tls: TlsTrust, host: Host) {
    this.origin = new URL(config.endpoint).origin;
    this.#encodings = config.compression ? "gzip" : "identity";
    this.#watch = new StallWatch(host.clock, limits.stallMs);
    const { connectTimeoutMs } = limits;
    const common = { origin: this.origin, tls, connectTimeoutMs };
    const { connectionsMax, controlConnectionsMax } = limits;
    this.#statements = new Http1Pool({ ...common, connectionsMax }, host);
    this.#control = new Http1Pool({ ...common, connectionsMax: controlConnectionsMax }, host);
  }

  /**
   * Headers with those of the caller, which nothing in `headers` replaces; nobody may ask for what the server shows to
   * everyone. `tags` are the statement's own, for a list that other statements have as well.
   */
  headersOf(headers: HeaderList, caller: Caller | "nobody", tags?: string): SentHeaders {
    const known = this.#written.get(headers);
    let lines = known?.caller === caller ? known.lines : undefined;
    if (lines === undefined) {
      lines = new HeaderLines(this.#linesOf(headers, caller));
      const isKept = caller !== "nobody" && caller.mode === "serviceAccount";
      if (isKept) this.#written.set(headers, { caller, lines });
    }
    const sent = tags === undefined ? lines : lines.with([requestHeader.clientTags, tags]);
    return sent as SentHeaders;
  }

  #linesOf(headers: HeaderList, caller: Caller | "nobody"): string | undefined {
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
    return linesOf(sent);
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
   * Calls `settle` once with the outcome, perhaps before this returns. It is called in the middle of reading a
   * connection: `settle` may only note the outcome.
   */
  send(request: HttpRequest, settle: (outcome: HttpOutcome) => void): Sent {
    const exchange = new Exchange(this.#watch, settle);
    exchange.begin(request.control ? this.#control : this.#statements, request);
    return exchange;
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    await Promise.all([this.#statements.close(), this.#control.close()]);
    this.#watch.close();
  }
}

interface Written {
  readonly caller: Caller;
  readonly lines: HeaderLines;
}

/** Headers that are decided here: what we read, and who asks. */
function isOwn(name: string): boolean {
  return name === "accept-encoding" || name === "authorization" || name === requestHeader.user;
}

/** One request on its way. */
class Exchange implements Answering, Sent {
  /** Of the answer so far. */
  bytes = 0;
  readonly #watch: StallWatch;
  #watching: Watching | undefined;
  readonly #settle: (outcome: HttpOutcome) => void;
  /** Most answers come in one piece. */
  #first: Uint8Array | undefined;
  #more: Uint8Array[] | undefined;
  #asked: Asked | undefined;
  #status = 0;
  #headers: HttpHeaders = none;
  #failure: "unreachable" | "closed" | "broken" = "unreachable";
  #over = false;

  constructor(watch: StallWatch, settle: (outcome: HttpOutcome) => void) {
    this.#watch = watch;
    this.#settle = settle;
  }

  begin(pool: Http1Pool, request: HttpRequest): void {
    this.#watching = this.#watch.add(this);
    this.#asked = pool.ask(request, this);
  }

  sent(): void {
    this.#failure = "closed";
  }

  head(status: number, headers: ResponseHeaders, bodyBytes = 0): void {
    this.#status = status;
    this.#headers = headers;
    this.#failure = "broken";
    if (bodyBytes > limits.answerBytesMax) this.#fail("broken");
  }

  data(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    if (this.bytes > limits.answerBytesMax) return this.#fail("broken");
    if (this.#first === undefined) this.#first = chunk;
    else if (this.#more === undefined) this.#more = [this.#first, chunk];
    else this.#more.push(chunk);
  }

  end(): void {
    const body =
      this.#more === undefined ? (this.#first ?? empty) : Buffer.concat(this.#more, this.bytes);
    const encoding = this.#headers["content-encoding"];
    if (encoding === undefined || encoding === "identity") return this.#succeed(body);
    if (encoding !== "gzip") return this.#report(err("broken"));
    // The answer is whole, so that silence means nothing any more.
    this.#unwatch();
    gunzip(body, { maxOutputLength: limits.answerBytesMax }, (error, unpacked) => {
      if (error === null) this.#succeed(unpacked);
      else this.#report(err("broken"));
    });
  }

  failed(): void {
    this.#report(err(this.#failure));
  }

  #unwatch(): void {
    if (this.#watching !== undefined) this.#watch.remove(this.#watching);
  }

  abort(): void {
    this.#fail("aborted");
  }

  stalled(): void {
    // Still in line for a connection: nothing was sent.
    this.#fail(this.#failure === "unreachable" ? "unreachable" : "stalled");
  }

  #succeed(body: Uint8Array): void {
    this.#report(ok({ status: this.#status, headers: this.#headers, body }));
  }

  #fail(failure: HttpFailure): void {
    this.#asked?.cancel();
    this.#report(err(failure));
  }

  #report(outcome: HttpOutcome): void {
    if (this.#over) return;
    this.#over = true;
    this.#unwatch();
    this.#settle(outcome);
  }
}

const none: HttpHeaders = {};
const empty = new Uint8Array(0);
