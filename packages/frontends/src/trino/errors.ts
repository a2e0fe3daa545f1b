/**
 * What every refusal and failure is to a Trino client: a name, number and type of Trino's own
 * `StandardErrorCode`, and the HTTP status where there is no query to report it in.
 *
 * By type and number clients decide which statements to try again, and by the status whether to repeat
 * the request: all repeat it after 503, some after 429, none after another status.
 */
import type { ErrorCode } from "@gateway/contract/error.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { ErrorType, QueryError } from "@gateway/wire/trino/results.ts";

/** The part of Trino 476's StandardErrorCode that is used here. */
const standard = {
  GENERIC_USER_ERROR: [0, "USER_ERROR"],
  SYNTAX_ERROR: [1, "USER_ERROR"],
  ABANDONED_QUERY: [2, "USER_ERROR"],
  USER_CANCELED: [3, "USER_ERROR"],
  PERMISSION_DENIED: [4, "USER_ERROR"],
  NOT_FOUND: [5, "USER_ERROR"],
  FUNCTION_NOT_FOUND: [6, "USER_ERROR"],
  INVALID_FUNCTION_ARGUMENT: [7, "USER_ERROR"],
  DIVISION_BY_ZERO: [8, "USER_ERROR"],
  INVALID_CAST_ARGUMENT: [9, "USER_ERROR"],
  ALREADY_EXISTS: [12, "USER_ERROR"],
  NOT_SUPPORTED: [13, "USER_ERROR"],
  INVALID_SESSION_PROPERTY: [14, "USER_ERROR"],
  CONSTRAINT_VIOLATION: [16, "USER_ERROR"],
  TRANSACTION_CONFLICT: [17, "USER_ERROR"],
  NUMERIC_VALUE_OUT_OF_RANGE: [19, "USER_ERROR"],
  UNKNOWN_TRANSACTION: [20, "USER_ERROR"],
  NOT_IN_TRANSACTION: [21, "USER_ERROR"],
  TRANSACTION_ALREADY_ABORTED: [22, "USER_ERROR"],
  READ_ONLY_VIOLATION: [23, "USER_ERROR"],
  SUBQUERY_MULTIPLE_ROWS: [28, "USER_ERROR"],
  QUERY_REJECTED: [31, "USER_ERROR"],
  QUERY_TEXT_TOO_LARGE: [35, "USER_ERROR"],
  TYPE_NOT_FOUND: [43, "USER_ERROR"],
  CATALOG_NOT_FOUND: [44, "USER_ERROR"],
  SCHEMA_NOT_FOUND: [45, "USER_ERROR"],
  TABLE_NOT_FOUND: [46, "USER_ERROR"],
  COLUMN_NOT_FOUND: [47, "USER_ERROR"],
  SCHEMA_ALREADY_EXISTS: [49, "USER_ERROR"],
  TABLE_ALREADY_EXISTS: [50, "USER_ERROR"],
  COLUMN_ALREADY_EXISTS: [51, "USER_ERROR"],
  TYPE_MISMATCH: [58, "USER_ERROR"],
  AMBIGUOUS_NAME: [62, "USER_ERROR"],
  EXPRESSION_NOT_AGGREGATE: [73, "USER_ERROR"],
  INVALID_PARAMETER_USAGE: [80, "USER_ERROR"],
  GENERIC_INTERNAL_ERROR: [65536, "INTERNAL_ERROR"],
  PAGE_TRANSPORT_ERROR: [65539, "INTERNAL_ERROR"],
  NO_NODES_AVAILABLE: [65541, "INTERNAL_ERROR"],
  SERVER_SHUTTING_DOWN: [65545, "INTERNAL_ERROR"],
  SERVER_STARTING_UP: [65548, "INTERNAL_ERROR"],
  REMOTE_HOST_GONE: [65558, "INTERNAL_ERROR"],
  GENERIC_INSUFFICIENT_RESOURCES: [131072, "INSUFFICIENT_RESOURCES"],
  QUERY_QUEUE_FULL: [131074, "INSUFFICIENT_RESOURCES"],
  EXCEEDED_TIME_LIMIT: [131075, "INSUFFICIENT_RESOURCES"],
} as const satisfies Record<string, readonly [number, ErrorType]>;

export type TrinoErrorName = keyof typeof standard;

export interface TrinoError {
  readonly name: TrinoErrorName;
  /** 200 reports the error inside an answer of the query; any other status answers the request itself. */
  readonly status: 200 | 400 | 401 | 403 | 404 | 408 | 413 | 503;
}

export const trinoErrors = {
  "config.notReady": { name: "SERVER_STARTING_UP", status: 503 },
  "gateway.draining": { name: "SERVER_SHUTTING_DOWN", status: 503 },
  "internal.bug": { name: "GENERIC_INTERNAL_ERROR", status: 200 },
  "auth.required": { name: "PERMISSION_DENIED", status: 401 },
  "auth.refused": { name: "PERMISSION_DENIED", status: 401 },
  "auth.cleartext": { name: "PERMISSION_DENIED", status: 403 },
  "auth.expired": { name: "PERMISSION_DENIED", status: 401 },
  "auth.unavailable": { name: "GENERIC_INTERNAL_ERROR", status: 503 },
  "auth.noBackendIdentity": { name: "PERMISSION_DENIED", status: 200 },
  "policy.denied": { name: "PERMISSION_DENIED", status: 200 },
  "policy.unavailable": { name: "GENERIC_INSUFFICIENT_RESOURCES", status: 200 },
  "script.failed": { name: "GENERIC_INTERNAL_ERROR", status: 200 },
  "script.busy": { name: "GENERIC_INSUFFICIENT_RESOURCES", status: 200 },
  "translation.busy": { name: "GENERIC_INSUFFICIENT_RESOURCES", status: 200 },
  "route.denied": { name: "QUERY_REJECTED", status: 200 },
  "route.forbidden": { name: "PERMISSION_DENIED", status: 200 },
  "route.noGroup": { name: "QUERY_REJECTED", status: 200 },
  "capacity.queueFull": { name: "QUERY_QUEUE_FULL", status: 200 },
  "capacity.timeout": { name: "EXCEEDED_TIME_LIMIT", status: 200 },
  "capacity.lost": { name: "GENERIC_INSUFFICIENT_RESOURCES", status: 200 },
  "capacity.statementText": { name: "GENERIC_INSUFFICIENT_RESOURCES", status: 200 },
  "connection.limit": { name: "GENERIC_INSUFFICIENT_RESOURCES", status: 503 },
  "cluster.unavailable": { name: "NO_NODES_AVAILABLE", status: 200 },
  "cluster.connectFailed": { name: "REMOTE_HOST_GONE", status: 200 },
  "engine.failed": { name: "GENERIC_INTERNAL_ERROR", status: 200 },
  "engine.resources": { name: "GENERIC_INSUFFICIENT_RESOURCES", status: 200 },
  "engine.crashed": { name: "REMOTE_HOST_GONE", status: 200 },
  "engine.broken": { name: "PAGE_TRANSPORT_ERROR", status: 200 },
  "query.syntax": { name: "SYNTAX_ERROR", status: 200 },
  "query.unknownObject": { name: "NOT_FOUND", status: 200 },
  "query.invalid": { name: "GENERIC_USER_ERROR", status: 200 },
  "query.data": { name: "INVALID_FUNCTION_ARGUMENT", status: 200 },
  "query.constraint": { name: "CONSTRAINT_VIOLATION", status: 200 },
  "query.conflict": { name: "TRANSACTION_CONFLICT", status: 200 },
  "query.permission": { name: "PERMISSION_DENIED", status: 200 },
  "query.unsupported": { name: "NOT_SUPPORTED", status: 200 },
  "query.parameters": { name: "INVALID_PARAMETER_USAGE", status: 200 },
  "query.transaction": { name: "NOT_IN_TRANSACTION", status: 200 },
  "query.transactionAborted": { name: "TRANSACTION_ALREADY_ABORTED", status: 200 },
  "query.idleInTransaction": { name: "UNKNOWN_TRANSACTION", status: 200 },
  "query.transactionTimeout": { name: "UNKNOWN_TRANSACTION", status: 200 },
  "query.cancelled": { name: "USER_CANCELED", status: 200 },
  "query.abandoned": { name: "ABANDONED_QUERY", status: 200 },
  "query.timeout": { name: "EXCEEDED_TIME_LIMIT", status: 200 },
  "query.tooManyRows": { name: "GENERIC_INSUFFICIENT_RESOURCES", status: 200 },
  "query.textTooLarge": { name: "QUERY_TEXT_TOO_LARGE", status: 200 },
  "query.unknown": { name: "NOT_FOUND", status: 404 },
  "query.elsewhere": { name: "NO_NODES_AVAILABLE", status: 503 },
  "protocol.violation": { name: "GENERIC_USER_ERROR", status: 400 },
  "protocol.tooLarge": { name: "QUERY_TEXT_TOO_LARGE", status: 413 },
  "protocol.timeout": { name: "GENERIC_USER_ERROR", status: 408 },
} as const satisfies Record<ErrorCode, TrinoError>;

/** Engines' SQLSTATEs that say more than our code does. Source: PostgreSQL's appendix A, which DuckDB and others follow. */
const bySqlState: Readonly<Record<string, TrinoErrorName>> = {
  "21000": "SUBQUERY_MULTIPLE_ROWS",
  "22003": "NUMERIC_VALUE_OUT_OF_RANGE",
  "22007": "INVALID_CAST_ARGUMENT",
  "22008": "NUMERIC_VALUE_OUT_OF_RANGE",
  "22012": "DIVISION_BY_ZERO",
  "22018": "INVALID_CAST_ARGUMENT",
  "22P02": "INVALID_CAST_ARGUMENT",
  "25006": "READ_ONLY_VIOLATION",
  "3D000": "CATALOG_NOT_FOUND",
  "3F000": "SCHEMA_NOT_FOUND",
  "42701": "COLUMN_ALREADY_EXISTS",
  "42702": "AMBIGUOUS_NAME",
  "42703": "COLUMN_NOT_FOUND",
  "42704": "TYPE_NOT_FOUND",
  "42710": "ALREADY_EXISTS",
  "42803": "EXPRESSION_NOT_AGGREGATE",
  "42804": "TYPE_MISMATCH",
  "42883": "FUNCTION_NOT_FOUND",
  "42P01": "TABLE_NOT_FOUND",
  "42P04": "SCHEMA_ALREADY_EXISTS",
  "42P06": "SCHEMA_ALREADY_EXISTS",
  "42P07": "TABLE_ALREADY_EXISTS",
};

/** The SQLSTATE refines only errors that the statement itself caused. */
const refined: ReadonlySet<ErrorCode> = new Set([
  "query.unknownObject",
  "query.data",
  "query.invalid",
  "query.transaction",
]);

/** The error as an answer carries it. `sql` is the client's own text when the position counts in it, otherwise undefined. */
export function queryError(error: GatewayError, sql: string | undefined): QueryError {
  const { name, errorCode, errorType } = kindOf(error);
  const location = locationOf(error.position, sql);
  const at = location === undefined ? "" : `line ${location.lineNumber}:${location.columnNumber}: `;
  const hint = error.hint === undefined ? "" : ` Hint: ${error.hint}`;
  const message = `${at}${error.message}${hint}`;
  return {
    message,
    errorCode,
    errorName: name,
    errorType,
    ...(location === undefined ? {} : { errorLocation: location }),
    failureInfo: { type: "io.trino.spi.TrinoException", message, suppressed: [], stack: [] },
  };
}

/** Trino's own kind of error where the engine is a Trino; otherwise the one of Trino that says the same. */
function kindOf(
  error: GatewayError,
): Pick<QueryError, "errorCode" | "errorType"> & { name: string } {
  const { vendor } = error;
  if (vendor?.of === "trino" && isErrorType(vendor.type)) {
    return { name: vendor.name, errorCode: vendor.code, errorType: vendor.type };
  }
  const name = nameOf(error);
  const [errorCode, errorType] = standard[name];
  return { name, errorCode, errorType };
}

const errorTypes: ReadonlySet<string> = new Set<ErrorType>([
  "USER_ERROR",
  "INTERNAL_ERROR",
  "INSUFFICIENT_RESOURCES",
  "EXTERNAL",
]);

function isErrorType(type: string): type is ErrorType {
  return errorTypes.has(type);
}

function nameOf(error: GatewayError): TrinoErrorName {
  const finer = error.sqlState === undefined ? undefined : bySqlState[error.sqlState];
  return finer !== undefined && refined.has(error.code) ? finer : trinoErrors[error.code].name;
}

function locationOf(
  position: number | undefined,
  sql: string | undefined,
): { readonly lineNumber: number; readonly columnNumber: number } | undefined {
  if (position === undefined || sql === undefined) return undefined;
  if (position < 1 || position > sql.length + 1) return undefined;
  const before = sql.slice(0, position - 1);
  const lineStart = before.lastIndexOf("\n") + 1;
  // Trino counts code points.
  const columnNumber = Array.from(before.slice(lineStart)).length + 1;
  return { lineNumber: before.split("\n").length, columnNumber };
}
