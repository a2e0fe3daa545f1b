/**
 * A PostgreSQL database as the store sees it, whatever driver leads there.
 *
 * Values cross as text in PostgreSQL's own output format (null for NULL), so that three drivers can
 * not read one column in three ways; the store converts. Parameters are text as well, except bytes.
 */
import type { Result } from "@gateway/core/result.ts";
import type { StoreUnavailable } from "./store.ts";

export type Parameter = string | number | boolean | null | Uint8Array;
/** Cells in the order of the select list. */
export type Row = readonly (string | null)[];

/** A statement that the database refused or could not be asked. Never holds the driver's message. */
export interface DatabaseError {
  /** `refused`: the database answered with an SQLSTATE. `unreachable`: nobody knows whether it ran. */
  readonly kind: "refused" | "unreachable";
  /** SQLSTATE, or the system's code (`ECONNREFUSED`). */
  readonly code: string;
  /** Name of the violated constraint, where there is one. */
  readonly constraint?: string;
}

/** What one statement answered. */
export interface StatementResult {
  readonly rows: readonly Row[];
  /** Rows that a data-modifying statement touched. */
  readonly count: number;
}

export interface Statements {
  /** Runs one statement. Never throws for what the database says. */
  run(
    sql: string,
    parameters?: readonly Parameter[],
  ): Promise<Result<StatementResult, DatabaseError>>;
  /**
   * Several statements in one text, without parameters: for migrations. On a database it runs outside
   * a transaction of ours (PostgreSQL makes one of a text with more than one statement), inside a
   * transaction it is part of that. The time limit of a single statement does not hold for it.
   */
  script(sql: string): Promise<Result<void, DatabaseError>>;
}

export interface Database extends Statements, AsyncDisposable {
  readonly kind: "pglite" | "postgres" | "neon";
  /**
   * Runs `work` in one transaction on one connection; commits when it answers `ok`, rolls back when
   * it answers an error or throws. `work` uses `statements` only: with PGlite there is no second
   * connection, and a statement on the database itself would wait for this transaction for ever.
   */
  transaction<Value, Refusal>(
    work: (statements: Statements) => Promise<Result<Value, Refusal>>,
  ): Promise<Result<Value, Refusal | DatabaseError>>;
  /**
   * Calls `wake` for each notification on `channel`, and after a lost connection was made anew.
   * Undefined where the driver can not listen; the caller then polls.
   */
  listen?(channel: string, wake: () => void): AsyncDisposable;
  /**
   * Gives back what making and changing tables left in the memory of this process, which only a new thread does.
   * Statements wait meanwhile. Undefined where the database is not in this process.
   */
  renew?(): Promise<void>;
}

export function unavailable({ code }: DatabaseError): StoreUnavailable {
  return { code: "unavailable", detail: code };
}
