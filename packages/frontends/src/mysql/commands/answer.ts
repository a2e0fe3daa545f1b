/** What the frontend may answer to a statement without asking an engine. */
import type { TableListing } from "@gateway/core/port/backend.ts";
import type { Parameter, Column, Value } from "@gateway/core/type/type.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import type { ClientSession } from "../session/clientSession.ts";
import type { Row } from "./filter.ts";

export type LocalAnswer =
  | {
      readonly kind: "rows";
      readonly columns: readonly Column[];
      readonly rows: readonly (readonly Value[])[];
    }
  | Changed
  | RewrittenRows
  | AskedRows
  /** The engine goes there when it can, and says so; an engine without USE is told with each statement. */
  | {
      readonly kind: "use";
      readonly sql: string;
      readonly catalog: string | undefined;
      readonly schema: string;
    }
  /** What the answer is made of lies in other processes as well: rows of the user's connections. */
  | {
      readonly kind: "processes";
      readonly columns: readonly Column[];
      readonly make: (rows: readonly Row[]) => LocalAnswer;
    }
  /** Ends a connection, or only what it runs. */
  | { readonly kind: "kill"; readonly connectionId: number; readonly whole: boolean }
  | { readonly kind: "error"; readonly reply: ErrorReply };

/** An OK; the session changed. */
export interface Changed {
  readonly kind: "changed";
  readonly client: ClientSession;
  /** An open transaction is committed first. */
  readonly commit: boolean;
  /** Statements that the engine has to take before: its error is the answer. */
  readonly checks: readonly string[];
}

/** The engine answers a rewritten statement about its tables. */
export interface RewrittenRows extends Listed {
  readonly kind: "rewritten";
  /** Of the answer. */
  readonly columns: readonly Column[];
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

/** An answer that can be made of what the door lists too, for engines without an `information_schema`. */
export interface Listed {
  /** `tables` are all that there are for the session, in any order. */
  readonly listed: (tables: readonly TableListing[]) => LocalAnswer;
}

/** The engine is asked, and its rows, as text, become the answer. */
export interface AskedRows extends Partial<Listed> {
  readonly kind: "asked";
  /** Of the answer in the end. */
  readonly columns: readonly Column[];
  readonly sql: string;
  readonly parameters: readonly Parameter[];
  make(rows: readonly Row[]): LocalAnswer;
  /** A question about variables, which forgets nothing of the statement before. */
  readonly keepsWarnings?: true;
  /** Asked without the session's `sql_select_limit`, which `make` keeps to. */
  readonly whole?: true;
  /** The answer where the engine does not know what it is asked; without it the client gets its error. */
  orElse?(): LocalAnswer;
}

const text = { kind: "text" } as const;
const integer = { kind: "integer", bits: 64, signed: true } as const;

/** A column of text. */
export function textColumn(name: string): Column {
  return { name, type: text, nullable: true };
}

/** A column of whole numbers; `unsigned` for those that need all 64 bits. */
export function integerColumn(name: string, unsigned = false): Column {
  return { name, type: unsigned ? { ...integer, signed: false } : integer, nullable: true };
}

/** Rows of text under these names. */
export function textRows(
  names: readonly string[],
  rows: readonly (readonly (string | null)[])[],
): LocalAnswer {
  return { kind: "rows", columns: names.map(textColumn), rows };
}
