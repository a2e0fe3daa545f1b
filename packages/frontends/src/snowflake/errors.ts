/**
 * Every code of the catalogue as Snowflake shows it: the number and SQLSTATE of an answer that failed, and the status of
 * a request that is refused before anybody looks at what it asks.
 *
 * Numbers are the server's own where it has one (drivers act on 390111, 390112 and 390114), otherwise that of its kind:
 * 001xxx compilation, 002xxx objects, 003001 rights, 000604 cancelled, 000630 time, 000625 load, 100xxx execution.
 */
import type { ErrorCode } from "@gateway/contract/error.ts";
import type { GatewayError } from "@gateway/core/error.ts";

/** A session that is gone, or was never one: log in again. */
export const sessionGone = "390111";
/** The session's token is too old: renew it by the master token. */
export const tokenExpired = "390112";
/** So is the master token: log in again. */
export const masterExpired = "390114";
/** Answers of a query that runs. */
export const inProgress = "333333";
export const inProgressAsync = "333334";

interface SnowflakeCode {
  readonly code: string;
  readonly sqlState: string;
  /** Status of a refused request; 200 where the answer says it. */
  readonly status: 200 | 400 | 401 | 403 | 413 | 500 | 503;
}

const login = (code: string): SnowflakeCode => ({ code, sqlState: "08001", status: 200 });
const answer = (code: string, sqlState: string): SnowflakeCode => ({ code, sqlState, status: 200 });
/** Drivers try again by themselves after this status. */
const later: SnowflakeCode = { code: "000625", sqlState: "57014", status: 503 };

export const snowflakeErrors = {
  "config.notReady": later,
  "gateway.draining": later,
  "internal.bug": answer("000603", "XX000"),
  "auth.required": login("390100"),
  "auth.refused": login("390100"),
  "auth.cleartext": login("390422"),
  "auth.expired": login("390111"),
  "auth.unavailable": later,
  "auth.noBackendIdentity": answer("390100", "28000"),
  "policy.denied": answer("003001", "42501"),
  "policy.unavailable": answer("000625", "57014"),
  "script.failed": answer("000603", "XX000"),
  "script.busy": answer("000625", "57014"),
  "translation.busy": answer("000625", "57014"),
  "route.denied": answer("003001", "42501"),
  "route.forbidden": answer("003001", "42501"),
  "route.noGroup": answer("000606", "57P03"),
  "capacity.queueFull": answer("000625", "57014"),
  "capacity.timeout": answer("000625", "57014"),
  "capacity.lost": answer("000625", "57014"),
  "capacity.statementText": answer("000625", "57014"),
  "connection.limit": later,
  "cluster.unavailable": answer("000607", "57P03"),
  "cluster.connectFailed": answer("000607", "57P03"),
  "engine.failed": answer("100300", "58000"),
  "engine.resources": answer("100301", "53000"),
  "engine.crashed": answer("100302", "57P02"),
  "engine.broken": answer("100303", "58030"),
  "query.syntax": answer("001003", "42000"),
  "query.unknownObject": answer("002003", "02000"),
  "query.invalid": answer("000904", "42000"),
  "query.data": answer("100038", "22018"),
  "query.constraint": answer("100072", "23000"),
  "query.conflict": answer("000625", "40001"),
  "query.permission": answer("003001", "42501"),
  "query.unsupported": answer("000002", "0A000"),
  "query.parameters": answer("002049", "22023"),
  "query.transaction": answer("000636", "25000"),
  "query.transactionAborted": answer("000637", "25P02"),
  "query.idleInTransaction": answer("000638", "25P03"),
  "query.transactionTimeout": answer("000639", "25P04"),
  "query.cancelled": answer("000604", "57014"),
  "query.abandoned": answer("000604", "57014"),
  "query.timeout": answer("000630", "57014"),
  "query.tooManyRows": answer("000631", "54000"),
  "query.textTooLarge": answer("000632", "54000"),
  "query.unknown": answer("000707", "02000"),
  "query.elsewhere": later,
  "protocol.violation": { code: "391902", sqlState: "08P01", status: 400 },
  "protocol.tooLarge": { code: "391903", sqlState: "54000", status: 413 },
  "protocol.timeout": { code: "391902", sqlState: "08P01", status: 400 },
} as const satisfies Record<ErrorCode, SnowflakeCode>;

/** Number, SQLSTATE and text of an answer that failed. */
export function failureOf(error: GatewayError): Failure {
  const { code, sqlState } = snowflakeErrors[error.code];
  const { vendor } = error;
  // Snowflake refused the login itself, and its drivers know why by its number.
  if (vendor?.of === "snowflake")
    return { code: `${vendor.code}`, sqlState, message: error.message };
  return { code, sqlState: error.sqlState ?? sqlState, message: error.message };
}

/** What an answer that failed says. */
export interface Failure {
  readonly code: string;
  readonly sqlState: string;
  readonly message: string;
}

/** Where an error lies in the client's text, as drivers are told: lines from 1, places in them from 0; -1 for nowhere. */
export function placeOf(
  { position }: GatewayError,
  sql: string | undefined,
): { readonly line: number; readonly pos: number } {
  if (position === undefined || sql === undefined) return { line: -1, pos: -1 };
  const before = sql.slice(0, position - 1).split("\n");
  return { line: before.length, pos: before.at(-1)?.length ?? 0 };
}
