/**
 * What DuckDB says when it fails, as errors of the catalogue.
 *
 * The database is opened with `errors_as_json`, so class, position and subtype come as fields. The message
 * is read for one thing only: which constraint it was, which stands nowhere else. Messages about the
 * client's own SQL are passed on; those of faults inside the engine hold stack traces and are not.
 */
import type { ErrorCode } from "@gateway/contract/error.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { AdbcFailure } from "../../native/driver.ts";

/** Longest message passed on; DuckDB lists candidates without end. */
const messageLengthMax = 2_000;

/** A failure as DuckDB describes it. */
export interface DuckDbFailure {
  /** DuckDB's class of exception: `Catalog`, `Out of Range`. */
  readonly type: string;
  readonly message: string;
  readonly subtype: string | undefined;
  /** What kind of object is missing or there already: `Table`, `Scalar Function`. */
  readonly object: string | undefined;
  /** Byte of the SQL text, from 0. */
  readonly position: number | undefined;
}

/** True when the whole database refuses everything until it was opened again. */
export function isFatalFailure(failure: AdbcFailure): boolean {
  return failure.code === "driver" && readFailure(failure.message).type === "FATAL";
}

/** What the statement was, as far as it decides what a failure means. */
export interface FailedStatement {
  readonly sql: string;
  /** Its rows may have been changed by somebody else. */
  readonly writes: boolean;
}

/** Reads the JSON out of a driver's message; a message without JSON begins with its class. */
export function readFailure(message: string): DuckDbFailure {
  const brace = message.indexOf("{");
  const fields = brace < 0 ? undefined : parsedFields(message.slice(brace));
  if (fields === undefined) {
    const type = /^([A-Z][A-Za-z ]*?) Error: /.exec(message)?.[1];
    return {
      type: type ?? "unknown",
      message: type === undefined ? message : message.slice(type.length + " Error: ".length),
      subtype: undefined,
      object: undefined,
      position: undefined,
    };
  }
  const position = Number(fields["position"] ?? Number.NaN);
  return {
    type: fields["exception_type"] ?? "unknown",
    message: fields["exception_message"] ?? "",
    subtype: fields["error_subtype"],
    object: fields["type"],
    position: Number.isSafeInteger(position) ? position : undefined,
  };
}

/** The catalogue's error for a failure. */
export function errorOfFailure(
  failure: DuckDbFailure,
  { sql, writes }: FailedStatement,
): GatewayError {
  const meaning = meaningOf(failure, writes);
  if (!meaning.public) return gatewayError(meaning.code, { detail: failure.type });
  const position = failure.position === undefined ? undefined : unitAt(sql, failure.position);
  return gatewayError(meaning.code, {
    message: shortened(failure.message),
    sqlState: meaning.sqlState,
    ...(position === undefined ? {} : { position }),
  });
}

interface Meaning {
  readonly code: ErrorCode;
  readonly sqlState: string;
  /** Whether the message is about the client's own SQL. */
  readonly public: boolean;
}

function meaningOf({ type, subtype, object, message }: DuckDbFailure, writes: boolean): Meaning {
  switch (type) {
    case "Catalog":
      return about(subtype === "ENTRY_ALREADY_EXISTS" ? existing(object) : missing(object));
    case "Binder":
      return about(bindings[subtype ?? ""] ?? ["query.invalid", "42000"]);
    case "Constraint":
      return about(["query.constraint", constraintState(message)]);
    case "TransactionContext":
      // DuckDB has one class for both; without an aborted transaction before it only a conflict is left.
      return about(writes ? ["query.conflict", "40001"] : ["query.transaction", "25000"]);
    default: {
      const known = meanings[type];
      return known === undefined ? hidden : about(known);
    }
  }
}

function about([code, sqlState]: readonly [ErrorCode, string]): Meaning {
  return { code, sqlState, public: true };
}

/** Faults of the engine: `INTERNAL`, `FATAL` and whatever a newer version adds. */
const hidden: Meaning = { code: "engine.failed", sqlState: "XX000", public: false };

const bindings: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  COLUMN_NOT_FOUND: ["query.unknownObject", "42703"],
  NO_MATCHING_FUNCTION: ["query.unknownObject", "42883"],
};

/** How DuckDB 1.5 begins what it says of a constraint; the values of the row stand behind it. */
const constraints: readonly (readonly [begins: string, sqlState: string])[] = [
  ["Duplicate key ", "23505"],
  ["PRIMARY KEY or UNIQUE constraint ", "23505"],
  ["Data contains duplicates ", "23505"],
  ["NOT NULL constraint ", "23502"],
  ["CHECK constraint ", "23514"],
  ["Violates foreign key constraint ", "23503"],
];

/** Frameworks tell a duplicate from other violations by it. Other words leave the class, which is never wrong. */
function constraintState(message: string): string {
  return constraints.find(([begins]) => message.startsWith(begins))?.[1] ?? "23000";
}

function missing(object: string | undefined): readonly [ErrorCode, string] {
  if (object?.endsWith("Function") === true) return ["query.unknownObject", "42883"];
  switch (object) {
    case "Schema":
      return ["query.unknownObject", "3F000"];
    case "Table":
    case "View":
      return ["query.unknownObject", "42P01"];
    case undefined:
      // Without an object: a schema that is not there, or a change the catalog refuses.
      return ["query.unknownObject", "42000"];
    default:
      return ["query.unknownObject", "42704"];
  }
}

function existing(object: string | undefined): readonly [ErrorCode, string] {
  if (object === "Schema") return ["query.invalid", "42P06"];
  return ["query.invalid", object === "Table" || object === "View" ? "42P07" : "42710"];
}

const meanings: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  Parser: ["query.syntax", "42601"],
  Syntax: ["query.syntax", "42601"],
  Conversion: ["query.data", "22P02"],
  "Out of Range": ["query.data", "22003"],
  "Divide by Zero": ["query.data", "22012"],
  "Mismatch Type": ["query.data", "42804"],
  "Invalid type": ["query.data", "42804"],
  Decimal: ["query.data", "22003"],
  "Invalid Input": ["query.data", "22023"],
  Sequence: ["query.data", "2200H"],
  TRANSACTION: ["query.conflict", "40001"],
  Dependency: ["query.invalid", "2BP01"],
  "Not implemented": ["query.unsupported", "0A000"],
  "Missing Extension": ["query.unsupported", "0A000"],
  "Extension Autoloading": ["query.unsupported", "0A000"],
  Permission: ["query.permission", "42501"],
  INTERRUPT: ["query.cancelled", "57014"],
  "Out of Memory": ["engine.resources", "53200"],
  // About a file that the statement names.
  IO: ["query.invalid", "58030"],
  HTTP: ["query.invalid", "58030"],
  Settings: ["query.invalid", "42000"],
  "Invalid Configuration": ["query.invalid", "42000"],
  Expression: ["query.invalid", "42000"],
  "Parameter Not Resolved": ["query.parameters", "42P18"],
  "Parameter Not Allowed": ["query.parameters", "42P18"],
};

function shortened(message: string): string {
  const text = message.trim();
  return text.length <= messageLengthMax ? text : `${text.slice(0, messageLengthMax)}…`;
}

/** The UTF-16 unit, counted from 1, that holds a byte of the text's UTF-8 form. */
export function unitAt(text: string, byte: number): number {
  let bytes = 0;
  let unit = 0;
  while (unit < text.length && bytes < byte) {
    const code = text.codePointAt(unit) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
    unit += code > 0xffff ? 2 : 1;
  }
  return unit + 1;
}

function parsedFields(text: string): Readonly<Record<string, string>> | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof parsed !== "object" || parsed === null) return undefined;
  const texts = Object.entries(parsed).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return Object.fromEntries(texts);
}
