/** Writes answers to HTTP: those of the SDK as they come, small documents, and refusals by status. */
import type { GatewayError } from "@gateway/core/error.ts";
import { mcpErrors, refusalBody } from "../errors.ts";
import { drained, type HttpRequest, type HttpResponse } from "../../listener/http/exchange.ts";

const json = "application/json";

/** Sends the SDK's answer; a stream as its events come, and no faster than the client takes them. */
export async function sendAnswer(
  response: HttpResponse,
  answer: Response,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  if (response.destroyed) return;
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) {
    if (name !== "connection") response.setHeader(name, value);
  }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (answer.body === null) return void response.end();
  if (answer.headers.get("content-type") === json) {
    return endText(response, json, await answer.text());
  }
  response.flushHeaders();
  for await (const chunk of answer.body) {
    if (response.destroyed) return;
    if (!response.write(chunk as Uint8Array)) await drained(response);
  }
  response.end();
}

/** Taken, and nothing to say (MCP transports, "Sending Messages to the Server"). */
export function sendEmpty(response: HttpResponse): void {
  if (response.headersSent) return void response.end();
  response.statusCode = 202;
  response.end();
}

/** Sends a small document. */
export function sendJson(response: HttpResponse, document: unknown): void {
  endText(response, json, JSON.stringify(document));
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
  endText(response, "text/plain; charset=utf-8", `${text}\n`);
}

/** How a refusal differs from what its code says. */
export interface Refusal {
  readonly status?: number;
  readonly rpc?: number;
  /** Go with a login that is missing or wrong. */
  readonly challenges?: readonly string[];
}

/** Told as the wait when its length is not known. */
const retryAfterMs = 1000;

/** Answers a request by the status of an error, with a JSON-RPC error for whoever reads on. */
export function sendRefusal(
  request: HttpRequest,
  response: HttpResponse,
  error: GatewayError,
  refusal: Refusal = {},
): void {
  const { challenges = [], rpc } = refusal;
  const { status: usual } = mcpErrors[error.code];
  // A code that only a call can meet is a bug here.
  const status = refusal.status ?? (usual === 200 ? 500 : usual);
  response.statusCode = status;
  if (status === 401) response.setHeader("WWW-Authenticate", challenges);
  if (status === 503) {
    const seconds = Math.max(1, Math.ceil((error.retryAfterMs ?? retryAfterMs) / 1000));
    response.setHeader("Retry-After", seconds);
  }
  closeIfEndless(request, response);
  endText(response, json, refusalBody(error, rpc));
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

function endText(response: HttpResponse, type: string, text: string): void {
  response.setHeader("Content-Type", type);
  response.setHeader("Content-Length", Buffer.byteLength(text));
  response.end(text);
}
