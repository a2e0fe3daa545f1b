/** Reads the body of a message, which is never compressed. */
import type { ListenerConfig } from "@gateway/contract/config/listener.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, type Result } from "@gateway/core/result.ts";
import { readBytes, type Pending } from "../../listener/http/body.ts";
import type { HttpRequest } from "../../listener/http/exchange.ts";

/** The bytes; undefined when the client left before their end. Refuses compressed bodies and those over the limit. */
export function readBody(
  request: HttpRequest,
  limits: Pick<ListenerConfig, "maxMessageBytes">,
  pending: Pending,
): Promise<Result<Buffer, GatewayError> | undefined> {
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding === "identity") return readBytes(request, limits, pending);
  const message = "compressed messages are not read";
  return Promise.resolve(err(gatewayError("protocol.violation", { message })));
}
