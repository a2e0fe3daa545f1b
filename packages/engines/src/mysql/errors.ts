/**
 * Errors of this engine's own: of a server that does not speak as it must, whose connection is thrown away, and of
 * what a cluster allows.
 * What a server says of a statement is read by `../starRocks/errors.ts`.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Packets } from "../starRocks/page/packets.ts";

export function brokenOf({ broken }: Packets): GatewayError {
  return gatewayError("engine.broken", { detail: broken ?? "the connection ended" });
}

export function noAnswer(what: string): GatewayError {
  return gatewayError("engine.broken", { detail: `${what} that is none` });
}

/** MySQL's own error where a client's file is not taken. */
export const noFiles: GatewayError = gatewayError("query.permission", {
  message:
    "Loading local data is disabled; this must be enabled on both the client and server sides",
  sqlState: "42000",
  vendor: { of: "mysql", code: 3948, sqlState: "42000" },
});

/** The client was told that attributes are taken, and this server is another than the one that said so. */
export const attributesLost: GatewayError = gatewayError("query.unsupported", {
  message: "the server takes no query attributes",
});

export const transactionOver: GatewayError = gatewayError("query.transaction", {
  message: "the transaction is over",
});

export const stillBusy: GatewayError = gatewayError("query.transaction", {
  message: "another statement of this session has not ended yet",
});

/** MySQL's own error where a privilege is missing. */
export const noGlobals: GatewayError = gatewayError("query.permission", {
  message: "Access denied; variables can be set for the session only",
  sqlState: "42000",
  vendor: { of: "mysql", code: 1227, sqlState: "42000" },
});
