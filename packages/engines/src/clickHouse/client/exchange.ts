/** One request over a pool: the head of its response, and its body for one reader, piece by piece. What a response means is in run.ts. */
import type { Waiter } from "@gateway/core/query/asked.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { ResponseHeaders } from "@gateway/wire/http/responseHead.ts";
import type { Answering } from "../../connect/http1/connection.ts";
import type { Asked, Http1Pool } from "../../connect/http1/pool.ts";
import type { FormedRequest, HttpRequest } from "../../connect/http1/request.ts";

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
  /** All of it, where it came in one piece and its end is here; undefined where it is to be asked for. Asked before `next`, which tells it all the same. */
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
/** Never added to: most answers have one piece, and a list that grows makes room for seventeen. */
const noPieces: Uint8Array[] = [];

/** The head of a response, or why there is none. */
export type Answered = Result<HttpResponse, Unanswered>;

/** A request that was asked for. */
export interface Exchanged {
  /** A promise only where it is not known yet. */
  answered(): Answered | Promise<Answered>;
  /** Calls the waiter once: with the end of the response or its failure, or where more of it is not here yet. Not for an abort. */
  wait(waiter: Waiter): void;
}

/** Asks. The abort of a signal ends the body as well. */
export function exchange(
  pool: Http1Pool,
  request: HttpRequest | FormedRequest,
  signal: AbortSignal,
): Exchanged {
  const begun = new Exchange(signal);
  if (signal.aborted) begun.handleEvent();
  else begun.begin(pool, request);
  return begun;
}

class Exchange implements Answering, Body, Exchanged {
  readonly #signal: AbortSignal;
  #asked: Asked | undefined;
  #sent = false;
  #answered: Answered | undefined;
  #tell: ((answered: Answered) => void) | undefined;
  #waiter: Waiter | undefined;
  /** What came and nobody took, from `#at` on. */
  #pieces: Uint8Array[] = noPieces;
  #at = 0;
  #held = 0;
  #paused = false;
  /** What comes behind the pieces. */
  #last: BodyStep | undefined;
  #reader: ((step: BodyStep) => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  begin(pool: Http1Pool, request: HttpRequest | FormedRequest): void {
    this.#signal.addEventListener("abort", this);
    this.#asked = pool.ask(request, this);
  }

  sent(): void {
    this.#sent = true;
  }

  answered(): Answered | Promise<Answered> {
    return (
      this.#answered ??
      new Promise((resolve) => {
        this.#tell = resolve;
      })
    );
  }

  wait(waiter: Waiter): void {
    this.#waiter = waiter;
    // Asked for in vain, where the pool is closed.
    if (this.#answered !== undefined) queueMicrotask(() => this.#came());
  }

  head(statusCode: number, headers: ResponseHeaders): void {
    this.#settle(ok({ statusCode, headers, body: this }));
  }

  rests(): void {
    if (this.#answered !== undefined) this.#came();
  }

  data(bytes: Uint8Array): void {
    const reader = this.#reader;
    if (reader !== undefined) {
      this.#reader = undefined;
      return reader({ kind: "bytes", bytes });
    }
    if (this.#pieces.length === 0) this.#pieces = [bytes];
    else this.#pieces.push(bytes);
    this.#held += bytes.length + pieceBytes;
    if (this.#held < bytesAheadMax || this.#paused) return;
    this.#paused = true;
    this.#asked?.pause();
  }

  end(): void {
    this.#over(end);
    this.#came();
  }

  failed(): void {
    this.#settle(err(this.#sent ? "closed" : "unreachable"));
    this.#over({ kind: "failed", reason: "the connection broke" });
    this.#came();
  }

  /** The signal was aborted. Whoever waits hears of it himself. */
  handleEvent(): void {
    this.#waiter = undefined;
    this.#settle(err(this.#sent ? "aborted" : "withdrawn"));
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
    return this.#pieces[0] ?? nothing;
  }

  drop(): void {
    if (this.#last !== undefined) return;
    this.#pieces = noPieces;
    this.#at = 0;
    this.#asked?.cancel();
    this.#over({ kind: "failed", reason: "dropped" });
  }

  /** The first one counts. */
  #settle(answered: Answered): void {
    if (this.#answered !== undefined) return;
    this.#answered = answered;
    this.#tell?.(answered);
  }

  #came(): void {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.came();
  }

  #taken(): void {
    this.#at += 1;
    if (this.#at < this.#pieces.length) return;
    this.#pieces = noPieces;
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
