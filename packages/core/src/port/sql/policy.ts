/** What one caller may see of one table. Asked once for each table and action; whoever asks writes the answer into the SQL. */
import type { Session } from "../../query/query.ts";
import type { SqlAction, TouchedColumns } from "./sqlReading.ts";

/** What of a session may count. `settings` are the client's own words. */
export type PolicySession = Pick<Session, "identity" | "settings">;

export interface PolicyQuestion {
  readonly session: PolicySession;
  /** The whole name in lower case, from the outermost part to the name itself. */
  readonly table: readonly string[];
  readonly action: SqlAction;
  /** What the statement touches of it. Undefined where no statement asks (a listing of tables), and where nobody wants it. */
  readonly columns: TouchedColumns | undefined;
}

/**
 * `rule` is what decided, for the query's record. `reason`, a noun for operators, says why a decision could not be
 * used as it was made. `untilMs`: on the monotonic clock, when it has to be asked again; absent means never within
 * one configuration.
 */
export type TableDecision =
  | {
      readonly kind: "deny";
      readonly rule: string | undefined;
      readonly reason?: string;
      readonly untilMs?: number;
    }
  | {
      readonly kind: "allow";
      readonly rule: string;
      readonly view: TableView | undefined;
      readonly untilMs?: number;
    }
  /** Nobody decided: whoever does was not reached, or said nothing that can be used. Nothing is shown. */
  | { readonly kind: "unavailable" };

/** What is shown of a table. SQL in the engine's dialect, with the caller's values written in. */
export interface TableView {
  /** A condition of the table's own columns; undefined shows all rows. */
  readonly rows: string | undefined;
  /** The columns that are shown, each with what is shown in its place; undefined shows all. */
  readonly columns: readonly ViewColumn[] | MaskedColumns | undefined;
}

/** All columns that the catalog knows, with these in place of their own; without a catalog nothing is shown. */
export interface MaskedColumns {
  readonly masked: readonly ViewColumn[];
}

export interface ViewColumn {
  readonly name: string;
  /** Undefined shows the column itself. */
  readonly mask: string | undefined;
}

export interface Policy {
  /** Whether it decides by the columns that a statement touches; finding them costs another walk over each statement. */
  readonly wantsColumns: boolean;
  /** Equal for callers who are told the same; in front of what is remembered of decisions. */
  audience(session: PolicySession): string;
  /** Whatever goes wrong shows nothing. */
  decide(question: PolicyQuestion, signal: AbortSignal): TableDecision | Promise<TableDecision>;
}

/** One that a process opened for one configuration. */
export type ClosablePolicy = Policy & AsyncDisposable;
