/** What one caller may see of one table. Asked once for each table and action; whoever asks writes the answer into the SQL. */
import type { AuthContext } from "../../query/identity.ts";
import type { SqlAction } from "./sqlReading.ts";

export interface PolicyQuestion {
  readonly identity: AuthContext;
  /** The whole name in lower case, from the outermost part to the name itself. */
  readonly table: readonly string[];
  readonly action: SqlAction;
}

/** `rule` is what decided, for the query's record. */
export type TableDecision =
  | { readonly kind: "deny"; readonly rule: string | undefined }
  | { readonly kind: "allow"; readonly rule: string; readonly view: TableView | undefined };

/** What is shown of a table. SQL in the engine's dialect, with the caller's values written in. */
export interface TableView {
  /** A condition of the table's own columns; undefined shows all rows. */
  readonly rows: string | undefined;
  /** The columns that are shown, each with what is shown in its place; undefined shows all. */
  readonly columns: readonly ViewColumn[] | undefined;
}

export interface ViewColumn {
  readonly name: string;
  /** Undefined shows the column itself. */
  readonly mask: string | undefined;
}

export interface Policy {
  /** Equal for callers who are told the same; in front of what is remembered of decisions. */
  audience(identity: AuthContext): string;
  /** Whatever goes wrong denies. */
  decide(question: PolicyQuestion, signal: AbortSignal): TableDecision | Promise<TableDecision>;
}
