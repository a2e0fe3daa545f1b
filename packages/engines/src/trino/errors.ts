/**
 * What Trino says when it fails, as errors of the catalogue: by its error's name, then by its type.
 * Messages of user errors are about the client's own SQL and are passed on; those of faults inside the
 * engine may hold addresses and stacks, and are not.
 *
 * Source of names and types: `StandardErrorCode` of Trino 476.
 */
import type { ErrorCode } from "@gateway/contract/error.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { HttpFailure } from "./client/http.ts";
import { refusalOf, type Caller } from "./identity.ts";

/** Longest message passed on. */
const messageLengthMax = 2_000;

/** An error as Trino describes it. */
export interface TrinoFailure {
  readonly name: string;
  readonly type: string;
  readonly code: number;
  readonly message: string;
  /** Line and column, both from 1; columns count code points. */
  readonly location: readonly [line: number, column: number] | undefined;
}

/** Reads the `error` of an answer; what is missing is empty. */
export function readFailure(error: unknown): TrinoFailure {
  const fields = fieldsOf(error);
  const location = fieldsOf(fields["errorLocation"]);
  const line = location["lineNumber"];
  const column = location["columnNumber"];
  return {
    name: textOf(fields["errorName"]),
    type: textOf(fields["errorType"]),
    code: typeof fields["errorCode"] === "number" ? fields["errorCode"] : 0,
    message: textOf(fields["message"]),
    location: typeof line === "number" && typeof column === "number" ? [line, column] : undefined,
  };
}

/** The catalogue's error. `sql` is the text that positions count in, as it was sent; without it there is no position. */
export function errorOf(
  failure: TrinoFailure,
  sql: string | undefined,
  caller: Caller,
): GatewayError {
  if (isOfIdentity(failure)) return refusalOf(caller, failure.name);
  const known = byName[failure.name] ?? byType(failure.type);
  const detail = `${failure.name} ${failure.code}`;
  const vendor = vendorOf(failure);
  if (known === undefined) return gatewayError("engine.failed", { detail, ...vendor });
  const [code, sqlState] = known;
  const position = positionOf(failure.location, sql);
  return gatewayError(code, {
    message: shortened(withoutPosition(failure.message)),
    detail,
    ...vendor,
    ...(sqlState === undefined ? {} : { sqlState }),
    ...(position === undefined ? {} : { position }),
  });
}

/**
 * That the caller may not be who it asks to be has no name of its own, so the message is read here. Who
 * imitates it changes nothing but the name of a refusal. Source: `AccessDeniedException` of Trino 476.
 */
function isOfIdentity({ name, message }: TrinoFailure): boolean {
  if (name !== "PERMISSION_DENIED") return false;
  return /^Access Denied: (User .* cannot impersonate|Principal .* cannot become) user /s.test(
    message,
  );
}

/** Names and types of errors are words of Trino and its connectors. */
const word = /^[A-Z][A-Z0-9_]{0,79}$/;

function vendorOf({ name, type, code }: TrinoFailure): Pick<GatewayError, "vendor"> {
  if (!word.test(name) || !word.test(type)) return {};
  return { vendor: { of: "trino", name, type, code } };
}

/** What it means that a request got no answer. `submitting`: it would have begun the statement. */
export function errorOfHttp(failure: HttpFailure, submitting: boolean): GatewayError {
  switch (failure) {
    case "unreachable":
      return gatewayError(submitting ? "cluster.connectFailed" : "engine.broken", {
        detail: "no connection",
      });
    case "aborted":
      return gatewayError("query.cancelled");
    case "closed":
    case "broken":
    case "stalled":
      return gatewayError("engine.broken", { detail: `the answer ${failure}` });
  }
}

/** What an answer without a page means. */
export function errorOfStatus(status: number, caller: Caller): GatewayError {
  const detail = `HTTP ${status}`;
  if (status === 401 || status === 403) return refusalOf(caller, detail);
  // 431: the client's session, or its token, is larger than the server reads.
  if (status === 400 || status === 431) return gatewayError("query.invalid", { detail });
  return gatewayError("engine.broken", { detail });
}

type Meaning = readonly [code: ErrorCode, sqlState?: string];

/** Source of SQLSTATEs: PostgreSQL's appendix A. */
const byName: Readonly<Record<string, Meaning>> = {
  SYNTAX_ERROR: ["query.syntax", "42601"],
  TABLE_NOT_FOUND: ["query.unknownObject", "42P01"],
  SCHEMA_NOT_FOUND: ["query.unknownObject", "3F000"],
  CATALOG_NOT_FOUND: ["query.unknownObject", "3D000"],
  MISSING_CATALOG_NAME: ["query.unknownObject", "3D000"],
  MISSING_SCHEMA_NAME: ["query.unknownObject", "3F000"],
  COLUMN_NOT_FOUND: ["query.unknownObject", "42703"],
  FUNCTION_NOT_FOUND: ["query.unknownObject", "42883"],
  OPERATOR_NOT_FOUND: ["query.unknownObject", "42883"],
  TYPE_NOT_FOUND: ["query.unknownObject", "42704"],
  ROLE_NOT_FOUND: ["query.unknownObject", "42704"],
  PROCEDURE_NOT_FOUND: ["query.unknownObject", "42883"],
  NOT_FOUND: ["query.unknownObject"],
  TABLE_ALREADY_EXISTS: ["query.invalid", "42P07"],
  SCHEMA_ALREADY_EXISTS: ["query.invalid", "42P06"],
  COLUMN_ALREADY_EXISTS: ["query.invalid", "42701"],
  ALREADY_EXISTS: ["query.invalid", "42710"],
  AMBIGUOUS_NAME: ["query.invalid", "42702"],
  TYPE_MISMATCH: ["query.invalid", "42804"],
  DIVISION_BY_ZERO: ["query.data", "22012"],
  NUMERIC_VALUE_OUT_OF_RANGE: ["query.data", "22003"],
  INVALID_CAST_ARGUMENT: ["query.data", "22018"],
  INVALID_FUNCTION_ARGUMENT: ["query.data", "22023"],
  INVALID_LITERAL: ["query.data", "22P02"],
  SUBQUERY_MULTIPLE_ROWS: ["query.data", "21000"],
  CONSTRAINT_VIOLATION: ["query.constraint", "23000"],
  PERMISSION_DENIED: ["query.permission", "42501"],
  NOT_SUPPORTED: ["query.unsupported", "0A000"],
  INVALID_PARAMETER_USAGE: ["query.parameters", "42P18"],
  TRANSACTION_CONFLICT: ["query.conflict", "40001"],
  TRANSACTION_ALREADY_ABORTED: ["query.transactionAborted", "25P02"],
  UNKNOWN_TRANSACTION: ["query.transaction", "25000"],
  NOT_IN_TRANSACTION: ["query.transaction", "25P01"],
  READ_ONLY_VIOLATION: ["query.transaction", "25006"],
  AUTOCOMMIT_WRITE_CONFLICT: ["query.unsupported", "0A000"],
  MULTI_CATALOG_WRITE_CONFLICT: ["query.unsupported", "0A000"],
  USER_CANCELED: ["query.cancelled", "57014"],
  ABANDONED_QUERY: ["query.abandoned"],
  ABANDONED_TASK: ["query.abandoned"],
  ADMINISTRATIVELY_KILLED: ["query.cancelled", "57P01"],
  ADMINISTRATIVELY_PREEMPTED: ["query.cancelled", "57P01"],
  EXCEEDED_TIME_LIMIT: ["query.timeout"],
  QUERY_QUEUE_FULL: ["engine.resources"],
  SERVER_STARTING_UP: ["engine.resources"],
  QUERY_TEXT_TOO_LARGE: ["query.unsupported", "54000"],
};

/** Internal and external faults have none: their messages stay here. */
function byType(type: string): Meaning | undefined {
  if (type === "USER_ERROR") return ["query.invalid", "42000"];
  return type === "INSUFFICIENT_RESOURCES" ? ["engine.resources", "53000"] : undefined;
}

/** Without `line 1:8: `, which says the position again. */
function withoutPosition(message: string): string {
  return message.replace(/^line \d{1,9}:\d{1,9}: /, "");
}

/** The UTF-16 unit, from 1, of a place in the text. */
function positionOf(
  location: readonly [number, number] | undefined,
  sql: string | undefined,
): number | undefined {
  if (location === undefined || sql === undefined) return undefined;
  const [line, column] = location;
  let start = 0;
  for (let count = 1; count < line; count += 1) {
    start = sql.indexOf("\n", start) + 1;
    if (start === 0) return undefined;
  }
  let unit = start;
  for (let count = 1; count < column && unit < sql.length; count += 1) {
    unit += (sql.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return unit + 1;
}

function shortened(message: string): string {
  const text = message.trim();
  return text.length <= messageLengthMax ? text : `${text.slice(0, messageLengthMax)}…`;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
