/** A request as it is written to a connection. What could end a line, or say where the message ends, is refused. */
import type { Writable } from "node:stream";
import { turnWrites } from "../turn.ts";
import { pieceBytesMax } from "./limits.ts";

export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Path and query, from `/` on. */
  readonly path: string;
  /** Names and values in turn, or the lines that were written of them. */
  readonly headers: readonly string[] | HeaderLines;
  /** Text that is sent as UTF-8, or bytes that are sent as they come; undefined for none. */
  readonly body: string | AsyncIterable<Uint8Array> | undefined;
}

/** A part of an address in which nothing ends it, or means more than itself. */
export type EncodedText = string & { readonly [encoded]: true };

declare const encoded: unique symbol;

/** Throws for half of a surrogate pair. */
export function encodedText(text: string): EncodedText {
  return encodeURIComponent(text) as EncodedText;
}

/** A request that differs from others of its form in a part of its address and in its body. */
export interface FormedRequest {
  readonly form: RequestForm;
  readonly part: EncodedText;
  readonly body: string;
}

/** A request that may be written. */
export interface WritableRequest {
  /** Latin-1, up to the empty line. */
  readonly head: string;
  /** What is known of the body, and its length. */
  readonly body: string;
  readonly bodyBytes: number;
  /** What follows the head in chunks. */
  readonly pieces: AsyncIterable<Uint8Array> | undefined;
}

/** Headers that were judged once for several requests. */
export class HeaderLines {
  /** Each with its end; undefined where HTTP can not carry them. */
  readonly text: string | undefined;

  constructor(text: string | undefined) {
    this.text = text;
  }

  /** With those behind it. */
  with(headers: readonly string[]): HeaderLines {
    const { text } = this;
    const more = text === undefined ? undefined : linesOf(headers);
    return new HeaderLines(text === undefined || more === undefined ? undefined : text + more);
  }
}

/** Bodies up to this length are remembered with what stands before them. */
const bodyLengthMax = 2_048;

/** What requests have in common: judged and written once. */
export class RequestForm {
  readonly #common: Pick<HttpRequest, "method" | "headers">;
  /** The address, before its part and behind it. */
  readonly before: string;
  readonly behind: string;
  #host: string | undefined;
  /** Of the head, up to the part; undefined where HTTP can not carry it. */
  #start: string | undefined;
  /** Of the head, behind the part. */
  #rest = "";
  /** The last body, and what was written of it behind the part. */
  #body: string | undefined;
  #tail = "";

  constructor(common: Pick<HttpRequest, "method" | "headers">, before: string, behind: string) {
    this.#common = common;
    this.before = before;
    this.behind = behind;
  }

  /** As `writableRequest` would make it. */
  writable({ part, body }: FormedRequest, host: string): WritableRequest | undefined {
    if (this.#host !== host) this.#write(host);
    const start = this.#start;
    if (start === undefined) return undefined;
    if (body !== this.#body) {
      const bodyBytes = Buffer.byteLength(body);
      const rest = `${this.#rest}${lengthLine(this.#common.method, bodyBytes)}\r\n`;
      const isPlain = bodyBytes === body.length && bodyBytes <= bodyLengthMax;
      if (!isPlain) return { head: start + part + rest, body, bodyBytes, pieces: undefined };
      this.#body = body;
      this.#tail = flat(rest + body);
    }
    return { head: start + part + this.#tail, body: "", bodyBytes: 0, pieces: undefined };
  }

  #write(host: string): void {
    const { before, behind } = this;
    const { method, headers } = this.#common;
    const lines = headers instanceof HeaderLines ? headers.text : writtenOf(headers);
    const isCarried = plainPath.test(before + behind) && lines !== undefined;
    this.#host = host;
    this.#start = isCarried ? flat(`${method} ${before}`) : undefined;
    this.#rest = `${behind}${linesBefore(host)}${lines ?? ""}`;
    this.#body = undefined;
  }
}

/** One piece of memory: what is joined to it is then copied out of it, and not out of all parts that it was made of. */
function flat(latin1: string): string {
  return Buffer.from(latin1, "latin1").toString("latin1");
}

const token = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
/** Where a value can not be latin-1 text of one line. */
const notValue = /[^\t\x20-\x7e\x80-\xff]/;
const plainPath = /^\/[\x21-\x7e\x80-\xff]*$/;

/** Headers that the connection itself decides about. */
const ownHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** The lines of lists of headers that were written: a login's requests have one list. */
const writtenLists = new WeakMap<readonly string[], string>();

/** `host`: of the origin, with its port when it is not that of the protocol. Undefined for a request that HTTP can not carry. */
export function writableRequest(
  request: HttpRequest | FormedRequest,
  host: string,
): WritableRequest | undefined {
  if ("form" in request) return request.form.writable(request, host);
  const { method, path, headers, body = "" } = request;
  if (!plainPath.test(path)) return undefined;
  const lines = headers instanceof HeaderLines ? headers.text : writtenOf(headers);
  if (lines === undefined) return undefined;
  const head = `${method} ${path}${linesBefore(host)}${lines}`;
  if (typeof body !== "string") {
    return {
      head: `${head}transfer-encoding: chunked\r\n\r\n`,
      body: "",
      bodyBytes: 0,
      pieces: body,
    };
  }
  const bodyBytes = Buffer.byteLength(body);
  const line = lengthLine(method, bodyBytes);
  return { head: `${head}${line}\r\n`, body, bodyBytes, pieces: undefined };
}

/** From behind the address to the request's own headers. */
function linesBefore(host: string): string {
  return ` HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
}

/** A method that may have a body says so also when it has none (RFC 9110 §8.6). */
function lengthLine(method: HttpRequest["method"], bodyBytes: number): string {
  return bodyBytes > 0 || method === "POST" ? `content-length: ${bodyBytes}\r\n` : "";
}

function writtenOf(headers: readonly string[]): string | undefined {
  const known = writtenLists.get(headers);
  if (known !== undefined) return known;
  const lines = linesOf(headers);
  if (lines !== undefined) writtenLists.set(headers, lines);
  return lines;
}

/** Undefined for those that HTTP can not carry. */
export function linesOf(headers: readonly string[]): string | undefined {
  if (headers.length % 2 !== 0) return undefined;
  let lines = "";
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? "";
    const value = headers[at + 1] ?? "";
    if (!token.test(name) || notValue.test(value) || ownHeaders.has(name.toLowerCase())) {
      return undefined;
    }
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

/** Writes it in one piece, unless its body is large; with the end of the turn, or at once for someone who asks alone. */
export function writeRequest(
  socket: Writable,
  { head, body, bodyBytes }: Omit<WritableRequest, "pieces">,
  isAlone: boolean,
): void {
  if (bodyBytes > pieceBytesMax) {
    turnWrites.leave();
    socket.cork();
    socket.write(head, "latin1");
    socket.write(body, "utf8");
    socket.uncork();
    return;
  }
  // As many bytes as characters: the body is ASCII, which is the same text in both encodings.
  if (bodyBytes === body.length) {
    const text = bodyBytes === 0 ? head : head + body;
    if (isAlone) socket.write(text, "latin1");
    else turnWrites.write(socket, text);
    return;
  }
  const bytes = Buffer.allocUnsafe(head.length + bodyBytes);
  bytes.write(head, 0, "latin1");
  bytes.write(body, head.length, "utf8");
  if (isAlone) socket.write(bytes);
  else turnWrites.write(socket, bytes);
}

/** Writes a piece of a body, which is not empty. False where the socket asks to wait. */
export function writeChunk(socket: Writable, bytes: Uint8Array): boolean {
  // The head may still wait for the end of the turn.
  turnWrites.leave();
  socket.cork();
  socket.write(`${bytes.length.toString(16)}\r\n`, "latin1");
  socket.write(bytes);
  const goesOn = socket.write("\r\n", "latin1");
  socket.uncork();
  return goesOn;
}

/** Writes the end of such a body. */
export function writeLastChunk(socket: Writable): void {
  turnWrites.write(socket, "0\r\n\r\n");
}
