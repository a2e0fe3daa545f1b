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
}

export interface NamePart {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}
