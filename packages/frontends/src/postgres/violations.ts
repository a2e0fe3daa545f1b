/** What a client is told that broke the protocol, or asked for a part of it that is not there. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Frame } from "@gateway/wire/postgres/frame.ts";
import type { Violation } from "@gateway/wire/postgres/message.ts";
import { beforeStart, type Input, type Phase } from "./machine.ts";

/** The input that a broken message is to the state machine. */
export function violationInput(violation: Violation, phase: Phase): Input {
  if (violation.kind !== "text" || beforeStart(phase)) return "violation";
  return violation.what === "Query" ? "badQueryText" : "badText";
}

/** The error for it; without a violation the message was sound and came at the wrong time. */
export function violationError(violation: Violation | undefined, before: Phase): GatewayError {
  switch (violation?.kind) {
    case "tooLarge":
      // A first packet of absurd length comes from a client of another protocol.
      if (beforeStart(before)) return protocolError("invalid length of startup packet");
      return gatewayError("protocol.tooLarge", {
        message: `message of ${violation.length} bytes is larger than the limit of ${violation.limit}`,
      });
    case "length":
      return protocolError("invalid message length");
    case "unknownType":
      return protocolError(`invalid frontend message type ${violation.type}`);
    case "malformed":
    case "text":
      return protocolError(`invalid message format: ${violation.what}`);
    case undefined:
      return protocolError(
        before === "login" ? "expected password response" : "unexpected message in this state",
      );
  }
}

/** A violation with a text of its own. */
export function protocolError(message: string): GatewayError {
  return gatewayError("protocol.violation", { message });
}

/** Names the user, as PostgreSQL does, and never says which of the two was wrong. */
export function passwordError(user: string): GatewayError {
  const message = `password authentication failed for user "${user}"`;
  return gatewayError("auth.refused", { message });
}

/** Text that is not UTF-8. */
export function encodingError(): GatewayError {
  const message = 'invalid byte sequence for encoding "UTF8"';
  return gatewayError("query.data", { sqlState: "22021", message });
}

/** A text that was not read, because it is longer than the listener allows. */
export const textTooLong: GatewayError = gatewayError("query.textTooLarge");

/** Simple query and Parse: what they hold is a statement's text but for a name and some types. */
const queryType = 0x51;
const parseType = 0x50;

/** What a frame is to the table when it brings a longer text than may be read; undefined when it does not. */
export function tooLongText(
  { type, body }: Frame,
  textBytesMax: number,
): "badQueryText" | "badText" | undefined {
  if (body.length <= textBytesMax) return undefined;
  if (type === queryType) return "badQueryText";
  return type === parseType ? "badText" : undefined;
}

/** FunctionCall, which PostgreSQL itself advises against. */
export function functionError(): GatewayError {
  return gatewayError("query.unsupported", {
    message: "function calls by the protocol are not supported",
  });
}
