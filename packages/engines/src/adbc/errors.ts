/**
 * What drivers say when they fail, as errors of the catalogue.
 *
 * Decided by the vendor's code and by SQLSTATE, never by the ADBC status: a wrong password and a
 * cancelled query come under the same ones. SQLite's driver and those that are not known say neither;
 * there the fixed beginnings of SQLite's messages are all there is, and anything else is a plain failure.
 */
import type { ErrorCode } from "@gateway/contract/error.ts";
import { gatewayError, type ErrorSubject, type GatewayError } from "@gateway/core/error.ts";
import { errorOfBinding } from "../native/bindingError.ts";
import type { AdbcFailure } from "../native/driver.ts";
import { errorOfFailure, readFailure } from "../duckDb/library/failure.ts";
import type { Profile } from "./profile.ts";
import type { Written } from "./sql/written.ts";

/** Longest message passed on. */
const messageLengthMax = 2_000;

/** The catalogue's error for a failed statement. */
export function errorOf(
  profile: Profile,
  failure: AdbcFailure,
  statement: Pick<Written, "sql" | "prefix" | "original"> & { readonly writes: boolean },
): GatewayError {
  const { code, message } = failure;
  const said = code === "driver" || (code === "contextRefused" && failure.status !== 0);
  if (!said) return errorOfBinding(code, message);
  if (profile.name !== "duckdb") return driverError(profile, failure, statement);
  const { original: sql, writes } = statement;
  return errorOfFailure(readFailure(failure.message), { sql, writes });
}

/** The error of a connection that could not be made. Texts of logins hold no secret, and stay with the operator all the same. */
export function connectError(failure: AdbcFailure): GatewayError {
  if (failure.code === "cancelled") return gatewayError("query.cancelled");
  return gatewayError("cluster.connectFailed", { detail: shortened(failure.message) });
}

/** True when the connection may be in any state afterwards, or is gone. */
export function breaksConnection({ name }: Profile, failure: AdbcFailure): boolean {
  if (breaking.has(failure.code)) return true;
  const state = failure.sqlState?.slice(0, 2);
  if (state !== undefined) return lostStates.has(state);
  if (failure.vendorCode !== undefined) {
    return name === "flightsql" ? lostCalls.has(failure.vendorCode) : isLogin(failure.vendorCode);
  }
  return name !== "duckdb" && name !== "sqlite";
}

/** Behind `contextRefused` it may stand anywhere. */
const breaking: ReadonlySet<AdbcFailure["code"]> = new Set([
  "broken",
  "bug",
  "cancelled",
  "contextRefused",
]);

/** Connection exceptions, an administrator's shutdown, faults of the server. */
const lostStates: ReadonlySet<string> = new Set(["08", "57", "58", "XX"]);

/** Codes of gRPC: deadline exceeded, unavailable, unauthenticated. */
const lostCalls: ReadonlySet<number> = new Set([4, 14, 16]);

function driverError(
  profile: Profile,
  failure: AdbcFailure,
  statement: Pick<Written, "prefix" | "original">,
): GatewayError {
  const code = codeOf(profile, failure);
  const sqlState = failure.sqlState;
  const stated = sqlState === undefined ? {} : { sqlState };
  if (!aboutSql.has(code))
    return gatewayError(code, { ...stated, detail: shortened(failure.message) });
  const details = failure.details;
  const message = details?.get("PG_DIAG_MESSAGE_PRIMARY") ?? withoutQuery(failure.message);
  const hint = details?.get("PG_DIAG_MESSAGE_HINT");
  const position = positionIn(statement, details?.get("PG_DIAG_STATEMENT_POSITION"), code);
  const subject = details === undefined ? {} : subjectOf(details);
  return gatewayError(code, {
    message: shortened(message),
    ...stated,
    ...(hint === undefined ? {} : { hint: shortened(hint) }),
    ...(position === undefined ? {} : { position }),
    ...(Object.keys(subject).length === 0 ? {} : { subject }),
  });
}

/** Fields of PostgreSQL's errors. */
const subjectFields = {
  detail: "PG_DIAG_MESSAGE_DETAIL",
  schema: "PG_DIAG_SCHEMA_NAME",
  table: "PG_DIAG_TABLE_NAME",
  column: "PG_DIAG_COLUMN_NAME",
  type: "PG_DIAG_DATATYPE_NAME",
  constraint: "PG_DIAG_CONSTRAINT_NAME",
} as const satisfies Record<keyof ErrorSubject, string>;

function subjectOf(details: ReadonlyMap<string, string>): ErrorSubject {
  const found = Object.entries(subjectFields).flatMap(([name, field]) => {
    const said = details.get(field);
    return said === undefined || said === "" ? [] : [[name, shortened(said)]];
  });
  return Object.fromEntries(found) as ErrorSubject;
}

/** Codes whose text is about the client's own SQL. */
const aboutSql: ReadonlySet<ErrorCode> = new Set([
  "query.syntax",
  "query.unknownObject",
  "query.invalid",
  "query.data",
  "query.constraint",
  "query.conflict",
  "query.permission",
  "query.unsupported",
  "query.parameters",
  "query.transaction",
  "query.transactionAborted",
]);

function codeOf({ name }: Profile, failure: AdbcFailure): ErrorCode {
  const vendor = failure.vendorCode;
  if (name === "snowflake" && vendor !== undefined) {
    const known = isLogin(vendor) ? "engine.failed" : snowflakeCodes[vendor];
    if (known !== undefined) return known;
  }
  if (failure.sqlState !== undefined) return codeOfState(failure.sqlState);
  // Unknown and internal are what a server says that has no code of gRPC for it.
  const call = name === "flightsql" && vendor !== undefined ? callCodes[vendor] : undefined;
  if (call !== undefined) return call;
  if (name === "sqlite" || name === "flightsql") return codeOfSqlite(failure.message);
  // libpq has no SQLSTATE only where there is no server to give one.
  return name === "postgresql" ? "engine.broken" : "engine.failed";
}

/** Codes of logins and sessions: 390100 a wrong password, 390303 a wrong token, 390144 a wrong key, 394400 a wrong access token. */
export function isLogin(vendor: number): boolean {
  return (vendor >= 390_100 && vendor < 390_500) || vendor === 394_400;
}

/** Snowflake's codes where its SQLSTATE says too little. */
const snowflakeCodes: Readonly<Record<number, ErrorCode>> = {
  603: "engine.failed",
  604: "query.cancelled",
  630: "query.timeout",
  904: "query.unknownObject",
  939: "query.invalid",
  1003: "query.syntax",
  2003: "query.unknownObject",
  2043: "query.unknownObject",
  2002: "query.invalid",
  2049: "query.parameters",
  3001: "query.permission",
  100_035: "query.data",
  100_038: "query.data",
  100_051: "query.data",
  100_072: "query.constraint",
};

/** What the codes of gRPC stand for, which Flight SQL's driver gives as its vendor's. */
const callCodes: Readonly<Record<number, ErrorCode>> = {
  1: "query.cancelled",
  3: "query.invalid",
  4: "engine.broken",
  5: "query.unknownObject",
  6: "query.invalid",
  7: "query.permission",
  8: "engine.resources",
  9: "query.invalid",
  11: "query.data",
  12: "query.unsupported",
  14: "engine.broken",
  16: "engine.broken",
};

/** SQLSTATE by its class, and by itself where that says more. */
export function codeOfState(state: string): ErrorCode {
  return states[state] ?? stateClasses[state.slice(0, 2)] ?? "engine.failed";
}

const states: Readonly<Record<string, ErrorCode>> = {
  "42601": "query.syntax",
  "42000": "query.syntax",
  "42P01": "query.unknownObject",
  "42703": "query.unknownObject",
  "42704": "query.unknownObject",
  "42883": "query.unknownObject",
  "42S02": "query.unknownObject",
  "42S22": "query.unknownObject",
  "3F000": "query.unknownObject",
  "3D000": "query.unknownObject",
  "42501": "query.permission",
  "42P02": "query.parameters",
  "42P18": "query.parameters",
  "57014": "query.cancelled",
  "57P01": "engine.broken",
  "25P02": "query.transactionAborted",
  "54001": "engine.resources",
};

const stateClasses: Readonly<Record<string, ErrorCode>> = {
  "08": "engine.broken",
  "0A": "query.unsupported",
  "21": "query.data",
  "22": "query.data",
  "23": "query.constraint",
  "25": "query.transaction",
  "2B": "query.invalid",
  "3B": "query.invalid",
  "40": "query.conflict",
  "42": "query.invalid",
  "44": "query.constraint",
  "53": "engine.resources",
  "54": "query.invalid",
  "55": "query.invalid",
  P0: "query.invalid",
};

/** SQLite's own fixed texts, whatever its driver puts before them. */
function codeOfSqlite(message: string): ErrorCode {
  return sqliteTexts.find(([pattern]) => pattern.test(message))?.[1] ?? "engine.failed";
}

const sqliteTexts: readonly (readonly [RegExp, ErrorCode])[] = [
  [/no such (table|column|function|index|view|collation)/, "query.unknownObject"],
  [/no such savepoint/, "query.invalid"],
  [/syntax error|incomplete input|unrecognized token/, "query.syntax"],
  [/parameter count mismatch/, "query.parameters"],
  [/constraint failed/, "query.constraint"],
  [/database (table )?is locked/, "query.conflict"],
  [/not authorized|readonly database/, "query.permission"],
  [/unsupported type/, "query.unsupported"],
  [/interrupted/, "query.cancelled"],
  [/datatype mismatch|integer overflow|malformed JSON/, "query.data"],
  [/Failed to prepare query/, "query.invalid"],
];

/** Drivers repeat the statement behind their message; the client has it, and it holds our tag. */
function withoutQuery(message: string): string {
  const end = message.search(/\n+(?:Query was|query): /);
  const text = end < 0 ? message : message.slice(0, end);
  return text.replace(/^\[[\w ]+\] /, "");
}

/** PostgreSQL counts characters from 1, in the text that it was given. */
function positionIn(
  { prefix, original }: Pick<Written, "prefix" | "original">,
  said: string | undefined,
  code: ErrorCode,
): number | undefined {
  const character = Number(said ?? Number.NaN) - prefix;
  // A query inside the driver's own COPY is counted from elsewhere; it is past its parsing then.
  if (!Number.isInteger(character) || character < 1 || code === "query.parameters")
    return undefined;
  let unit = 0;
  for (let left = character - 1; left > 0 && unit < original.length; left -= 1) {
    unit += (original.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return unit + 1;
}

function shortened(message: string): string {
  const text = message.trim();
  return text.length <= messageLengthMax ? text : `${text.slice(0, messageLengthMax)}…`;
}
