/**
 * What every refusal and failure is on the PostgreSQL wire: an SQLSTATE and whether the connection
 * goes on.
 *
 * A code that asks for a later retry is of class 53 or 57, which pools and drivers take for transient.
 * Class 08 means a broken protocol and nothing else: a pool discards the connection that shows it.
 */
import { errorCatalogue, type ErrorCode } from "@gateway/contract/error.ts";
import type { GatewayError, PostgresFields } from "@gateway/core/error.ts";
import type { Report } from "@gateway/wire/postgres/message.ts";

/** `FATAL`: the connection is closed behind the error, as PostgreSQL does it. */
export interface PgError {
  readonly sqlState: string;
  readonly severity: "ERROR" | "FATAL";
}

export const pgErrors = {
  "config.notReady": { sqlState: "57P03", severity: "ERROR" },
  "gateway.draining": { sqlState: "57P01", severity: "FATAL" },
  "internal.bug": { sqlState: "XX000", severity: "ERROR" },
  "auth.required": { sqlState: "28000", severity: "FATAL" },
  "auth.refused": { sqlState: "28P01", severity: "FATAL" },
  "auth.cleartext": { sqlState: "28000", severity: "FATAL" },
  "auth.expired": { sqlState: "28000", severity: "FATAL" },
  "auth.unavailable": { sqlState: "57P03", severity: "FATAL" },
  "auth.noBackendIdentity": { sqlState: "28000", severity: "ERROR" },
  "policy.denied": { sqlState: "42501", severity: "ERROR" },
  "policy.unavailable": { sqlState: "57P03", severity: "ERROR" },
  "script.failed": { sqlState: "XX000", severity: "ERROR" },
  "script.busy": { sqlState: "53400", severity: "ERROR" },
  "translation.busy": { sqlState: "53400", severity: "ERROR" },
  "route.denied": { sqlState: "42501", severity: "ERROR" },
  "route.forbidden": { sqlState: "42501", severity: "ERROR" },
  "route.noGroup": { sqlState: "42704", severity: "ERROR" },
  "capacity.queueFull": { sqlState: "53300", severity: "ERROR" },
  "capacity.timeout": { sqlState: "53400", severity: "ERROR" },
  "capacity.lost": { sqlState: "53000", severity: "ERROR" },
  "capacity.statementText": { sqlState: "53400", severity: "ERROR" },
  "connection.limit": { sqlState: "53300", severity: "FATAL" },
  "cluster.unavailable": { sqlState: "57P03", severity: "ERROR" },
  "cluster.connectFailed": { sqlState: "57P03", severity: "ERROR" },
  "engine.failed": { sqlState: "58000", severity: "ERROR" },
  "engine.resources": { sqlState: "53000", severity: "ERROR" },
  "engine.crashed": { sqlState: "57P02", severity: "ERROR" },
  "engine.broken": { sqlState: "58030", severity: "ERROR" },
  "query.syntax": { sqlState: "42601", severity: "ERROR" },
  "query.unknownObject": { sqlState: "42P01", severity: "ERROR" },
  "query.invalid": { sqlState: "42000", severity: "ERROR" },
  "query.data": { sqlState: "22000", severity: "ERROR" },
  "query.constraint": { sqlState: "23000", severity: "ERROR" },
  "query.conflict": { sqlState: "40001", severity: "ERROR" },
  "query.permission": { sqlState: "42501", severity: "ERROR" },
  "query.unsupported": { sqlState: "0A000", severity: "ERROR" },
  "query.parameters": { sqlState: "22023", severity: "ERROR" },
  "query.transaction": { sqlState: "25000", severity: "ERROR" },
  "query.transactionAborted": { sqlState: "25P02", severity: "ERROR" },
  "query.idleInTransaction": { sqlState: "25P03", severity: "ERROR" },
  "query.transactionTimeout": { sqlState: "25P04", severity: "ERROR" },
  "query.cancelled": { sqlState: "57014", severity: "ERROR" },
  "query.abandoned": { sqlState: "57014", severity: "ERROR" },
  "query.timeout": { sqlState: "57014", severity: "ERROR" },
  "query.tooManyRows": { sqlState: "54000", severity: "ERROR" },
  "query.textTooLarge": { sqlState: "54000", severity: "ERROR" },
  "query.unknown": { sqlState: "42704", severity: "ERROR" },
  "query.elsewhere": { sqlState: "57P03", severity: "ERROR" },
  "protocol.violation": { sqlState: "08P01", severity: "FATAL" },
  "protocol.tooLarge": { sqlState: "54000", severity: "FATAL" },
  "protocol.timeout": { sqlState: "57P05", severity: "FATAL" },
} as const satisfies Record<ErrorCode, PgError>;

/** Where in the client's text an error lies, and which query it belongs to. */
export interface ErrorPlace {
  /** The text the client sent, for turning the position into characters. */
  readonly sql?: string;
  /** UTF-16 code units of that text before the statement that failed. */
  readonly statementStart?: number;
  readonly queryId?: string;
}

/** The fields of an error response. `severity` FATAL before the session begins, whatever the code. */
export function errorReport(
  error: GatewayError,
  place: ErrorPlace = {},
  severity: PgError["severity"] = pgErrors[error.code].severity,
): Report {
  const { sqlState } = pgErrors[error.code];
  const position = positionOf(error, place);
  const detail = detailOf(error, place);
  const hint = hintOf(error);
  const { detail: _detail, ...subject } = error.subject ?? {};
  const fields = error.vendor?.of === "postgres" ? error.vendor.fields : noFields;
  const whole = (letter: string, known: string) => wholeOf(known, fields.get(letter));
  return {
    ...subject,
    ...placesOf(fields),
    severity,
    sqlState: error.sqlState ?? sqlState,
    message: whole("M", messages[error.code] ?? error.message),
    ...(detail === undefined ? {} : { detail: whole("D", detail) }),
    ...(hint === undefined ? {} : { hint: whole("H", hint) }),
    ...(position === undefined ? {} : { position }),
  };
}

/** Texts of PostgreSQL itself, where the gateway answers what a server would. */
const messages: Partial<Record<ErrorCode, string>> = {
  "query.transactionAborted":
    "current transaction is aborted, commands ignored until end of transaction block",
};

const noFields: PostgresFields = new Map();

/** A text that was shortened for records goes to its client as the server wrote it. */
function wholeOf(known: string, said: string | undefined): string {
  return said !== undefined && known.endsWith("…") && said.startsWith(known.slice(0, -1))
    ? said
    : known;
}

const severities = [
  "ERROR",
  "FATAL",
  "PANIC",
  "WARNING",
  "NOTICE",
  "DEBUG",
  "INFO",
  "LOG",
] as const satisfies readonly Report["severity"][];

/** A server's own notice. */
export function serverReport(fields: PostgresFields): Report {
  const said = fields.get("V") ?? fields.get("S") ?? "";
  const severity = severities.find((one) => said.startsWith(one)) ?? "NOTICE";
  const position = Number(fields.get("P") ?? "");
  return {
    ...namedFields(fields, noticeFields),
    ...placesOf(fields),
    ...(position > 0 ? { position } : {}),
    severity,
    sqlState: fields.get("C") ?? "00000",
    message: fields.get("M") ?? "",
  };
}

const noticeFields = {
  detail: "D",
  hint: "H",
  schema: "s",
  table: "t",
  column: "c",
  type: "d",
  constraint: "n",
} as const;

/** Where a function stood, and where in its source the server raised the error. */
const placeFields = {
  where: "W",
  internalPosition: "p",
  internalQuery: "q",
  file: "F",
  line: "L",
  routine: "R",
} as const;

function placesOf(fields: PostgresFields): Partial<Report> {
  return namedFields(fields, placeFields);
}

function namedFields(
  fields: PostgresFields,
  names: Readonly<Record<string, string>>,
): Partial<Report> {
  const found = Object.entries(names).flatMap(([name, letter]) => {
    const said = fields.get(letter);
    return said === undefined ? [] : [[name, said]];
  });
  return Object.fromEntries(found) as Partial<Report>;
}

/** PostgreSQL counts characters; we count UTF-16 code units. */
function positionOf(error: GatewayError, { sql, statementStart = 0 }: ErrorPlace) {
  if (error.position === undefined || sql === undefined) return undefined;
  let characters = 1;
  const end = Math.min(statementStart + error.position - 1, sql.length);
  for (let index = 0; index < end; index += 1) {
    // The second half of a surrogate pair belongs to the character before it.
    const unit = sql.charCodeAt(index);
    if (unit < 0xdc00 || unit > 0xdfff) characters += 1;
  }
  return characters;
}

/** The engine's own, or the id by which an operator looks the query up: beside the client's own mistake it would be noise. */
function detailOf({ code, subject }: GatewayError, { queryId }: ErrorPlace): string | undefined {
  if (subject?.detail !== undefined) return subject.detail;
  if (queryId === undefined || errorCatalogue[code].class === "client") return undefined;
  return `Query id: ${queryId}`;
}

function hintOf(error: GatewayError): string | undefined {
  if (error.hint !== undefined || error.retryAfterMs === undefined) return error.hint;
  return `Try again in ${Math.max(1, Math.ceil(error.retryAfterMs / 1000))} s.`;
}
