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
  /** Bytes that had passed at the last look, which is taken in silence only, and how long none have since. */
  #passed = 0;
  #silentMs = 0;
  /** `node:http` has the connection. */
  #isElsewhere = false;

  constructor(socket: Socket, serving: PlainServing) {
    this.socket = socket;
    this.#serving = serving;
    this.#lookMs = Math.min(serving.keepAliveMs, serving.stalledMs);
    const secs = Math.floor(serving.keepAliveMs / 1000);
    this.keepAliveLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${secs}\r\n`;
  }

  start(): void {
    const { socket } = this;
    socket.on("data", this.#onData);
    socket.on("drain", this.#onDrain);
    socket.on("timeout", this.#onTimeout);
    socket.on("close", this.#onClose);
    socket.setTimeout(this.#lookMs);
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
    if (again) this.socket.setTimeout(this.#lookMs);
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

  readonly #onClose = (): void => this.#response?.gone();

  /** The process may have stood still: what lies in the socket is read first. */
  readonly #onTimeout = (): void => {
    const passed = this.#bytesPassed();
    setImmediate(() => {
      if (!this.#isElsewhere && this.#bytesPassed() === passed) this.#onSilence(passed);
    });
  };

  #onSilence(passed: number): void {
    const { socket } = this;
    this.#last.forget();
    this.#silentMs = this.#lookMs + (passed === this.#passed ? this.#silentMs : 0);
    this.#passed = passed;
    if (this.#silentMs < this.#silentMsMax()) return void socket.setTimeout(this.#lookMs);
    if (this.#response !== undefined) return void socket.destroy();
    if (this.#held !== undefined) socket.write(tooLate);
    socket.destroySoon();
  }

  #silentMsMax(): number {
    const { keepAliveMs, requestMs, stalledMs } = this.#serving;
    if (this.#response !== undefined) return stalledMs;
    return this.#held === undefined ? keepAliveMs : requestMs;
  }

  #bytesPassed(): number {
    return this.socket.bytesRead + this.socket.bytesWritten;
  }
}

const tooLate = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";
