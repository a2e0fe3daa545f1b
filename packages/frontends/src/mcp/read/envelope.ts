/**
 * One JSON-RPC message from the bytes of a body, before anybody else's parser sees it.
 *
 * Depth and number of values are counted over the bytes first: the parsers behind walk what they get by recursion
 * and copy it, so a short body of many brackets or keys would cost much more than its length.
 */
import { isUtf8 } from "node:buffer";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";

/** Arguments of our tools are flat; what clients add (`_meta`, capabilities) stays under ten. */
const depthMax = 32;
const valuesMax = 10_000;
/** An id comes back in the answer, and in the table of calls that can be cancelled. */
const idLengthMax = 256;

export type RequestId = string | number;

/** A message, as far as it is looked at before the SDK reads it. */
export type Envelope =
  | {
      readonly kind: "request";
      readonly id: RequestId;
      readonly method: string;
      /** The client wants to hear of progress, so its answer is a stream of events. */
      readonly wantsProgress: boolean;
      readonly params: Record<string, unknown>;
      readonly message: unknown;
    }
  | {
      readonly kind: "notification";
      readonly method: string;
      readonly params: Record<string, unknown>;
    }
  /** An answer to a question that we never ask. */
  | { readonly kind: "answer" };

/** What is wrong with a message, by the numbers of JSON-RPC 2.0 §5.1. */
export interface EnvelopeFault {
  readonly rpc: -32700 | -32600;
  readonly error: GatewayError;
}

export function readEnvelope(bytes: Buffer): Result<Envelope, EnvelopeFault> {
  if (!isUtf8(bytes)) return err(parseFault("the message is not UTF-8"));
  const complaint = shapeComplaint(bytes);
  if (complaint !== undefined) return err(fault(complaint));
  let message: unknown;
  try {
    message = JSON.parse(bytes.toString("utf8"));
  } catch {
    return err(parseFault("the message is not JSON"));
  }
  return envelopeOf(message);
}

function envelopeOf(message: unknown): Result<Envelope, EnvelopeFault> {
  if (Array.isArray(message)) {
    return err(fault("batches are not taken; send each message in a request of its own"));
  }
  if (!isRecord(message) || message["jsonrpc"] !== "2.0") {
    return err(fault("the message is no JSON-RPC 2.0"));
  }
  const { id, method } = message;
  const params = message["params"] ?? {};
  if (!isRecord(params)) return err(fault("params is no object"));
  if (method === undefined) {
    const isAnswer = isId(id) && ("result" in message || "error" in message);
    return isAnswer ? ok({ kind: "answer" }) : err(fault("the message has no method"));
  }
  if (typeof method !== "string") return err(fault("method is no text"));
  if (id === undefined) return ok({ kind: "notification", method, params });
  if (!isId(id)) return err(fault("id is neither a short text nor an integer"));
  const meta = params["_meta"];
  const wantsProgress = isRecord(meta) && isId(meta["progressToken"]);
  return ok({ kind: "request", id, method, wantsProgress, params, message });
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Why a text can not be parsed at a cost that its length bounds; undefined for one that can, and for broken ones. */
function shapeComplaint(bytes: Buffer): string | undefined {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      at = endOfText(bytes, at + 1);
    } else if (byte === openBrace || byte === openBracket) {
      depth += 1;
      values += 1;
      if (depth > depthMax) return `the message is nested deeper than ${depthMax}`;
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
    } else if (byte === comma || byte === colon) {
      values += 1;
    }
    if (values > valuesMax) return `the message has more than ${valuesMax} values`;
  }
  return undefined;
}

/** Where the closing quote stands, or the end. */
function endOfText(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

export function isId(value: unknown): value is RequestId {
  if (typeof value === "string") return value.length <= idLengthMax;
  return Number.isSafeInteger(value);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fault(message: string): EnvelopeFault {
  return { rpc: -32600, error: gatewayError("protocol.violation", { message }) };
}

function parseFault(message: string): EnvelopeFault {
  return { rpc: -32700, error: gatewayError("protocol.violation", { message }) };
}
