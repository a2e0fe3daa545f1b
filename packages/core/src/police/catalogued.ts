/**
 * What a catalog adds to a decision: whose column a name is, which columns a mask leaves as they are, and whether a
 * name is a table at all. Whatever the catalog does not know is refused, never guessed.
 */
import type { Catalog, CatalogAnswer, CatalogTable } from "../port/sql/catalog.ts";
import type { TableDecision, ViewColumn } from "../port/sql/policy.ts";
import type { TouchedColumns } from "../port/sql/sqlReading.ts";
import { lower } from "./names.ts";

/** A decision whose columns are all listed. */
export type ListedDecision = Exclude<TableDecision, { kind: "allow" }> | ListedAllow;

type Allow = Extract<TableDecision, { kind: "allow" }>;
type ListedAllow = Omit<Allow, "view"> & { readonly view: ListedView | undefined };

/** What is shown of a table, with each column by its name. */
export interface ListedView {
  readonly rows: string | undefined;
  readonly columns: readonly ViewColumn[] | undefined;
}

export type LookUp = () => Promise<CatalogAnswer>;

interface Asking {
  readonly signal: AbortSignal;
  /** Takes when the catalog's answer ends, where it is asked. */
  readonly ends: number[];
  /** Where the statement goes. */
  readonly group: string;
}

/** Asks the catalog about one table at most once. */
export function lookingUp(
  catalog: Catalog | undefined,
  table: readonly string[],
  { signal, ends, group }: Asking,
): LookUp {
  let asked: Promise<CatalogAnswer> | undefined;
  const ask = async (): Promise<CatalogAnswer> => {
    if (catalog === undefined) return { kind: "unknown" };
    const answer = await catalog.table(table, signal, group);
    if (answer.kind !== "unavailable") ends.push(answer.untilMs ?? Number.POSITIVE_INFINITY);
    return answer;
  };
  return async () => await (asked ??= ask());
}

/** What the policy is told that a statement touches; undefined where the catalog can not be asked. */
export async function touchedOf(
  touched: TouchedColumns,
  lookUp: LookUp | undefined,
): Promise<TouchedColumns | undefined> {
  if (lookUp === undefined) return touched;
  const known = await lookUp();
  if (known.kind === "unavailable") return undefined;
  return known.kind === "known" ? resolved(touched, known) : touched;
}

/** With masks put among all columns that the catalog knows. */
export async function listed(decision: TableDecision, lookUp: LookUp): Promise<ListedDecision> {
  if (decision.kind !== "allow") return decision;
  const { view, ...rest } = decision;
  if (view === undefined) return { ...rest, view };
  const { rows, columns } = view;
  if (columns === undefined || !("masked" in columns)) return { ...rest, view: { rows, columns } };
  const known = await lookUp();
  const deny = (reason: string): ListedDecision => ({ ...rest, kind: "deny", reason });
  if (known.kind === "unavailable") return known;
  if (known.kind === "unknown")
    return deny("masks without a list of columns, which no catalog has");
  const shown = withMasks(known, columns.masked);
  if (shown === undefined) return deny("a mask of a column that the catalog does not know");
  return { ...rest, view: { rows, columns: shown } };
}

function withMasks(
  { columns }: CatalogTable,
  masked: readonly ViewColumn[],
): readonly ViewColumn[] | undefined {
  const masks = new Map(masked.map(({ name, mask }) => [lower(name), mask]));
  const shown = columns.map((name) => ({ name, mask: masks.get(lower(name)) }));
  const names = new Set(columns.map(lower));
  return [...masks.keys()].every((name) => names.has(name)) ? shown : undefined;
}

/** Of what may be a column, that which is one; whole rows as all of them. */
function resolved(touched: TouchedColumns, { columns }: CatalogTable): TouchedColumns {
  const { named, unresolved, prefixes, all } = touched;
  const known = new Set(columns.map(lower));
  const own = [...named, ...unresolved, ...prefixes].filter((name) => known.has(name));
  // A name that is surely this table's stays, whatever the catalog says: it may be older than the table.
  const names = new Set([...named, ...own, ...(all ? known : [])]);
  return { named: [...names].toSorted(), unresolved: [], prefixes: [], all };
}
