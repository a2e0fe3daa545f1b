/** What a server gets that does not speak as it must: one error, and its connection is thrown away. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Packets } from "../../starRocks/page/packets.ts";

export function brokenOf({ broken }: Packets): GatewayError {
  return gatewayError("engine.broken", { detail: broken ?? "the connection ended" });
}

export function noAnswer(what: string): GatewayError {
  return gatewayError("engine.broken", { detail: `${what} that is none` });
}
