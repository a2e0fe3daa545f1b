/** What a client is told when it broke the protocol, or asked for a part of it that we do not have. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Violation } from "@gateway/wire/postgres/message.ts";
import { beforeStart, type Input, type Phase } from "./machine.ts";

/** The first bytes of Terminate, read as the length of a start-up packet. */
const terminateLength = 0x58000000;

/** The input of the state machine that a broken message is. */
export function violationInput(violation: Violation, phase: Phase): Input {
  // A client that gives up before it began says good-bye all the same.
  const leaves = violation.kind === "tooLarge" && violation.length === terminateLength;
  if (leaves && beforeStart(phase)) return "terminate";
  const isText = violation.kind === "text" || violation.kind === "textTooLarge";
  if (!isText || beforeStart(phase)) return "violation";
  return violation.what === "Query" ? "badQueryText" : "badText";
}

/** The error for a violation; without one the message was sound and came at the wrong time. */
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
    case "textTooLarge":
      return textError(violation);
    case "malformed":
    case "text":
      return protocolError(`invalid message format: ${violation.what}`);
    case undefined:
      return protocolError(
        before === "login" ? "expected password response" : "unexpected message in this state",
      );
  }
}

/** A violation with this message. */
export function protocolError(message: string): GatewayError {
  return gatewayError("protocol.violation", { message });
}

/** Names the user, as PostgreSQL does, and never says whether the name or the password was wrong. */
export function passwordError(user: string): GatewayError {
  const message = `password authentication failed for user "${user}"`;
  return gatewayError("auth.refused", { message });
}

/** Why a text was not read: it is too large, or none of its encoding. */
export function textError(violation: Violation | undefined, encoding = "UTF8"): GatewayError {
  if (violation?.kind === "textTooLarge") {
    const { limit } = violation;
    return limit === undefined ? gatewayError("capacity.statementText") : textSizeError(limit);
  }
  const message = `invalid byte sequence for encoding "${encoding}"`;
  return gatewayError("query.data", { sqlState: "22021", message });
}

/** A text that is longer than the listener takes. */
export function textSizeError(limit: number): GatewayError {
  const message = `the text of the statement is larger than the limit of ${limit} bytes`;
  return gatewayError("query.textTooLarge", { message });
}

/** FunctionCall where no PostgreSQL stands behind the client: functions are called there by their number. */
export function functionError(): GatewayError {
  return gatewayError("query.unsupported", {
    message: "function calls by the protocol are for the engine postgresql only",
  });
}

/** PostgreSQL's word for a message of which it read the type only. */
export function lostError(): GatewayError {
  return protocolError("terminating connection because protocol synchronization was lost");
}
