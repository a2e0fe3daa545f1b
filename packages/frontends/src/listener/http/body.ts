/** Reads the body of a request. Limits are checked before memory is taken; nothing is parsed or unpacked here. */
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { PlainRequest } from "./plain/request.ts";
import type { HttpRequest } from "./exchange.ts";

/** Most bytes of unfinished messages that all connections of a listener may hold together. */
const pendingBytesMax = 128 * 1024 * 1024;

/** Counts the bytes of messages that are being read. One per listener. */
export interface Pending {
  bytes: number;
}

/** The bytes as they came; undefined when the client left before their end. */
export function readBytes(
  request: HttpRequest,
  { maxMessageBytes }: Pick<ListenerConfig, "maxMessageBytes">,
  pending: Pending,
): Promise<Result<Buffer, GatewayError> | undefined> {
  const tooLarge = err(gatewayError("protocol.tooLarge"));
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > maxMessageBytes) return Promise.resolve(tooLarge);
  if (request instanceof PlainRequest) {
    return Promise.resolve(request.body.length > maxMessageBytes ? tooLarge : ok(request.body));
  }
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let length = 0;
    let ended = false;
    const end = (body: Result<Buffer, GatewayError> | undefined): void => {
      if (ended) return;
      ended = true;
      pending.bytes -= length;
      chunks = [];
      resolve(body);
    };
    request.on("data", (chunk: Buffer) => {
      if (ended) return;
      length += chunk.length;
      pending.bytes += chunk.length;
      chunks.push(chunk);
      if (length > maxMessageBytes) end(tooLarge);
      else if (pending.bytes > pendingBytesMax) end(err(gatewayError("connection.limit")));
    });
    request.once("end", () => end(ok(Buffer.concat(chunks))));
    request.once("close", () => end(undefined));
  });
}
