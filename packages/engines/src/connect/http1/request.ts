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
  { method, path, headers, body = "" }: HttpRequest,
  host: string,
): WritableRequest | undefined {
  if (!plainPath.test(path)) return undefined;
  const lines = headers instanceof HeaderLines ? headers.text : writtenOf(headers);
  if (lines === undefined) return undefined;
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${lines}`;
  if (typeof body !== "string") {
    return {
      head: `${head}transfer-encoding: chunked\r\n\r\n`,
      body: "",
      bodyBytes: 0,
      pieces: body,
    };
  }
  const bodyBytes = Buffer.byteLength(body);
  // A method that may have a body says so also when it has none (RFC 9110 §8.6).
  if (bodyBytes > 0 || method === "POST") head += `content-length: ${bodyBytes}\r\n`;
  return { head: `${head}\r\n`, body, bodyBytes, pieces: undefined };
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

/** Writes it in one piece, unless its body is large. */
export function writeRequest(
  socket: Writable,
  { head, body, bodyBytes }: Omit<WritableRequest, "pieces">,
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
    turnWrites.write(socket, head + body);
    return;
  }
  const bytes = Buffer.allocUnsafe(head.length + bodyBytes);
  bytes.write(head, 0, "latin1");
  bytes.write(body, head.length, "utf8");
  turnWrites.write(socket, bytes);
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
