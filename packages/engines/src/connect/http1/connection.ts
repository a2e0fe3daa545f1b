/**
 * One connection to an HTTP engine, with one request under way at most.
 *
 * | State | A request | Bytes come | The server ends |
 * |---|---|---|---|
 * | idle | begins | unasked: the connection is given up | given up |
 * | at work | not before the end | read as the response | the response's end, or its failure |
 * | over | never | dropped | – |
 */
import type { Socket } from "node:net";
import { ResponseReader } from "@gateway/wire/http/response.ts";
import type { ResponseHeaders } from "@gateway/wire/http/responseHead.ts";
import { headBytesMax, idleMarginMs, idleMs, idleMsMax } from "./limits.ts";
import { writeRequest, type WritableRequest } from "./request.ts";

/** Who waits for a response. `end` or `failed` is the last call, and there is none behind a cancel. */
export interface Answering {
  /** The request is about to be written. */
  sent(): void;
  /** `bodyBytes`: how long the body will be, where the head says so. */
  head(status: number, headers: ResponseHeaders, bodyBytes: number | undefined): void;
  /** A piece of the body, not empty, which may be kept. */
  data(bytes: Uint8Array): void;
  /** The response is whole. */
  end(): void;
  /** There will be no whole response. Without `sent` no byte of the request was written. */
  failed(): void;
}

/** Who owns the connection. */
export interface ConnectionOwner {
  /** It is idle again. */
  released(connection: Connection): void;
  /** It is over. Called once. */
  gone(connection: Connection): void;
  /** Somebody who waits for a response threw. */
  bug(error: unknown): void;
}

export class Connection {
  /** How long it may stay idle. */
  idleMs = idleMs;
  /** When it has been idle for too long, by the owner's clock. */
  idleUntilMs = 0;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #reader = new ResponseReader(headBytesMax);
  #answering: Answering | undefined;
  #over = false;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    // An end of the writing side that meets no reader is told as an error and then as a close.
    socket.on("error", this.#onClose);
    socket.on("close", this.#onClose);
  }

  /** Over for new requests: given up, or closed by the server. */
  get over(): boolean {
    return this.#over;
  }

  /** Resolves once the socket is closed. */
  get closed(): Promise<void> {
    if (this.#socket.closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#socket.once("close", () => resolve());
    });
  }

  /** Sends a request. Only while it is idle. */
  ask(request: WritableRequest, answering: Answering): void {
    this.#answering = answering;
    this.#reader.begin();
    answering.sent();
    writeRequest(this.#socket, request);
  }

  /** Gives the connection up if this one waits for a response on it; he is not told. */
  cancel(answering: Answering): void {
    if (this.#answering === answering) this.drop();
  }

  /** Gives the connection up; who waits for a response is not told. */
  drop(): void {
    this.#answering = undefined;
    if (this.#over) return;
    this.#over = true;
    this.#socket.destroy();
    this.#owner.gone(this);
  }

  /** Gives the connection up; who waits for a response is told. */
  fail(): void {
    const answering = this.#answering;
    this.drop();
    answering?.failed();
  }

  readonly #onData = (chunk: Uint8Array): void => {
    // Bytes that nobody asked for could be taken for the response to the next request.
    if (this.#answering === undefined) return this.drop();
    this.#reader.push(chunk);
    this.#guarded(this.#read);
  };

  readonly #onEnd = (): void => {
    if (this.#answering === undefined) return this.drop();
    this.#guarded(this.#readEnd);
  };

  readonly #onClose = (): void => this.#guarded(this.#failed);

  readonly #failed = (): void => this.fail();

  readonly #readEnd = (): void => {
    if (this.#reader.close().kind === "end") this.#whole(false);
    else this.fail();
  };

  readonly #read = (): void => {
    // Whoever waits may cancel at any of these calls.
    for (let asked = this.#answering; asked !== undefined; asked = this.#answering) {
      const step = this.#reader.next();
      switch (step.kind) {
        case "more":
          return;
        case "head":
          this.idleMs = idleMsOf(step.headers["keep-alive"]);
          asked.head(step.status, step.headers, step.bodyBytes);
          break;
        case "data":
          asked.data(step.bytes);
          break;
        case "end":
          return this.#whole(step.reusable);
        case "fault":
          return this.fail();
      }
    }
  };

  /** A server that answers before it read the whole request may be about to close. */
  #whole(reusable: boolean): void {
    const answering = this.#answering;
    this.#answering = undefined;
    const isClean = this.#reader.unread === 0 && this.#socket.writableLength === 0;
    if (reusable && isClean && this.idleMs > 0) this.#owner.released(this);
    else this.drop();
    answering?.end();
  }

  /** A bug of one who waits ends this connection, and not the process. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (bug) {
      this.#owner.bug(bug);
      // Ends at the second time: by then nobody waits any more.
      this.#guarded(this.#failed);
    }
  }
}

/** Source: the header `keep-alive` of a response, as in `timeout=5, max=100`. */
function idleMsOf(header: string | string[] | undefined): number {
  if (header === undefined) return idleMs;
  const seconds = /timeout=(\d{1,9})/i.exec(header.toString())?.[1];
  if (seconds === undefined) return idleMs;
  return Math.min(Number(seconds) * 1_000 - idleMarginMs, idleMsMax);
}
