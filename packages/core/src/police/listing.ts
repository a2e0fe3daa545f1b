/** What lists of tables show a caller: the tables that may be read, with the columns that are shown. */
import type { TableListing } from "../port/backend.ts";
import type { Routed } from "../query/query.ts";
import type { AccessControl } from "./accessControl.ts";
import { lower } from "./names.ts";

export async function shownTables(
  control: AccessControl,
  query: Routed,
  tables: readonly TableListing[],
  signal: AbortSignal,
): Promise<readonly TableListing[]> {
  const shown: TableListing[] = [];
  for (let from = 0; from < tables.length; from += askedAtOnce) {
    const some = tables.slice(from, from + askedAtOnce);
    const narrowed = await Promise.all(
      some.map((table) => narrowedTo(control, query, table, signal)),
    );
    shown.push(...narrowed.filter((table) => table !== undefined));
    if (signal.aborted) return [];
  }
  return shown;
}

/** A policy server is asked about so many tables at a time; each waits at the one signal of its query. */
const askedAtOnce = 6;

async function narrowedTo(
  control: AccessControl,
  query: Routed,
  table: TableListing,
  signal: AbortSignal,
): Promise<TableListing | undefined> {
  const { catalog, schema, name } = table;
  const path = [catalog, schema, name].filter((part) => part !== "");
  const decision = await control.visible(query, path, signal);
  if (decision.kind !== "allow") return undefined;
  const names = decision.view?.columns?.map((column) => lower(column.name));
  if (names === undefined) return table;
  // Keys and indexes name columns, and tell which of them are unique.
  return { catalog, schema, name, kind: "view", columns: of(table, names) };
}

function of({ columns }: TableListing, names: readonly string[]): TableListing["columns"] {
  return names.flatMap((name) => columns.filter((column) => lower(column.name) === name));
}
