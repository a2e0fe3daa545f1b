/**
 * The answer to a request that was read here, written to its socket as `node:http` writes it: the same lines in the same order,
 * a length where the body is known with the head, and chunks where it is not.
 */
import { STATUS_CODES, validateHeaderName, validateHeaderValue } from "node:http";
import type { Socket } from "node:net";
import type { HttpResponse } from "../exchange.ts";
import { dateLine } from "./date.ts";

/** The connection of a response. */
export interface ResponseOwner {
  readonly socket: Socket;
  /** `Keep-Alive: timeout=75`, with its end. */
  readonly keepAliveLines: string;
  unixMs(): number;
  /** Called once all of it is out. `last`: the connection ends with it. */
  answered(last: boolean): void;
}

const nothing = new Uint8Array(0);
const lineEnd = Buffer.from("\r\n");
const lastChunk = Buffer.from("0\r\n\r\n");
const closes = /(?:^|\W)close(?:$|\W)/i;
/** A head and a body up to this size leave as one piece, which costs a copy and saves the other write. */
const joinedBytesMax = 16 * 1024;

const soon = Promise.resolve();
/** A body up to this size is written as one text with its head, which takes no buffer. */
const textBytesMax = 1024;

/** Where a value can not stand in a header, as `node:http` judges it. */
const notValue = /[^\t\x20-\x7e\x80-\xff]/;

type Told = "close" | "drain";

export class PlainResponse implements HttpResponse {
  statusCode = 200;
  destroyed = false;
  writableFinished = false;
  headersSent = false;
  readonly #owner: ResponseOwner;
  /** In lower case, beside `#names` and `#values`. */
  readonly #keys: string[] = [];
  readonly #names: string[] = [];
  readonly #values: (string | readonly string[])[] = [];
  #chunked = false;
  #last = false;
  #ended = false;
  #corked = false;
  #told = false;

  /** Who is told: by hand, because the bookkeeping of an emitter costs each answer 2 µs. */
  #listeners: Listener[] = [];

  constructor(owner: ResponseOwner) {
    this.#owner = owner;
  }

  get socket(): Socket {
    return this.#owner.socket;
  }

  get writableNeedDrain(): boolean {
    return this.#owner.socket.writableNeedDrain;
  }

  /** Throws for what no header may hold, as `node:http` does. */
  setHeader(name: string, value: number | string | readonly string[]): this {
    if (this.headersSent) throw new Error("a header behind the head");
    const key = keyOf(name);
    const texts = typeof value === "object" ? value : String(value);
    if (typeof value === "string") checkHeader(name, value);
    else if (typeof texts === "object") for (const text of texts) checkHeader(name, text);
    const found = this.#keys.indexOf(key);
    const at = found < 0 ? this.#keys.length : found;
    this.#keys[at] = key;
    this.#names[at] = name;
    this.#values[at] = texts;
    return this;
  }

  appendHeader(name: string, value: string | readonly string[]): this {
    const at = this.#keys.indexOf(name.toLowerCase());
    const before = at < 0 ? [] : [this.#values[at] ?? []].flat();
    return this.setHeader(this.#names[at] ?? name, before.concat(value));
  }

  hasHeader(name: string): boolean {
    return this.#keys.includes(name.toLowerCase());
  }

  removeHeader(name: string): void {
    const at = this.#keys.indexOf(name.toLowerCase());
    if (at < 0) return;
    for (const list of [this.#keys, this.#names, this.#values]) list.splice(at, 1);
  }

  writeHead(status: number, headers: readonly string[]): this {
    this.statusCode = status;
    for (let at = 0; at + 1 < headers.length; at += 2) {
      this.appendHeader(headers[at] ?? "", headers[at + 1] ?? "");
    }
    return this;
  }

  write(bytes: Uint8Array, written?: () => void): boolean {
    const { socket } = this.#owner;
    if (this.#ended || this.destroyed) return false;
    if (!this.#corked) socket.cork();
    if (!this.headersSent) socket.write(this.#head(undefined), "latin1");
    if (!this.#hasBody) socket.write(nothing, written);
    else if (this.#chunked && bytes.length > 0) {
      socket.write(`${bytes.length.toString(16)}\r\n`, "latin1");
      socket.write(bytes);
      socket.write(lineEnd, written);
    } else socket.write(bytes, written);
    if (!this.#corked) socket.uncork();
    return !socket.writableNeedDrain;
  }

  end(body: Uint8Array | string = nothing): this {
    if (this.#ended || this.destroyed) return this;
    const { socket } = this.#owner;
    if (this.headersSent) {
      if (body.length > 0) this.write(typeof body === "string" ? Buffer.from(body) : body);
      if (this.#chunked && this.#hasBody) socket.write(lastChunk);
    } else {
      const bytes = typeof body === "string" ? Buffer.byteLength(body) : body.length;
      this.#whole(this.#head(bytes), this.#hasBody ? body : nothing, bytes);
    }
    this.#ended = true;
    if (this.#corked) socket.uncork();
    this.#finishLater();
    return this;
  }

  /** Nothing was said yet. */
  get isFresh(): boolean {
    const isSaid = this.headersSent || this.#keys.length > 0 || this.statusCode !== 200;
    return !isSaid && !this.#corked;
  }

  /**
   * The head and all of the body, of a response of which nothing was said yet. `lines` are whole ones that a head may hold: the
   * length of the body is among them, and nothing of the connection.
   */
  endWith(lines: string, body: Uint8Array): void {
    if (this.#ended || this.destroyed) return;
    const { socket, keepAliveLines } = this.#owner;
    const date = dateLine(this.#owner.unixMs());
    const head = `HTTP/1.1 200 OK\r\n${lines}${date}${keepAliveLines}\r\n`;
    this.headersSent = true;
    if (body.length <= textBytesMax) socket.write(head + latin1Of(body), "latin1");
    else this.#whole(head, body, body.length);
    this.#ended = true;
    this.#finishLater();
  }

  flushHeaders(): void {
    if (!this.headersSent) this.#owner.socket.write(this.#head(undefined), "latin1");
  }

  cork(): void {
    this.#corked = true;
    this.#owner.socket.cork();
  }

  /** With its connection. */
  destroy(): this {
    this.destroyed = true;
    this.#owner.socket.destroy();
    return this;
  }

  on(event: Told, tell: () => void): this {
    this.#listeners.push({ event, tell, once: false });
    return this;
  }

  once(event: Told, tell: () => void): this {
    this.#listeners.push({ event, tell, once: true });
    return this;
  }

  /** The one that was added last. */
  off(event: Told, tell: () => void): this {
    const at = this.#listeners.findLastIndex((one) => one.event === event && one.tell === tell);
    if (at >= 0) this.#listeners = this.#listeners.toSpliced(at, 1);
    return this;
  }

  /** Those who listened when it happened, in their order. */
  tell(event: Told): void {
    const listeners = this.#listeners;
    for (let at = 0, count = listeners.length; at < count; at += 1) {
      const one = listeners[at];
      if (one?.event !== event) continue;
      if (one.once) this.off(event, one.tell);
      one.tell();
    }
  }

  /** The connection is gone. */
  gone(): void {
    this.destroyed = true;
    this.#over();
  }

  /** Nobody is told twice of an end, and who listened need not be taken out. */
  #over(): void {
    if (this.#told) return;
    this.#told = true;
    const listeners = this.#listeners;
    for (let at = 0, count = listeners.length; at < count; at += 1) {
      const one = listeners[at];
      if (one?.event === "close") one.tell();
    }
  }

  get #hasBody(): boolean {
    return this.statusCode !== 204 && this.statusCode !== 304;
  }

  #whole(head: string, body: Uint8Array | string, bytes: number): void {
    const { socket } = this.#owner;
    if (typeof body === "string" && bytes === body.length) {
      socket.write(head + body, "latin1");
    } else if (body.length === 0) {
      socket.write(head, "latin1");
    } else if (bytes <= joinedBytesMax) {
      const all = Buffer.allocUnsafe(head.length + bytes);
      all.write(head, "latin1");
      if (typeof body === "string") all.write(body, head.length);
      else all.set(body, head.length);
      socket.write(all);
    } else {
      socket.cork();
      socket.write(head, "latin1");
      socket.write(body);
      socket.uncork();
    }
  }

  /** `bodyBytes` where the whole body comes with it. */
  #head(bodyBytes: number | undefined): string {
    this.headersSent = true;
    const names = this.#names;
    let head = `HTTP/1.1 ${this.statusCode} ${STATUS_CODES[this.statusCode] ?? "unknown"}\r\n`;
    let connection = this.#owner.keepAliveLines;
    let hasLength = false;
    for (let at = 0; at < names.length; at += 1) {
      const value = this.#values[at] ?? "";
      const key = this.#keys[at];
      if (typeof value !== "string") for (const one of value) head += `${names[at]}: ${one}\r\n`;
      else head += `${names[at]}: ${value}\r\n`;
      if (key === "content-length") hasLength = true;
      if (key === "connection") {
        connection = "";
        this.#last = closes.test(String(value));
      }
    }
    head += dateLine(this.#owner.unixMs()) + connection;
    if (hasLength || !this.#hasBody) return `${head}\r\n`;
    if (bodyBytes !== undefined) return `${head}Content-Length: ${bodyBytes}\r\n\r\n`;
    this.#chunked = true;
    return `${head}Transfer-Encoding: chunked\r\n\r\n`;
  }

  #finishLater(): void {
    const { socket } = this.#owner;
    if (socket.writableLength === 0) void PlainResponse.#finishSoon(this);
    else socket.write(nothing, () => PlainResponse.#finish(this));
  }

  /**
   * Behind whoever ended it. An await and no `process.nextTick`, whose entry is made in V8's runtime; and a function that
   * is there, as one of its own for each response is compiled for its one call.
   */
  static async #finishSoon(this: void, response: PlainResponse): Promise<void> {
    await soon;
    PlainResponse.#finish(response);
  }

  static #finish(this: void, response: PlainResponse): void {
    if (response.#told) return;
    response.writableFinished = !response.destroyed;
    response.destroyed = true;
    response.#over();
    response.#owner.answered(response.#last);
  }
}

interface Listener {
  readonly event: Told;
  readonly tell: () => void;
  readonly once: boolean;
}

/** Written as latin-1 it is the same bytes again. */
function latin1Of(body: Uint8Array): string {
  if (body.length === 0) return "";
  const { buffer, byteOffset, length } = body;
  return (Buffer.isBuffer(body) ? body : Buffer.from(buffer, byteOffset, length)).toString(
    "latin1",
  );
}

/** Throws for what no header may hold, in the words of `node:http`. */
export function checkHeader(name: string, value: string): void {
  if (notValue.test(value)) validateHeaderValue(name, value);
}

/** Names that may stand in a head, in lower case: answers have the same few. */
const keys = new Map<string, string>();
const keysMax = 256;

/** Throws for what is no name. */
function keyOf(name: string): string {
  const known = keys.get(name);
  if (known !== undefined) return known;
  validateHeaderName(name);
  const key = name.toLowerCase();
  if (keys.size < keysMax) keys.set(name, key);
  return key;
}
