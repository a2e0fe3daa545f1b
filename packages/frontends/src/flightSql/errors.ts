/**
 * What every refusal and failure is to a Flight client: a status of gRPC, and the text that clients show.
 *
 * By the status clients decide what to try again: UNAVAILABLE is repeated by all of them, RESOURCE_EXHAUSTED by
 * some, the others by none.
 */
import type { ErrorCode } from "@gateway/contract/error.ts";
import type { GatewayError } from "@gateway/core/error.ts";

/** The part of gRPC's status codes that is used here. */
export const statusCodes = {
  ok: 0,
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export type StatusName = keyof typeof statusCodes;

export const flightErrors = {
  "config.notReady": "unavailable",
  "gateway.draining": "unavailable",
  "internal.bug": "internal",
  "auth.required": "unauthenticated",
  "auth.refused": "unauthenticated",
  "auth.cleartext": "unauthenticated",
  "auth.expired": "unauthenticated",
  "auth.unavailable": "unavailable",
  "auth.noBackendIdentity": "unauthenticated",
  "policy.denied": "permissionDenied",
  "policy.unavailable": "unavailable",
  "script.failed": "internal",
  "script.busy": "resourceExhausted",
  "translation.busy": "resourceExhausted",
  "route.denied": "permissionDenied",
  "route.forbidden": "permissionDenied",
  "route.noGroup": "failedPrecondition",
  "capacity.queueFull": "resourceExhausted",
  "capacity.timeout": "resourceExhausted",
  "capacity.lost": "aborted",
  "capacity.statementText": "resourceExhausted",
  "connection.limit": "unavailable",
  "cluster.unavailable": "unavailable",
  "cluster.connectFailed": "unavailable",
  "engine.failed": "internal",
  "engine.resources": "resourceExhausted",
  "engine.crashed": "internal",
  "engine.broken": "internal",
  "query.syntax": "invalidArgument",
  "query.unknownObject": "notFound",
  "query.invalid": "invalidArgument",
  "query.data": "invalidArgument",
  "query.constraint": "failedPrecondition",
  "query.conflict": "aborted",
  "query.permission": "permissionDenied",
  "query.unsupported": "unimplemented",
  "query.parameters": "invalidArgument",
  "query.transaction": "failedPrecondition",
  "query.transactionAborted": "failedPrecondition",
  "query.idleInTransaction": "failedPrecondition",
  "query.transactionTimeout": "failedPrecondition",
  "query.cancelled": "cancelled",
  "query.abandoned": "deadlineExceeded",
  "query.timeout": "deadlineExceeded",
  "query.tooManyRows": "resourceExhausted",
  "query.textTooLarge": "resourceExhausted",
  "query.unknown": "notFound",
  "query.elsewhere": "unavailable",
  "protocol.violation": "invalidArgument",
  "protocol.tooLarge": "resourceExhausted",
  "protocol.timeout": "deadlineExceeded",
} as const satisfies Record<ErrorCode, StatusName>;

/** A status as it leaves: code and text. */
export interface FlightStatus {
  readonly code: number;
  readonly details: string;
}

/** UTF-16 units of the text. Percent-encoded it must fit into the 8 KB that clients take of all trailers. */
const detailUnitsMax = 800;

/** The status of an error. Places in the text of the statement have no field in gRPC, so the text says them. */
export function statusOf({ code, message, hint, position }: GatewayError): FlightStatus {
  const place = position === undefined ? "" : ` (at character ${position})`;
  const text = `${message}${place}${hint === undefined ? "" : ` Hint: ${hint}`}`;
  return { code: statusCodes[flightErrors[code]], details: detailOf(text) };
}

/** Half a character at the end, or in an engine's message, could not be encoded for a header. */
function detailOf(text: string): string {
  const cut = text.length > detailUnitsMax ? `${text.slice(0, detailUnitsMax)}…` : text;
  return cut.toWellFormed();
}
