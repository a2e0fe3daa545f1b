/**
 * One connection to an HTTP engine, with one request under way at most.
 *
 * | State | A request | Bytes come | The server ends |
 * |---|---|---|---|
 * | idle | begins | unasked: the connection is given up | given up |
 * | at work | not before the end | read as the response | the response's end, or its failure |
 * | paused | as at work | kept: the socket reads no more than it began to | told once what is kept was read |
 * | over | never | dropped | – |
 */
import type { Socket } from "node:net";
import { ResponseReader } from "@gateway/wire/http/response.ts";
import type { ResponseHeaders } from "@gateway/wire/http/responseHead.ts";
import { giveBack, share } from "@gateway/core/tool/socket/lent.ts";
import { drained } from "../drained.ts";
import { atRest } from "../plainSocket.ts";
import { lentBytes } from "../readBuffer.ts";
import { turnWrites } from "../turn.ts";
import { headBytesMax, idleMarginMs, idleMs, idleMsMax } from "./limits.ts";
import { writeChunk, writeLastChunk, writeRequest, type WritableRequest } from "./request.ts";

/** Who waits for a response. `end` or `failed` is the last call, and there is none behind a cancel. */
export interface Answering {
  /** The request is about to be written. */
  sent(): void;
  /** `bodyBytes`: how long the body will be, where the head says so. */
  head(status: number, headers: ResponseHeaders, bodyBytes: number | undefined): void;
  /** A piece of the body, not empty, which may be kept. */
  data(bytes: Uint8Array): void;
  /** What is here was told, or as much of it as was wanted; more of the response is to come. For whoever wants to know. */
  rests?(): void;
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
  /** Who waits for the response takes no more of it until he resumes. */
  #paused = false;
  /** The server ended while nobody took anything. */
  #ended = false;
  /** Pieces of the request's body are still to come. */
  #sending = false;
  /** What is read now, where it was lent to be read. */
  #lent: Uint8Array | undefined;
  #wasLarge = false;

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

  /** Sends a request, with the end of the turn unless it is alone. Only while it is idle. */
  ask(request: WritableRequest, answering: Answering, isAlone: boolean): void {
    this.#answering = answering;
    this.#paused = false;
    this.#reader.begin();
    answering.sent();
    writeRequest(this.#socket, request, isAlone);
    if (request.pieces === undefined) return;
    this.#sending = true;
    void this.#send(request.pieces, answering);
  }

  /** Gives the connection up if this one waits for a response on it; he is not told. */
  cancel(answering: Answering): void {
    if (this.#answering === answering) this.drop();
  }

  /** Reads no more of the response for the one who waits for it, until he resumes. What was being read may be kept. */
  pause(answering: Answering): void {
    if (this.#answering !== answering || this.#paused) return;
    this.#paused = true;
    this.#socket.pause();
  }

  /** Goes on with what is kept, before this returns, and with the socket behind it. Not from a call of `Answering`. */
  resume(answering: Answering): void {
    if (this.#answering !== answering || !this.#paused) return;
    this.#paused = false;
    this.#guarded(this.#goOn);
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
    if (chunk.length >= lentBytes) this.#lent = chunk;
    this.#reader.push(chunk);
    this.#guarded(this.#read);
  };

  readonly #onEnd = (): void => {
    if (this.#answering === undefined) return this.drop();
    this.#ended = true;
    if (!this.#paused) this.#guarded(this.#readEnd);
  };

  readonly #onClose = (): void => {
    // Behind an end the rest of the response is here, for whoever takes it.
    if (!this.#paused || !this.#ended) this.#guarded(this.#failed);
  };

  readonly #goOn = (): void => {
    // Also where the rest of the response is here: an idle connection has to hear its server. Bytes come later than this.
    this.#socket.resume();
    this.#read();
    if (this.#ended && !this.#paused && this.#answering !== undefined) this.#readEnd();
  };

  readonly #failed = (): void => this.fail();

  readonly #readEnd = (): void => {
    if (this.#reader.close().kind === "end") this.#whole(false);
    else this.fail();
  };

  readonly #read = (): void => {
    // Whoever waits may cancel, or pause, at any of these calls.
    for (let asked = this.#answering; asked !== undefined; asked = this.#answering) {
      if (this.#paused) return asked.rests?.();
      const step = this.#reader.next();
      switch (step.kind) {
        case "more":
          this.#allRead();
          return asked.rests?.();
        case "head":
          this.idleMs = idleMsOf(step.headers["keep-alive"]);
          asked.head(step.status, step.headers, step.bodyBytes);
          break;
        case "data":
          if (this.#lent !== undefined) this.#share(this.#lent, step.bytes);
          asked.data(step.bytes);
          break;
        case "end":
          return this.#whole(step.reusable);
        case "fault":
          return this.fail();
      }
    }
  };

  /** A piece is its reader's from here on, who may give it back. */
  #share(lent: Uint8Array, piece: Uint8Array): void {
    this.#wasLarge = true;
    if (piece === lent) this.#lent = undefined;
    else share(lent, piece);
  }

  #allRead(): void {
    if (this.#lent === undefined) return;
    giveBack(this.#lent);
    this.#lent = undefined;
  }

  /** A server that answers before it read the whole request may be about to close. */
  #whole(reusable: boolean): void {
    const answering = this.#answering;
    this.#answering = undefined;
    const socket = this.#socket;
    this.#allRead();
    if (this.#wasLarge) atRest(socket);
    this.#wasLarge = false;
    const isSent = !this.#sending && socket.writableLength === 0 && !turnWrites.holds(socket);
    const isClean = this.#reader.unread === 0 && isSent;
    if (reusable && isClean && this.idleMs > 0) this.#owner.released(this);
    else this.drop();
    answering?.end();
  }

  /** As fast as the server takes them, and until nobody waits for the response any more. */
  async #send(pieces: AsyncIterable<Uint8Array>, answering: Answering): Promise<void> {
    try {
      for await (const piece of pieces) {
        if (this.#answering !== answering) return;
        // An empty chunk would be the last one.
        if (piece.length > 0 && !writeChunk(this.#socket, piece)) await drained(this.#socket);
        if (this.#answering !== answering) return;
      }
    } catch {
      // Without its last chunk no server takes the body for a whole one.
      if (this.#answering === answering) this.#guarded(this.#failed);
      return;
    }
    if (this.#answering !== answering) return;
    this.#sending = false;
    writeLastChunk(this.#socket);
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
