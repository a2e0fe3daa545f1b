/**
 * What ClickHouse says when it fails, as errors of the catalogue.
 *
 * Decided by its number alone. The message is about the client's own SQL and is passed on where the
 * class of the number says so.
 */
import type { ErrorCode } from "@gateway/contract/error.ts";
import { gatewayError, type EngineVendor, type GatewayError } from "@gateway/core/error.ts";
import { refusalOf, type Caller } from "./identity.ts";

/** Longest message passed on; ClickHouse repeats the query in it. */
const messageLengthMax = 2_000;

/** `Code: 60. DB::Exception: …. (UNKNOWN_TABLE) (version 25.8.1)` as its parts. */
export interface Exception {
  readonly number: number;
  readonly message: string;
}

/** Reads the text of an answer that failed; `header` is `X-ClickHouse-Exception-Code`, where there is one. */
export function readException(text: string, header?: string): Exception {
  const found = /^Code: (\d+)\. DB::\w+: ([\s\S]*)$/.exec(text.trim());
  const message = (found?.[2] ?? text).replace(/\s*\(version [^()]*(?:\([^()]*\))?\)\s*$/, "");
  return { number: Number(header ?? found?.[1] ?? 0), message: message.trim() };
}

/** What the statement was that failed. */
export interface Failed {
  /** The client's own text, where places in it hold. */
  readonly shown: string | undefined;
  readonly caller: Caller;
  /** See `SentText.shiftBytes`. */
  readonly shiftBytes: number;
}

/** The catalogue's error. */
export function errorOf(
  exception: Exception,
  { shown: sql, caller, shiftBytes }: Failed,
): GatewayError {
  const { number, message } = placedIn(exception, shiftBytes);
  if (caller.kind === "user" && isOfIdentity(exception)) {
    return refusalOf(caller, `code ${number}`);
  }
  const meaning = meanings[number];
  const vendor = vendorOf(exception);
  if (meaning === undefined) {
    return gatewayError("engine.failed", { detail: `code ${number}`, vendor });
  }
  const [code, sqlState] = meaning;
  if (hidden.has(code)) return gatewayError(code, { detail: `code ${number}` });
  const position =
    number === syntaxError && sql !== undefined ? positionIn(message, sql) : undefined;
  const shown =
    message.length <= messageLengthMax ? message : `${message.slice(0, messageLengthMax)}…`;
  return gatewayError(code, {
    message: shown,
    sqlState,
    vendor,
    ...(position === undefined ? {} : { position }),
  });
}

/** The server's own number and name, which stands in brackets at the end of its message. */
export function vendorOf({ number, message }: Exception): EngineVendor {
  return {
    of: "clickHouse",
    code: number,
    name: /\(([A-Z][A-Z0-9_]+)\)$/.exec(message)?.[1] ?? "",
  };
}

/** True when the number says that the login failed, whoever asked. */
export function isLoginFailure({ number }: Exception): boolean {
  return number === 516 || number === 192 || number === 193 || number === 194;
}

/**
 * The server does not know the user, does not let the account be it, or nobody. The last two share their
 * numbers with other refusals, so the message is read; who imitates it changes the name of a refusal.
 */
function isOfIdentity({ number, message }: Exception): boolean {
  if (number === unknownUser) return true;
  if (number === accessDenied) return message.includes("have the grant IMPERSONATE ON ");
  return number === disabled && message.startsWith("IMPERSONATE feature is disabled");
}

const syntaxError = 62;
const unknownUser = 192;
const disabled = 344;
const accessDenied = 497;

/** With the place of a syntax error counted in the client's text. */
function placedIn({ number, message }: Exception, shiftBytes: number): Exception {
  if (number !== syntaxError || shiftBytes === 0) return { number, message };
  const moved = message.replace(
    /failed at position (\d{1,9})/,
    (_all, byte: string) => `failed at position ${Number(byte) - shiftBytes}`,
  );
  return { number, message: moved };
}

/** The place of a syntax error, which ClickHouse counts in bytes from 1, in UTF-16 units. */
function positionIn(message: string, sql: string): number | undefined {
  const byte = Number(/failed at position (\d+)/.exec(message)?.[1] ?? Number.NaN);
  if (!Number.isSafeInteger(byte) || byte < 1) return undefined;
  const before = Buffer.from(sql)
    .subarray(0, byte - 1)
    .toString();
  return before.length + 1;
}

/** Codes whose public text is the catalogue's: the message speaks of the server or the service account. */
const hidden: ReadonlySet<ErrorCode> = new Set(["cluster.connectFailed", "engine.failed"]);

type Meaning = readonly [ErrorCode, string];
const unknownObject = (sqlState: string): Meaning => ["query.unknownObject", sqlState];
const data = (sqlState: string): Meaning => ["query.data", sqlState];
const invalid = (sqlState = "42000"): Meaning => ["query.invalid", sqlState];
const resources: Meaning = ["engine.resources", "53000"];
const refused: Meaning = ["cluster.connectFailed", "28000"];

const meanings: Readonly<Record<number, Meaning>> = {
  // Text that does not parse, and values that do not convert.
  [syntaxError]: ["query.syntax", "42601"],
  6: data("22P02"),
  25: data("22P02"),
  26: data("22P02"),
  27: data("22P02"),
  32: data("22P02"),
  38: data("22007"),
  41: data("22007"),
  43: invalid("42804"),
  53: data("42804"),
  69: data("22003"),
  70: data("42804"),
  72: data("22P02"),
  153: data("22012"),
  321: data("22004"),
  349: data("22004"),
  386: invalid("42804"),
  395: data("22023"),
  407: data("22003"),
  691: data("22P02"),
  // Things that are not there, or there already.
  10: unknownObject("42703"),
  16: unknownObject("42703"),
  36: invalid("22023"),
  42: invalid("42883"),
  46: unknownObject("42883"),
  47: unknownObject("42703"),
  50: unknownObject("42704"),
  57: invalid("42P07"),
  60: unknownObject("42P01"),
  63: unknownObject("42883"),
  80: invalid(),
  81: unknownObject("3D000"),
  82: invalid("42P04"),
  115: invalid("42704"),
  184: invalid("42803"),
  207: invalid("42702"),
  215: invalid("42803"),
  352: invalid("42702"),
  // Parameters.
  456: ["query.parameters", "42P02"],
  457: ["query.parameters", "22P02"],
  // What the server does not do.
  1: ["query.unsupported", "0A000"],
  48: ["query.unsupported", "0A000"],
  [disabled]: ["query.unsupported", "0A000"],
  // Rights.
  164: ["query.permission", "25006"],
  291: ["query.permission", "42501"],
  452: ["query.permission", "42501"],
  [accessDenied]: ["query.permission", "42501"],
  // The service account itself is refused: not the client's fault, and another member may do.
  [unknownUser]: refused,
  193: refused,
  194: refused,
  516: refused,
  // Limits.
  159: ["query.timeout", "57014"],
  160: ["query.timeout", "57014"],
  394: ["query.cancelled", "57014"],
  158: resources,
  173: resources,
  201: resources,
  202: resources,
  241: resources,
  243: resources,
  307: resources,
  396: resources,
};
