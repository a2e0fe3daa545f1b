/**
 * Reads the requests of one connection that come alone and whole and can be read in one way only, which are nearly all, and
 * answers them. With the first other one the connection goes to `node:http` for good, with every byte of that request. So there is no
 * request that only one of the two takes: what is refused is refused there. `docs/query-cost.md` says what it saves.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "@gateway/core/port/clock.ts";
import { LastHeads, readPlainHead } from "./head.ts";
import type { HttpRequest, HttpResponse } from "../exchange.ts";
import { PlainRequest } from "./request.ts";
import { PlainResponse, type ResponseOwner } from "./response.ts";

export interface PlainServing {
  readonly clock: Pick<Clock, "unixMs">;
  /** Gets the connection with the first request that is not read here. */
  readonly server: Server;
  /** A connection between two requests ends after so long. */
  readonly keepAliveMs: number;
  /** The rest of a request may take so long. */
  readonly requestMs: number;
  /** A client that takes nothing of its answer for so long is cut off. */
  readonly stalledMs: number;
  readonly serve: (request: HttpRequest, response: HttpResponse) => void;
}

/** A request that is longer with its body is read elsewhere. */
const wholeBytesMax = 64 * 1024;
/** Bytes of a request that are held while its body is on its way: clients send it right behind the head. */
const waitingBytesMax = 8 * 1024;
/** Bytes of further requests that are read while one is answered. */
const aheadBytesMax = 16 * 1024;

/**
 * A connection is looked at so many times while it may be silent, and so closed up to one look late. A socket's own timeout is
 * set anew with each read and each write.
 */
const looksOfSilence = 4;

/** Reads from here on. */
export function servePlain(socket: Socket, serving: PlainServing): void {
  new PlainConnection(socket, serving).start();
}

class PlainConnection implements ResponseOwner {
  readonly socket: Socket;
  readonly keepAliveLines: string;
  readonly #serving: PlainServing;
  readonly #lookMs: number;
  readonly #last = new LastHeads();
  #response: PlainResponse | undefined;
  /** What came while a request was answered; while none is, the start of one. */
  #held: Buffer | undefined;
  /** Bytes that had passed at the last look, and for how long none have. */
  #passed = 0;
  #silentMs = 0;
  #looking: NodeJS.Timeout | undefined;
  /** `node:http` has the connection. */
  #isElsewhere = false;

  constructor(socket: Socket, serving: PlainServing) {
    this.socket = socket;
    this.#serving = serving;
    const { keepAliveMs, stalledMs } = serving;
    this.#lookMs = Math.ceil(Math.min(keepAliveMs, stalledMs) / looksOfSilence);
    const secs = Math.floor(serving.keepAliveMs / 1000);
    this.keepAliveLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${secs}\r\n`;
  }

  start(): void {
    const { socket } = this;
    socket.on("data", this.#onData);
    socket.on("drain", this.#onDrain);
    socket.on("timeout", this.#onTimeout);
    socket.on("close", this.#onClose);
    this.#looking = setTimeout(this.#look, this.#lookMs).unref();
  }

  unixMs(): number {
    return this.#serving.clock.unixMs();
  }

  answered(last: boolean): void {
    this.#response = undefined;
    if (last) return this.socket.destroySoon();
    const held = this.#held;
    if (held === undefined) return;
    this.#held = undefined;
    if (held.length > aheadBytesMax) this.socket.resume();
    this.#take(held, false);
  }

  readonly #onData = (bytes: Buffer): void => {
    const held = this.#held;
    const all = held === undefined ? bytes : Buffer.concat([held, bytes]);
    if (this.#response === undefined) return this.#take(all, held !== undefined);
    this.#held = all;
    if (all.length > aheadBytesMax) this.socket.pause();
  };

  /** `again`: its start was held. */
  #take(bytes: Buffer, again: boolean): void {
    this.#held = undefined;
    if (this.socket.destroyed) return;
    const head = readPlainHead(bytes, this.#last);
    if (typeof head === "string") return this.#handOver(bytes);
    const { bodyAt } = head;
    const end = bodyAt + head.bodyBytes;
    if (end < bytes.length) return this.#handOver(bytes);
    if (end > bytes.length) {
      if (again || end > wholeBytesMax || bytes.length > waitingBytesMax) this.#handOver(bytes);
      else this.#await(bytes);
      return;
    }
    if (again) this.socket.setTimeout(0);
    const response = new PlainResponse(this);
    this.#response = response;
    this.#serving.serve(new PlainRequest(head, bytes.subarray(bodyAt), this.socket), response);
  }

  #await(bytes: Buffer): void {
    this.#held = bytes;
    this.socket.setTimeout(this.#serving.requestMs);
  }

  #handOver(bytes: Buffer): void {
    const { socket } = this;
    this.#isElsewhere = true;
    clearTimeout(this.#looking);
    socket.off("data", this.#onData);
    socket.off("drain", this.#onDrain);
    socket.off("timeout", this.#onTimeout);
    socket.off("close", this.#onClose);
    socket.setTimeout(0);
    socket.pause();
    socket.unshift(bytes);
    this.#serving.server.emit("connection", socket);
    socket.resume();
  }

  readonly #onDrain = (): void => this.#response?.tell("drain");

  readonly #onClose = (): void => {
    clearTimeout(this.#looking);
    this.#response?.gone();
  };

  /** The process may have stood still: what lies in the socket is read first. */
  readonly #look = (): void => {
    const passed = this.#bytesPassed();
    setImmediate(() => {
      if (this.#isElsewhere || this.socket.destroyed) return;
      this.#silentMs = passed === this.#passed ? this.#silentMs + this.#lookMs : 0;
      this.#passed = passed;
      if (this.#silentMs > 0) this.#last.forget();
      const isSilent = this.#bytesPassed() === passed && this.#silentMs >= this.#silentMsMax();
      if (isSilent) this.#closeSilent();
      else this.#looking?.refresh();
    });
  };

  #closeSilent(): void {
    const { socket } = this;
    if (this.#response === undefined) socket.destroySoon();
    else socket.destroy();
  }

  /** The rest of a request did not come. */
  readonly #onTimeout = (): void => {
    const passed = this.#bytesPassed();
    setImmediate(() => {
      const { socket } = this;
      if (this.#isElsewhere || this.#held === undefined || this.#response !== undefined) return;
      if (this.#bytesPassed() !== passed) return;
      socket.write(tooLate);
      socket.destroySoon();
    });
  };

  /** While a request is on its way its socket has a timeout of its own. */
  #silentMsMax(): number {
    const { keepAliveMs, stalledMs } = this.#serving;
    if (this.#response !== undefined) return stalledMs;
    return this.#held === undefined ? keepAliveMs : Number.POSITIVE_INFINITY;
  }

  #bytesPassed(): number {
    return this.socket.bytesRead + this.socket.bytesWritten;
  }
}

const tooLate = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";
