/** A refusal or failure as a value. Public by construction: nothing in it but `detail` may come from a driver, and `detail` never reaches a client. */
import { errorCatalogue, type ErrorCode } from "@gateway/contract/error.ts";

export interface GatewayError {
  readonly code: ErrorCode;
  /** What the client reads: the catalogue's text, or the engine's own message about the client's SQL. */
  readonly message: string;
  /** Where in the client's SQL, counted in UTF-16 code units from 1. */
  readonly position?: number;
  readonly hint?: string;
  /** The engine's SQLSTATE, when it gave one that says more than our code does. */
  readonly sqlState?: string;
  /** The engine's own number and name, for clients that speak the engine's protocol. */
  readonly vendor?: EngineVendor;
  readonly subject?: ErrorSubject;
  /** Milliseconds after which a retry makes sense. */
  readonly retryAfterMs?: number;
  /** For operators and the log only. Holds no value of a query, no credential, no foreign error text with parameters. */
  readonly detail?: string;
}

/**
 * What the engine says its error is about, for clients whose protocol has fields for it. `detail` may hold values
 * of the client's own rows: it goes to the client and nowhere else.
 */
export interface ErrorSubject {
  readonly detail?: string;
  readonly schema?: string;
  readonly table?: string;
  readonly column?: string;
  readonly type?: string;
  readonly constraint?: string;
}

/** The engine's own name for an error. Public: it names a kind and holds nothing of a statement. */
export type EngineVendor =
  /** Name, number and type of Trino's `StandardErrorCode` or of a connector. */
  | { readonly of: "trino"; readonly name: string; readonly code: number; readonly type: string }
  /** Number and SQLSTATE of MySQL's family. */
  | { readonly of: "mysql"; readonly code: number; readonly sqlState: string }
  /** What a PostgreSQL server says beside its message. `unparsed`: of a text that it did not take, in the place of its Parse. */
  | { readonly of: "postgres"; readonly fields: PostgresFields; readonly unparsed?: true }
  /** Number and name of a ClickHouse exception; the name is empty where the server did not say it. */
  | { readonly of: "clickHouse"; readonly code: number; readonly name: string }
  /** Number of Snowflake's, for a login that it refused. */
  | { readonly of: "snowflake"; readonly code: number };

/** Fields of an error or a notice by the letters of PostgreSQL's protocol. They may hold the client's own text. */
export type PostgresFields = ReadonlyMap<string, string>;

/** Makes an error of the catalogue; `more` refines it. */
export function gatewayError(
  code: ErrorCode,
  more: Omit<Partial<GatewayError>, "code"> = {},
): GatewayError {
  return { code, message: errorCatalogue[code].text, ...more };
}

/** True for a value made by `gatewayError`, for instance an `AbortSignal.reason`. */
export function isGatewayError(value: unknown): value is GatewayError {
  return (
    typeof value === "object" &&
    value !== null &&
    "code" in value &&
    typeof value.code === "string" &&
    value.code in errorCatalogue
  );
}

/** The error without its position, where that would count in another text than the client's. */
export function withoutPosition({ position: _position, ...error }: GatewayError): GatewayError {
  return error;
}

/** Why a signal was aborted: the reason it carries, or plain cancellation. */
export function abortError(signal: AbortSignal): GatewayError {
  return isGatewayError(signal.reason) ? signal.reason : gatewayError("query.cancelled");
}
