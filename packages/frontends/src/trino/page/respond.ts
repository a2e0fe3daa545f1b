/** Writes answers to HTTP: pages of a statement, small JSON documents, and refusals by status. */
import { ServerResponse } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { GatewayError } from "@gateway/core/error.ts";
import { trinoErrors } from "../errors.ts";
import { turnWrites } from "../../turn.ts";
import { pageHead, type Links, type Page } from "./page.ts";
import type { HttpRequest, HttpResponse } from "../../listener/http/exchange.ts";

const compress = promisify(gzip);

/** Smaller answers cost more to compress than to send. */
const compressedBytesMin = 8 * 1024;
/** Level 1 keeps up with the encoder; higher ones do not. */
const compression = { level: 1 } as const;
const json = "application/json";

/** Sends a page, at once unless it is compressed. `mayCompress` says whether the way to the client is worth it. */
export function sendPage(
  request: HttpRequest,
  response: HttpResponse,
  page: Page,
  sent: { readonly links: Links; readonly mayCompress: boolean },
): Promise<void> | void {
  const head = pageHead(page, sent.links);
  for (const [name, value] of page.headers) response.appendHeader(name, value);
  const { data = "", tail } = page;
  if (typeof data === "string") return endText(response, json, head + data + tail);

  const pieces = [Buffer.from(head + data.before), data.rows, Buffer.from(data.after + tail)];
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  response.setHeader("Content-Type", json);
  const worthwhile = sent.mayCompress && !data.dense && length >= compressedBytesMin;
  if (worthwhile && acceptsGzip(request)) {
    const packed = compress(Buffer.concat(pieces), compression);
    return packed.then((bytes) => endCompressed(response, bytes));
  }
  response.setHeader("Content-Length", length);
  // Corked, the pieces leave in one system call without being copied together.
  response.cork();
  for (const piece of pieces) response.write(piece);
  response.end();
  return undefined;
}

function endText(response: HttpResponse, type: string, text: string): void {
  if (!(response instanceof ServerResponse)) {
    response.setHeader("Content-Type", type);
    turnWrites.later(() => response.end(text));
    return;
  }
  const length = Buffer.byteLength(text);
  const headers = ["Content-Type", type, "Content-Length", String(length)];
  response.writeHead(response.statusCode, headers);
  turnWrites.later(() => {
    // Given to `end`, the text goes out by `writev` together with an empty piece; so it is one `write`.
    response.write(text, length === text.length ? "latin1" : "utf8");
    response.socket?.uncork();
    response.end();
  });
}

function endCompressed(response: HttpResponse, bytes: Buffer): void {
  response.setHeader("Content-Encoding", "gzip");
  response.setHeader("Vary", "Accept-Encoding");
  response.setHeader("Content-Length", bytes.length);
  response.end(bytes);
}

/** `gzip` or `*` without a weight of zero. */
function acceptsGzip(request: HttpRequest): boolean {
  const accepted = request.headers["accept-encoding"];
  if (typeof accepted !== "string") return false;
  return accepted.split(",").some((item) => {
    const [name = "", weight = ""] = item.split(";", 2);
    const wanted = name.trim().toLowerCase();
    return (wanted === "gzip" || wanted === "*") && !/^\s*q=0(\.0*)?\s*$/i.test(weight);
  });
}

/** Sends a small document. */
export function sendJson(response: HttpResponse, document: unknown): void {
  endText(response, json, JSON.stringify(document));
}

/**
 * Sends a status with a line for people. What was not read of a body is passed over by Node, so that a client that
 * still sends it comes to its answer; one without an end in sight closes the connection.
 */
export function sendStatus(
  request: HttpRequest,
  response: HttpResponse,
  status: number,
  text: string,
): void {
  response.statusCode = status;
  if (hasEndless(request)) response.setHeader("Connection", "close");
  endText(response, "text/plain; charset=utf-8", text);
}

/** Bytes of an unread body that we take, so that its sender reads the answer. As many as a statement may have. */
const passedOverMax = 64 * 1024 * 1024;

/** True when more of the body follows, and too much of it or nobody knows how much. */
function hasEndless({ complete, headers }: HttpRequest): boolean {
  if (complete) return false;
  if (headers["transfer-encoding"] !== undefined) return true;
  return Number(headers["content-length"] ?? 0) > passedOverMax;
}

/** Told as the wait when its length is not known. */
const retryAfterMs = 1000;

/** Answers a request by the status of an error; one that belongs into an answer of a query is a bug here. `challenges` go with a login that is missing or wrong. */
export function sendRefusal(
  request: HttpRequest,
  response: HttpResponse,
  error: GatewayError,
  challenges: readonly string[] = [],
): void {
  const { status } = trinoErrors[error.code];
  if (status === 401) response.setHeader("WWW-Authenticate", challenges);
  if (status === 503) {
    const seconds = Math.max(1, Math.ceil((error.retryAfterMs ?? retryAfterMs) / 1000));
    response.setHeader("Retry-After", seconds);
  }
  sendStatus(request, response, status === 200 ? 500 : status, error.message);
}
