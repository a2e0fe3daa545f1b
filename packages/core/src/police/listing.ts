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
  for (const table of tables) {
    const { catalog, schema, name } = table;
    const path = [catalog, schema, name].filter((part) => part !== "");
    const decision = await control.visible(query, path, signal);
    if (decision.kind === "deny") continue;
    const names = decision.view?.columns?.map((column) => lower(column.name));
    // Keys and indexes name columns, and tell which of them are unique.
    shown.push(
      names === undefined
        ? table
        : { catalog, schema, name, kind: "view", columns: of(table, names) },
    );
  }
  return shown;
}

function of({ columns }: TableListing, names: readonly string[]): TableListing["columns"] {
  return names.flatMap((name) => columns.filter((column) => lower(column.name) === name));
}
