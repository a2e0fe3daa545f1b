/** One request over a pool: the head of its response, and its body for one reader, piece by piece. What a response means is in run.ts. */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { ResponseHeaders } from "@gateway/wire/http/responseHead.ts";
import type { Answering } from "../../connect/http1/connection.ts";
import type { Asked, Http1Pool } from "../../connect/http1/pool.ts";
import type { HttpRequest } from "../../connect/http1/request.ts";

/** A response whose head arrived. */
export interface HttpResponse {
  readonly statusCode: number;
  readonly headers: ResponseHeaders;
  readonly body: Body;
}

/**
 * Why there is none. `unreachable`: no byte of the request was sent · `closed`: it may have been read · `aborted` and
 * `withdrawn`: the same two for our signal's abort, of a request that was sent and of one that still waited in line.
 */
export type Unanswered = "unreachable" | "closed" | "aborted" | "withdrawn";

export type BodyStep =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "end" }
  | { readonly kind: "failed"; readonly reason: string };

/** The bytes of a response, for one reader. */
export interface Body {
  /** What is next; a promise only where it is not there yet. Not asked again before it answered. */
  next(): BodyStep | Promise<BodyStep>;
  /** All of it, where it came in one piece and its end is here; undefined where it is to be asked for. Asked before `next`. */
  whole(): Uint8Array | undefined;
  /** Ends the request, wherever it is. What was not read is lost. Does nothing behind the end. */
  drop(): void;
}

/** So much of a body is held for a reader who is late; then the server waits. */
const bytesAheadMax = 256 * 1024;
/** What a piece costs beside its bytes: a server may write chunks of one byte. */
const pieceBytes = 128;

const end: BodyStep = { kind: "end" };
const nothing = new Uint8Array(0);

/** Resolves with the head, or why there is none. The abort of a signal ends the body as well. */
export function exchange(
  pool: Http1Pool,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<Result<HttpResponse, Unanswered>> {
  if (signal.aborted) return Promise.resolve(err("withdrawn"));
  return new Promise((resolve) => {
    new Exchange(signal, resolve).begin(pool, request);
  });
}

class Exchange implements Answering, Body {
  readonly #signal: AbortSignal;
  readonly #settle: (outcome: Result<HttpResponse, Unanswered>) => void;
  #asked: Asked | undefined;
  #sent = false;
  #answered = false;
  /** What came and nobody took, from `#at` on. */
  #pieces: Uint8Array[] = [];
  #at = 0;
  #held = 0;
  #paused = false;
  /** What comes behind the pieces. */
  #last: BodyStep | undefined;
  #reader: ((step: BodyStep) => void) | undefined;

  constructor(signal: AbortSignal, settle: (outcome: Result<HttpResponse, Unanswered>) => void) {
    this.#signal = signal;
    this.#settle = settle;
  }

  begin(pool: Http1Pool, request: HttpRequest): void {
    this.#signal.addEventListener("abort", this);
    this.#asked = pool.ask(request, this);
  }

  sent(): void {
    this.#sent = true;
  }

  head(statusCode: number, headers: ResponseHeaders): void {
    this.#answered = true;
    this.#settle(ok({ statusCode, headers, body: this }));
  }

  data(bytes: Uint8Array): void {
    const reader = this.#reader;
    if (reader !== undefined) {
      this.#reader = undefined;
      return reader({ kind: "bytes", bytes });
    }
    this.#pieces.push(bytes);
    this.#held += bytes.length + pieceBytes;
    if (this.#held < bytesAheadMax || this.#paused) return;
    this.#paused = true;
    this.#asked?.pause();
  }

  end(): void {
    this.#over(end);
  }

  failed(): void {
    if (!this.#answered) this.#settle(err(this.#sent ? "closed" : "unreachable"));
    this.#over({ kind: "failed", reason: "the connection broke" });
  }

  /** The signal was aborted. */
  handleEvent(): void {
    if (!this.#answered) this.#settle(err(this.#sent ? "aborted" : "withdrawn"));
    this.drop();
  }

  next(): BodyStep | Promise<BodyStep> {
    const bytes = this.#pieces[this.#at];
    if (bytes !== undefined) {
      this.#taken();
      return { kind: "bytes", bytes };
    }
    if (this.#last !== undefined) return this.#last;
    return new Promise((resolve) => {
      this.#reader = resolve;
    });
  }

  whole(): Uint8Array | undefined {
    if (this.#last !== end || this.#pieces.length > 1) return undefined;
    const bytes = this.#pieces[0];
    if (bytes === undefined) return nothing;
    this.#taken();
    return bytes;
  }

  drop(): void {
    if (this.#last !== undefined) return;
    this.#pieces = [];
    this.#at = 0;
    this.#asked?.cancel();
    this.#over({ kind: "failed", reason: "dropped" });
  }

  #taken(): void {
    this.#at += 1;
    if (this.#at < this.#pieces.length) return;
    this.#pieces = [];
    this.#at = 0;
    this.#held = 0;
    if (!this.#paused) return;
    this.#paused = false;
    this.#asked?.resume();
  }

  #over(last: BodyStep): void {
    this.#last = last;
    this.#signal.removeEventListener("abort", this);
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.(last);
  }
}
