/** What PostgreSQL says when it fails, as errors of the catalogue: by its SQLSTATE alone. */
import type { ErrorCode } from "@gateway/contract/error.ts";
import { gatewayError, type ErrorSubject, type GatewayError } from "@gateway/core/error.ts";
import type { ServerReport } from "@gateway/wire/postgres/server.ts";
import type { Edited } from "./sql/edited.ts";

/** Longest text of a field passed on. */
const textLengthMax = 8_000;

/** Which part of the text that was sent is the client's. */
export interface SentText {
  /** The client's text. */
  readonly sql: string;
  /** Characters before it. */
  readonly prefix: number;
  /** What was sent in its place; absent where it was itself. */
  readonly edited?: Edited | undefined;
  /** The statement's name at the server and its client's own for it, where it was sent by the extended protocol. */
  readonly names?: { readonly server: string; readonly client: string };
}

/** What is sent behind its prefix. */
export function textOf({ sql, edited }: Pick<SentText, "sql" | "edited">): string {
  return edited?.text ?? sql;
}

/** The catalogue's error of a statement's failure. */
export function errorOf(report: ServerReport, sent: SentText): GatewayError {
  const sqlState = report.get("C") ?? "XX000";
  const code = codeOfState(sqlState);
  if (!aboutSql.has(code)) return gatewayError(code, { sqlState, detail: `SQLSTATE ${sqlState}` });
  const hint = report.get("H");
  const position = positionIn(sent, report.get("P"));
  const subject = subjectOf(report);
  return gatewayError(code, {
    message: shortened(named(report.get("M") ?? "", sent)),
    sqlState,
    ...(hint === undefined ? {} : { hint: shortened(hint) }),
    ...(position === undefined ? {} : { position }),
    ...(Object.keys(subject).length === 0 ? {} : { subject }),
    vendor: { of: "postgres", fields: report },
  });
}

/** The same of a text that the server did not take. */
export function unparsedError(error: GatewayError): GatewayError {
  const { vendor } = error;
  if (vendor?.of !== "postgres") return error;
  return { ...error, vendor: { ...vendor, unparsed: true } };
}

/** A client hears of its statement by the name that it gave. */
function named(message: string, { names }: SentText): string {
  if (names === undefined || names.server === names.client) return message;
  const said = `prepared statement "${names.server}"`;
  return message.replace(said, () => `prepared statement "${names.client}"`);
}

/** True when the server ends the connection behind the error. */
export function endsConnection(report: ServerReport): boolean {
  const severity = report.get("V") ?? report.get("S");
  return severity === "FATAL" || severity === "PANIC";
}

/** The connection broke off, or what came is no answer of PostgreSQL's. */
export function brokenError(detail: string): GatewayError {
  return gatewayError("engine.broken", { detail });
}

const subjectFields = {
  detail: "D",
  schema: "s",
  table: "t",
  column: "c",
  type: "d",
  constraint: "n",
} as const satisfies Record<keyof ErrorSubject, string>;

function subjectOf(report: ServerReport): ErrorSubject {
  const found = Object.entries(subjectFields).flatMap(([name, letter]) => {
    const said = report.get(letter);
    return said === undefined || said === "" ? [] : [[name, shortened(said)]];
  });
  return Object.fromEntries(found) as ErrorSubject;
}

/** Codes whose text is about the client's own statement. */
const aboutSql: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
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
  "query.cancelled",
  "engine.failed",
  "engine.resources",
]);

/** SQLSTATE by itself, or else by its class. A procedure may raise any state of its own. */
function codeOfState(state: string): ErrorCode {
  const own = /^[0-9A-Z]{5}$/.test(state) && /^(?:0[0-3]|[4-9I-Z])/.test(state);
  const known = states[state] ?? classes[state.slice(0, 2)];
  return known ?? (own ? "query.invalid" : "engine.failed");
}

const states: Readonly<Record<string, ErrorCode>> = {
  "42601": "query.syntax",
  "42P01": "query.unknownObject",
  "42703": "query.unknownObject",
  "42704": "query.unknownObject",
  "42883": "query.unknownObject",
  "3F000": "query.unknownObject",
  "3D000": "query.unknownObject",
  "42501": "query.permission",
  "42P02": "query.parameters",
  "42P18": "query.parameters",
  // Bind: a wrong number of parameters, or of formats.
  "08P01": "query.parameters",
  "57014": "query.cancelled",
  "57P01": "engine.broken",
  "57P02": "engine.crashed",
  "57P03": "cluster.connectFailed",
  "57P05": "engine.broken",
  "25P02": "query.transactionAborted",
  "54001": "engine.resources",
};

const classes: Readonly<Record<string, ErrorCode>> = {
  "08": "engine.broken",
  "0A": "query.unsupported",
  "0L": "query.permission",
  "0P": "query.permission",
  "20": "query.data",
  "21": "query.data",
  "22": "query.data",
  "23": "query.constraint",
  "24": "query.invalid",
  "25": "query.transaction",
  "26": "query.invalid",
  "27": "query.data",
  "28": "query.permission",
  "2B": "query.invalid",
  "2D": "query.transaction",
  "2F": "query.data",
  "34": "query.invalid",
  "38": "query.data",
  "39": "query.data",
  "3B": "query.invalid",
  "40": "query.conflict",
  "42": "query.invalid",
  "44": "query.constraint",
  "53": "engine.resources",
  "54": "query.invalid",
  "55": "query.invalid",
  "58": "engine.failed",
  F0: "engine.failed",
  HV: "query.data",
  P0: "query.invalid",
  XX: "engine.failed",
};

/** PostgreSQL counts characters from 1, in the text that it was given; errors count UTF-16 units in the client's. */
function positionIn(
  { sql, prefix, edited }: SentText,
  said: string | undefined,
): number | undefined {
  const character = Number(said ?? Number.NaN) - prefix;
  if (!Number.isInteger(character) || character < 1) return undefined;
  const text = textOf({ sql, edited });
  let unit = 0;
  for (let left = character - 1; left > 0 && unit < text.length; left -= 1) {
    unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  }
  return (edited?.before(unit) ?? unit) + 1;
}

function shortened(text: string): string {
  return text.length <= textLengthMax ? text : `${text.slice(0, textLengthMax)}…`;
}
