/**
 * What every refusal and failure is to a ClickHouse client: number and name of a ClickHouse exception, and the HTTP
 * status that a server would answer with. Where the engine is a ClickHouse, its own number goes before ours.
 */
import type { ErrorCode } from "@gateway/contract/error.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { ClickHouseException } from "@gateway/wire/clickhouse/exception.ts";

/** The part of ClickHouse's ErrorCodes.cpp (25.8) that is used here, and the status of each. */
const standard = {
  BAD_ARGUMENTS: [36, 400],
  UNKNOWN_FUNCTION: [46, 404],
  UNKNOWN_IDENTIFIER: [47, 404],
  NOT_IMPLEMENTED: [48, 501],
  LOGICAL_ERROR: [49, 500],
  UNKNOWN_TYPE: [50, 404],
  UNKNOWN_TABLE: [60, 404],
  SYNTAX_ERROR: [62, 400],
  ARGUMENT_OUT_OF_BOUND: [69, 500],
  CANNOT_CONVERT_TYPE: [70, 500],
  UNKNOWN_FORMAT: [73, 400],
  UNKNOWN_DATABASE: [81, 404],
  UNKNOWN_SETTING: [115, 400],
  ILLEGAL_DIVISION: [153, 500],
  TIMEOUT_EXCEEDED: [159, 408],
  READONLY: [164, 403],
  TOO_MANY_SIMULTANEOUS_QUERIES: [202, 503],
  SOCKET_TIMEOUT: [209, 408],
  NETWORK_ERROR: [210, 503],
  QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING: [216, 500],
  QUERY_IS_TOO_LARGE: [223, 413],
  ABORTED: [236, 503],
  MEMORY_LIMIT_EXCEEDED: [241, 500],
  ALL_CONNECTION_TRIES_FAILED: [279, 503],
  CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN: [349, 500],
  SESSION_NOT_FOUND: [372, 404],
  SESSION_IS_LOCKED: [373, 500],
  INVALID_SESSION_TIMEOUT: [374, 400],
  QUERY_IS_PROHIBITED: [392, 403],
  QUERY_WAS_CANCELLED: [394, 500],
  TOO_MANY_ROWS_OR_BYTES: [396, 500],
  BAD_QUERY_PARAMETER: [457, 400],
  SETTING_CONSTRAINT_VIOLATION: [452, 403],
  VIOLATED_CONSTRAINT: [469, 500],
  ACCESS_DENIED: [497, 403],
  REQUIRED_PASSWORD: [194, 401],
  AUTHENTICATION_FAILED: [516, 403],
  INVALID_TRANSACTION: [649, 500],
  SERIALIZATION_ERROR: [650, 500],
  UNKNOWN_EXCEPTION: [1002, 500],
} as const satisfies Readonly<Record<string, readonly [code: number, status: number]>>;

export type ExceptionName = keyof typeof standard;

/** The exception of each code of the catalogue. */
export const clickhouseErrors = {
  "config.notReady": "NETWORK_ERROR",
  "gateway.draining": "ABORTED",
  "internal.bug": "LOGICAL_ERROR",
  "auth.required": "REQUIRED_PASSWORD",
  "auth.refused": "AUTHENTICATION_FAILED",
  "auth.cleartext": "AUTHENTICATION_FAILED",
  "auth.expired": "AUTHENTICATION_FAILED",
  "auth.unavailable": "NETWORK_ERROR",
  "auth.noBackendIdentity": "ACCESS_DENIED",
  "policy.denied": "ACCESS_DENIED",
  "policy.unavailable": "ALL_CONNECTION_TRIES_FAILED",
  "script.failed": "LOGICAL_ERROR",
  "script.busy": "TOO_MANY_SIMULTANEOUS_QUERIES",
  "translation.busy": "TOO_MANY_SIMULTANEOUS_QUERIES",
  "route.denied": "QUERY_IS_PROHIBITED",
  "route.forbidden": "ACCESS_DENIED",
  "route.noGroup": "ALL_CONNECTION_TRIES_FAILED",
  "capacity.queueFull": "TOO_MANY_SIMULTANEOUS_QUERIES",
  "capacity.timeout": "TOO_MANY_SIMULTANEOUS_QUERIES",
  "capacity.lost": "ABORTED",
  "capacity.statementText": "TOO_MANY_SIMULTANEOUS_QUERIES",
  "connection.limit": "TOO_MANY_SIMULTANEOUS_QUERIES",
  "cluster.unavailable": "ALL_CONNECTION_TRIES_FAILED",
  "cluster.connectFailed": "ALL_CONNECTION_TRIES_FAILED",
  "engine.failed": "UNKNOWN_EXCEPTION",
  "engine.resources": "MEMORY_LIMIT_EXCEEDED",
  "engine.crashed": "NETWORK_ERROR",
  "engine.broken": "NETWORK_ERROR",
  "query.syntax": "SYNTAX_ERROR",
  "query.unknownObject": "UNKNOWN_IDENTIFIER",
  "query.invalid": "BAD_ARGUMENTS",
  "query.data": "CANNOT_CONVERT_TYPE",
  "query.constraint": "VIOLATED_CONSTRAINT",
  "query.conflict": "SERIALIZATION_ERROR",
  "query.permission": "ACCESS_DENIED",
  "query.unsupported": "NOT_IMPLEMENTED",
  "query.parameters": "BAD_QUERY_PARAMETER",
  "query.transaction": "INVALID_TRANSACTION",
  "query.transactionAborted": "INVALID_TRANSACTION",
  "query.idleInTransaction": "INVALID_TRANSACTION",
  "query.transactionTimeout": "INVALID_TRANSACTION",
  "query.cancelled": "QUERY_WAS_CANCELLED",
  "query.abandoned": "QUERY_WAS_CANCELLED",
  "query.timeout": "TIMEOUT_EXCEEDED",
  "query.tooManyRows": "TOO_MANY_ROWS_OR_BYTES",
  "query.textTooLarge": "QUERY_IS_TOO_LARGE",
  "query.unknown": "BAD_ARGUMENTS",
  "query.elsewhere": "NETWORK_ERROR",
  "protocol.violation": "BAD_ARGUMENTS",
  "protocol.tooLarge": "QUERY_IS_TOO_LARGE",
  "protocol.timeout": "SOCKET_TIMEOUT",
} as const satisfies Record<ErrorCode, ExceptionName>;

/** Engines' SQLSTATEs that say more than our code does. */
const bySqlState: Readonly<Record<string, ExceptionName>> = {
  "22003": "ARGUMENT_OUT_OF_BOUND",
  "22012": "ILLEGAL_DIVISION",
  "25006": "READONLY",
  "3D000": "UNKNOWN_DATABASE",
  "3F000": "UNKNOWN_DATABASE",
  "42703": "UNKNOWN_IDENTIFIER",
  "42704": "UNKNOWN_TYPE",
  "42883": "UNKNOWN_FUNCTION",
  "42P01": "UNKNOWN_TABLE",
};

/** The SQLSTATE refines only errors that the statement itself caused. */
const refined: ReadonlySet<ErrorCode> = new Set(["query.unknownObject", "query.data"]);

export interface Refusal extends ClickHouseException {
  readonly status: number;
}

/** What the client reads. */
export function refusalOf(error: GatewayError): Refusal {
  const { vendor, sqlState } = error;
  const hint = error.hint === undefined ? "" : ` ${error.hint}`;
  const place = error.position === undefined || vendor !== undefined ? "" : placed(error.position);
  const message = `${error.message}${place}${hint}`;
  if (vendor?.of === "clickHouse" && vendor.name !== "") {
    const { code, name } = vendor;
    return { code, name, message: withoutName(message, name), status: statusOf(code) };
  }
  const finer =
    refined.has(error.code) && sqlState !== undefined ? bySqlState[sqlState] : undefined;
  const name = finer ?? clickhouseErrors[error.code];
  const [code, status] = standard[name];
  return { code, name, message, status };
}

function placed(position: number): string {
  return `: failed at position ${position}`;
}

/** The server ends its message with the name, which is written again behind it. */
function withoutName(message: string, name: string): string {
  const end = ` (${name})`;
  return message.endsWith(end) ? message.slice(0, -end.length) : message;
}

const statusByCode: ReadonlyMap<number, number> = new Map(
  Object.values(standard).map(([code, status]) => [code, status]),
);

function statusOf(code: number): number {
  return statusByCode.get(code) ?? 500;
}

/** An exception that has no code of its own in the catalogue, as the vendor's word for one of the catalogue's errors. */
export function named(name: ExceptionName): Extract<GatewayError["vendor"], { of: "clickHouse" }> {
  return { of: "clickHouse", code: standard[name][0], name };
}
