/** Reads the text of a statement from a request, within limits that hold before memory is taken. */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";

/** Most bytes of unfinished statements that all connections together may hold. */
const pendingBytesMax = 256 * 1024 * 1024;

/** Refuses the request: there is no query yet that could fail. */
const tooLarge = gatewayError("protocol.tooLarge", {
  message: gatewayError("query.textTooLarge").message,
});

/** A body is a statement, so both limits of the listener are limits of it. */
export function textBytesMax({ maxMessageBytes, maxStatementBytes }: ListenerConfig): number {
  return Math.min(maxMessageBytes, maxStatementBytes);
}

/** Counts the bytes of statements that are being read. One per listener. */
export interface Pending {
  bytes: number;
}

/**
 * The statement's text. Refused: a body longer than `bytesMax`, also one that only says it is; a
 * compressed one, because no client compresses statements; one that is not UTF-8; an empty one.
 * Undefined when the client left before its end. At once when all of it has come.
 */
export function readStatement(
  request: IncomingMessage,
  bytesMax: number,
  pending: Pending,
): Result<string, GatewayError> | Promise<Result<string, GatewayError> | undefined> {
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") return err(violation("compressed statements are not read"));
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > bytesMax) return err(tooLarge);
  // A short statement comes in one packet with its headers, and is there when its login was judged:
  // to listen for it costs a microsecond or two.
  if (request.complete || (announced > 0 && request.readableLength === announced)) {
    return wholeOf(request, bytesMax);
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let ended = false;
    const end = (answer: Result<string, GatewayError> | undefined): void => {
      if (ended) return;
      ended = true;
      pending.bytes -= length;
      resolve(answer);
    };
    request.on("data", (chunk: Buffer) => {
      if (ended) return;
      length += chunk.length;
      pending.bytes += chunk.length;
      chunks.push(chunk);
      if (length > bytesMax) end(err(tooLarge));
      else if (pending.bytes > pendingBytesMax) end(err(gatewayError("connection.limit")));
    });
    request.once("end", () => end(textOf(chunks)));
    request.once("close", () => end(undefined));
  });
}

function wholeOf(request: IncomingMessage, bytesMax: number): Result<string, GatewayError> {
  const bytes = request.read() as Buffer | null;
  if (bytes === null) return textOf([]);
  return bytes.length > bytesMax ? err(tooLarge) : textOf([bytes]);
}

function textOf(chunks: readonly Buffer[]): Result<string, GatewayError> {
  const [first] = chunks;
  const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
  if (!isUtf8(bytes)) return err(violation("the statement is not UTF-8"));
  const text = bytes.toString("utf8");
  return text.trim() === "" ? err(violation("SQL statement is empty")) : ok(text);
}

function violation(message: string): GatewayError {
  return gatewayError("protocol.violation", { message });
}
