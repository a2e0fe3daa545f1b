/**
 * How a server reads the texts on a connection. Whatever looks at a text here, guards and policies too, reads UTF-8 and
 * strings in which a backslash is itself; under other settings the server would find other statements in it.
 */

import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { brokenError } from "../errors.ts";

/** Why a connection says nothing more: the server ended it, it broke off, or was closed because a statement changed how it reads texts. */
export function endOf(member: {
  readonly readsOtherwise: boolean;
  readonly farewell: GatewayError | undefined;
  readonly broken: string;
}): GatewayError {
  return member.readsOtherwise ? readOtherwise : (member.farewell ?? brokenError(member.broken));
}

const readOtherwise = gatewayError("query.unsupported", {
  message:
    "the statement changed client_encoding or standard_conforming_strings, under which other statements would be read here than there: its connection was closed",
});

/** Whether the server reads texts as they are written here, by the settings that it reported. */
export function readsAsWritten(statuses: ReadonlyMap<string, string>): boolean {
  const strings = statuses.get("standard_conforming_strings") ?? "on";
  const encoding = statuses.get("client_encoding") ?? "UTF8";
  return strings === "on" && encoding === "UTF8";
}
