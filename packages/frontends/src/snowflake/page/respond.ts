/** Writes answers to HTTP: documents of drivers, chunks of rows, and refusals by status. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { GatewayError } from "@gateway/core/error.ts";
import { snowflakeErrors } from "../errors.ts";
import { failed } from "./answers.ts";
import type { HttpRequest, HttpResponse } from "../../listener/http/exchange.ts";

const compress = promisify(gzip);
/** Smaller answers cost more to compress than to send. */
const compressedBytesMin = 8 * 1024;
const compression = { level: 1 } as const;
const json = "application/json";

/** Sends a document. */
export function sendJson(response: HttpResponse, document: unknown): void {
  endBytes(response, json, Buffer.from(JSON.stringify(document)));
}

/** Sends a document that is text already, compressed where the driver takes that. */
export async function sendText(
  request: HttpRequest,
  response: HttpResponse,
  text: string,
): Promise<void> {
  const bytes = Buffer.from(text);
  const takes = /\bgzip\b/.test(request.headers["accept-encoding"]?.toString() ?? "");
  if (!takes || bytes.length < compressedBytesMin) return endBytes(response, json, bytes);
  const packed = await compress(bytes, compression);
  response.setHeader("Content-Encoding", "gzip");
  return endBytes(response, json, packed);
}

/** Sends a document with a status; bytes are JSON already. */
export function sendDocument(
  { request, response }: { readonly request: HttpRequest; readonly response: HttpResponse },
  status: number,
  document: object | Buffer,
): void {
  response.statusCode = status;
  if (status === 503) response.setHeader("Retry-After", 1);
  closeIfEndless(request, response);
  const bytes = Buffer.isBuffer(document) ? document : Buffer.from(JSON.stringify(document));
  endBytes(response, json, bytes);
}

/** Sends rows, which are compressed. */
export function sendChunk(response: HttpResponse, bytes: Buffer): void {
  response.setHeader("Content-Encoding", "gzip");
  endBytes(response, "application/octet-stream", bytes);
}

/** Told as the wait when its length is not known. */
const retryAfterMs = 1_000;

/** Answers a request that failed, by the status of its error. */
export function sendFailure(
  request: HttpRequest,
  response: HttpResponse,
  error: GatewayError,
): void {
  const { status } = snowflakeErrors[error.code];
  response.statusCode = status;
  if (status === 503) {
    const seconds = Math.max(1, Math.ceil((error.retryAfterMs ?? retryAfterMs) / 1_000));
    response.setHeader("Retry-After", seconds);
  }
  closeIfEndless(request, response);
  sendJson(response, failed(error));
}

/** Sends a status with a line for people. */
export function sendStatus(
  request: HttpRequest,
  response: HttpResponse,
  status: number,
  text: string,
): void {
  response.statusCode = status;
  closeIfEndless(request, response);
  endBytes(response, "text/plain; charset=utf-8", Buffer.from(`${text}\n`));
}

/** Bytes of an unread body that we take, so that its sender reads the answer. */
const passedOverMax = 64 * 1024 * 1024;

/** Closes the connection when more of the body follows, and too much of it or nobody knows how much. */
function closeIfEndless({ complete, headers }: HttpRequest, response: HttpResponse): void {
  if (complete) return;
  const isLong = Number(headers["content-length"] ?? 0) > passedOverMax;
  if (isLong || headers["transfer-encoding"] !== undefined)
    response.setHeader("Connection", "close");
}

function endBytes(response: HttpResponse, type: string, bytes: Buffer): void {
  if (response.destroyed) return;
  response.setHeader("Content-Type", type);
  response.setHeader("Content-Length", bytes.length);
  response.end(bytes);
}
