/** What the grammar says of a statement under a policy: the tables that it names, with their places. Plain data. */

/** A statement whose every part is known, or the reason why it is not, as a noun ("a function: query_table"). */
export type SqlReading =
  | ({ readonly understood: true } & UnderstoodSql)
  | { readonly understood: false; readonly reason: string };

export interface UnderstoodSql {
  readonly action: SqlAction;
  /** In the order of the text, without parts of a WITH. */
  readonly tables: readonly TableReference[];
  /** Names of the parts of all WITHs. */
  readonly parts: readonly string[];
  /** A write that also shows or compares rows of its table: RETURNING, or a condition. */
  readonly looksAtTarget: boolean;
}

export type SqlAction = "select" | "insert" | "update" | "delete" | "ddl";

/** One place where a table is named. Offsets in UTF-16 units. */
export interface TableReference {
  /** From the outermost part to the name itself. */
  readonly path: readonly NamePart[];
  readonly written: boolean;
  readonly aliased: boolean;
  /** Nothing but an alias belongs to it; only then a query can stand in its place. */
  readonly plain: boolean;
  /** Undefined where nobody asked for them. */
  readonly columns: TouchedColumns | undefined;
}

/**
 * Columns of one table that a statement reads, compares or writes at this place. It may say too much, never too little.
 * Names in lower case, in alphabetical order.
 */
export interface TouchedColumns {
  /** As far as the text alone tells, of this table. */
  readonly named: readonly string[];
  /** Of this table, of another one in the statement, or no column at all. */
  readonly unresolved: readonly string[];
  /** Names before a dot that are another table's: engines with columns in columns may take one for a column of this table. */
  readonly prefixes: readonly string[];
  /** Whole rows, beside what is named: `*`, a row as a value, a join by all common columns, a write without a list of columns. */
  readonly all: boolean;
}

export interface NamePart {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}
