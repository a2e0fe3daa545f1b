/** Reads a statement's text from a request. Limits are checked before memory is taken. */
import { isUtf8 } from "node:buffer";
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Slices } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { areLong, type DecodingClient } from "../listener/longBytes.ts";
import { longTexts } from "../listener/longTexts.ts";
import { PlainRequest } from "../listener/http/plain/request.ts";
import type { HttpRequest } from "../listener/http/exchange.ts";

/** Most bytes of unfinished statements that all connections together may hold. */
const pendingBytesMax = 256 * 1024 * 1024;

/** Counts the bytes of statements that are being read. One per listener. */
export interface Pending {
  bytes: number;
}

type TextLimits = Pick<ListenerConfig, "maxMessageBytes" | "maxStatementBytes">;
/** A long text stays bytes of UTF-8; `textIn` decodes them in slices. */
export type Text = Result<string | Buffer, GatewayError>;

/**
 * The statement's text, at once when all of it is there; undefined when the client left before its end.
 *
 * Refuses a body that is longer than a message may be, or says so; a compressed one, because no client
 * compresses statements; one that is not UTF-8; and an empty one. A text over its own limit is skipped to
 * its end, so that the client gets the answer of a failed statement.
 */
export function readBody(
  request: HttpRequest,
  limits: TextLimits,
  pending: Pending,
): Text | Promise<Text | undefined> {
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") return err(violation("compressed statements are not read"));
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > limits.maxMessageBytes) return err(gatewayError("protocol.tooLarge"));
  if (request instanceof PlainRequest) {
    return refusalOf(request.body.length, limits) ?? textOf([request.body]);
  }
  // A short statement comes in one packet with its headers and is there once the login was judged.
  // Listening for it would cost a microsecond or two.
  if (request.complete || (announced > 0 && request.readableLength === announced)) {
    const bytes = request.read() as Buffer | null;
    return bytes === null ? textOf([]) : (refusalOf(bytes.length, limits) ?? textOf([bytes]));
  }
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let length = 0;
    let held = 0;
    let ended = false;
    const letGo = (): void => {
      pending.bytes -= held;
      held = 0;
      chunks = [];
    };
    const end = (answer: Text | undefined): void => {
      if (ended) return;
      ended = true;
      letGo();
      resolve(answer);
    };
    request.on("data", (chunk: Buffer) => {
      if (ended) return;
      length += chunk.length;
      if (length > limits.maxMessageBytes) return end(err(gatewayError("protocol.tooLarge")));
      if (Math.max(length, announced) > limits.maxStatementBytes) return letGo();
      held += chunk.length;
      pending.bytes += chunk.length;
      chunks.push(chunk);
      if (pending.bytes > pendingBytesMax) end(err(gatewayError("connection.limit")));
    });
    request.once("end", () => end(refusalOf(length, limits) ?? textOf(chunks)));
    request.once("close", () => end(undefined));
  });
}

function refusalOf(length: number, limits: TextLimits): Text | undefined {
  if (length > limits.maxMessageBytes) return err(gatewayError("protocol.tooLarge"));
  if (length > limits.maxStatementBytes) return err(gatewayError("query.textTooLarge"));
  return undefined;
}

/** Decodes a long statement in turns with others. Refuses also what `longTexts` refuses. */
export async function textIn(
  bytes: Buffer,
  who: DecodingClient,
  slices: Slices,
): Promise<Result<string, GatewayError>> {
  const decoded = await longTexts.decode(bytes, utf8Of, who, slices);
  return decoded.ok ? notEmpty(decoded.value.text ?? "") : decoded;
}

const ofQueries: ReadonlySet<string> = new Set([
  "query.textTooLarge",
  "capacity.statementText",
  "query.cancelled",
]);

/** True for a text that was refused for its length: the client sees a failed query, not a bad request. */
export function isOfQuery({ code }: GatewayError): boolean {
  return ofQueries.has(code);
}

/** The text of bytes that are known to be UTF-8. */
function utf8Of({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("utf8");
}

function textOf(chunks: readonly Buffer[]): Text {
  const [first] = chunks;
  const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
  if (!isUtf8(bytes)) return err(violation("the statement is not UTF-8"));
  return areLong(bytes) ? ok(bytes) : notEmpty(bytes.toString("utf8"));
}

function notEmpty(text: string): Result<string, GatewayError> {
  return text.trim() === "" ? err(violation("SQL statement is empty")) : ok(text);
}

function violation(message: string): GatewayError {
  return gatewayError("protocol.violation", { message });
}
