/**
 * Messages of the PostgreSQL protocol version 3 as data, seen from the server.
 *
 * No bytes, no socket, no meaning of types or settings. `start.ts` and `frontend.ts` make the
 * messages a client sends from frames; `backend.ts` writes the ones a server sends.
 */

/** What a client sends first: one packet without a type byte, or several when it asks for encryption before. */
export type StartMessage =
  | { readonly kind: "sslRequest" }
  | { readonly kind: "gssRequest" }
  | { readonly kind: "cancelRequest"; readonly process: number; readonly secret: Uint8Array }
  | {
      readonly kind: "startup";
      readonly major: number;
      readonly minor: number;
      /** In the order sent; the last value of a repeated name stands. */
      readonly parameters: ReadonlyMap<string, string>;
    };

/** 0 is text, 1 is binary. */
export type Format = 0 | 1;

/** A prepared statement (`S`) or a portal (`P`). */
export type Target = "statement" | "portal";

/** What a client sends after the start-up packet. Byte views stay valid as long as they are held. */
export type FrontendMessage =
  | { readonly kind: "query"; readonly sql: string }
  | {
      readonly kind: "parse";
      readonly statement: string;
      readonly sql: string;
      /** Object ids of parameter types; 0 or absence leaves the type to the server. */
      readonly types: readonly number[];
    }
  | {
      readonly kind: "bind";
      readonly portal: string;
      readonly statement: string;
      /** None (all text), one (for all), or one for each parameter. */
      readonly formats: readonly Format[];
      /** `undefined` is NULL. */
      readonly values: readonly (Uint8Array | undefined)[];
      /** None (all text), one (for all), or one for each column. */
      readonly resultFormats: readonly Format[];
    }
  | { readonly kind: "describe"; readonly target: Target; readonly name: string }
  /** `maxRows` 0 means all. */
  | { readonly kind: "execute"; readonly portal: string; readonly maxRows: number }
  | { readonly kind: "close"; readonly target: Target; readonly name: string }
  | { readonly kind: "flush" }
  | { readonly kind: "sync" }
  | { readonly kind: "terminate" }
  | {
      readonly kind: "functionCall";
      /** Its object id. */
      readonly function: number;
      /** None (all text), one (for all), or one for each argument. */
      readonly formats: readonly Format[];
      /** `undefined` is NULL. */
      readonly values: readonly (Uint8Array | undefined)[];
      readonly resultFormat: Format;
    }
  /** A password, or a step of SASL or GSS; only the server's state tells which (see `frontend.ts`). */
  | { readonly kind: "password"; readonly body: Uint8Array }
  | { readonly kind: "copyData"; readonly body: Uint8Array }
  | { readonly kind: "copyDone" }
  | { readonly kind: "copyFail"; readonly reason: string };

/** How a client broke the protocol. After it, except after `text`, nothing on the connection means anything. */
export type Violation =
  /** Refused for its length, before any memory was taken. */
  | { readonly kind: "tooLarge"; readonly length: number; readonly limit: number }
  /** A length below the smallest possible one. */
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "unknownType"; readonly type: number }
  /** `what` names the message and never holds bytes of it. */
  | { readonly kind: "malformed"; readonly what: string }
  /** The frame is sound but its text is not UTF-8. */
  | { readonly kind: "text"; readonly what: string }
  /** A message with a text over the limit of texts, or without a limit one for which there was no room; its bytes were skipped. */
  | {
      readonly kind: "textTooLarge";
      readonly what: string;
      readonly length: number;
      readonly limit: number | undefined;
    };

/** One field of a row description. */
export interface RowField {
  readonly name: string;
  readonly type: number;
  /** Bytes of a value, negative for variable width. */
  readonly size: number;
  /** Type modifier, -1 for none. */
  readonly modifier: number;
  readonly format: Format;
  /** Object id of the table and number of the column there; absent for what is no column of a table. */
  readonly table?: number;
  readonly column?: number;
}

/** Fields of an error or a notice. Absent fields are not sent. */
export interface Report {
  readonly severity: "ERROR" | "FATAL" | "PANIC" | "WARNING" | "NOTICE" | "DEBUG" | "INFO" | "LOG";
  readonly sqlState: string;
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
  /** In characters of the client's text, from 1. */
  readonly position?: number;
  readonly schema?: string;
  readonly table?: string;
  readonly column?: string;
  readonly type?: string;
  readonly constraint?: string;
  /** Where a function was when it failed, and the query that it ran, with the position in that. */
  readonly where?: string;
  readonly internalPosition?: string;
  readonly internalQuery?: string;
  /** Where in the server's source it was raised. */
  readonly file?: string;
  readonly line?: string;
  readonly routine?: string;
}

/** `I` idle, `T` in a transaction, `E` in a failed one. */
export type TransactionStatus = "I" | "T" | "E";

/** What a server sends, but for rows, which are written straight into the buffer (see `bytes.ts`). */
export type BackendMessage =
  | { readonly kind: "authenticationOk" }
  | { readonly kind: "authenticationCleartext" }
  | { readonly kind: "authenticationSasl"; readonly mechanisms: readonly string[] }
  | { readonly kind: "authenticationSaslContinue"; readonly body: Uint8Array }
  | { readonly kind: "authenticationSaslFinal"; readonly body: Uint8Array }
  | { readonly kind: "backendKey"; readonly process: number; readonly secret: Uint8Array }
  /** `version` as on the wire: major in the upper half, minor in the lower. */
  | {
      readonly kind: "negotiateVersion";
      readonly version: number;
      readonly unknownOptions: readonly string[];
    }
  | { readonly kind: "parameterStatus"; readonly name: string; readonly value: string }
  | { readonly kind: "ready"; readonly status: TransactionStatus }
  | { readonly kind: "parseComplete" }
  | { readonly kind: "bindComplete" }
  | { readonly kind: "closeComplete" }
  | { readonly kind: "noData" }
  | { readonly kind: "portalSuspended" }
  | { readonly kind: "emptyQuery" }
  /** `undefined` is NULL. */
  | { readonly kind: "functionCallResponse"; readonly value: Uint8Array | undefined }
  | { readonly kind: "parameterDescription"; readonly types: readonly number[] }
  | { readonly kind: "rowDescription"; readonly fields: readonly RowField[] }
  | { readonly kind: "commandComplete"; readonly tag: string }
  /** CopyData follows; every column has the format of the whole. */
  | { readonly kind: "copyOut"; readonly format: Format; readonly columns: number }
  | { readonly kind: "copyDone" }
  | { readonly kind: "error"; readonly report: Report }
  | { readonly kind: "notice"; readonly report: Report };
