/** What there is to query, out of the rows of a profile's `tablesSql`. */
import type { TableListing } from "@gateway/core/port/backend.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import { typeOfName } from "./types.ts";

/** Rows as tables; those of one table stand together. */
export function tablesOf(rows: readonly (readonly Value[])[]): readonly TableListing[] {
  const tables: TableListing[] = [];
  let columns: Column[] = [];
  for (const [catalog, schema, name, kind, column, type, nullable] of rows) {
    const last = tables.at(-1);
    const same = last?.name === name && last?.schema === schema && last?.catalog === catalog;
    if (!same) {
      columns = [];
      tables.push({
        catalog: textOf(catalog),
        schema: textOf(schema),
        name: textOf(name),
        kind: textOf(kind).toUpperCase().includes("VIEW") ? "view" : "table",
        columns,
      });
    }
    const engineType = textOf(type);
    columns.push({
      name: textOf(column),
      type: typeOfName(engineType),
      nullable: textOf(nullable) !== "NO",
      engineType,
    });
  }
  return tables;
}

/** A cell of text; NULL is empty. */
export function textOf(value: Value | undefined): string {
  return typeof value === "string" ? value : "";
}
