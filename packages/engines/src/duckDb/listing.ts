/** What there is to query: catalogs, and tables and views with their columns, from DuckDB's own catalog. */
import type { TableKey, TableListing } from "@gateway/core/port/backend.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import { typeOfName } from "./types.ts";

/** Names of the attached databases, the default one first. One column of text. */
export const catalogsSql =
  "SELECT database_name FROM duckdb_databases() WHERE NOT internal ORDER BY database_name <> current_catalog(), database_name";

/** One row a column, those of one table together. Columns as `tablesOf` reads them. */
export const tablesSql = `
SELECT c.database_name, c.schema_name, c.table_name, v.view_name IS NOT NULL AS is_view,
       c.column_name, c.data_type, c.is_nullable, k.keys
FROM duckdb_columns() c
LEFT JOIN duckdb_views() v
  ON v.database_oid = c.database_oid AND v.schema_oid = c.schema_oid AND v.view_name = c.table_name
LEFT JOIN (
  SELECT database_oid, schema_oid, table_oid,
         list([[constraint_type], constraint_column_names,
               [coalesce(referenced_table, '')], coalesce(referenced_column_names, [])]) AS keys
  FROM duckdb_constraints()
  WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
  GROUP BY ALL) k
  ON k.database_oid = c.database_oid AND k.schema_oid = c.schema_oid AND k.table_oid = c.table_oid
WHERE NOT c.internal
ORDER BY c.database_name, c.schema_name, c.table_name, c.column_index`;

/** Rows of `tablesSql` as tables. */
export function tablesOf(rows: readonly (readonly Value[])[]): readonly TableListing[] {
  const tables: TableListing[] = [];
  let columns: Column[] = [];
  for (const [catalog, schema, name, view, column, type, nullable, keys] of rows) {
    const last = tables.at(-1);
    const same = last?.name === name && last?.schema === schema && last?.catalog === catalog;
    if (!same) {
      columns = [];
      tables.push({
        catalog: textOf(catalog),
        schema: textOf(schema),
        name: textOf(name),
        kind: view === true ? "view" : "table",
        columns,
        keys: listOf(keys).flatMap(keyOf),
      });
    }
    const engineType = textOf(type);
    columns.push({
      name: textOf(column),
      type: typeOfName(engineType),
      nullable: nullable !== false,
      engineType,
    });
  }
  return tables;
}

/** A key as `tablesSql` has it: its kind, its columns, and for a foreign key the other table and its columns. */
function keyOf(key: Value): readonly TableKey[] {
  const [[kind = ""] = [], columns = [], [table = ""] = [], tableColumns = []] = listOf(key).map(
    (part) => listOf(part).map(textOf),
  );
  switch (kind) {
    case "PRIMARY KEY":
      return [{ kind: "primary", columns }];
    case "UNIQUE":
      return [{ kind: "unique", columns }];
    case "FOREIGN KEY":
      return [{ kind: "foreign", columns, table, tableColumns }];
    default:
      return [];
  }
}

function listOf(value: Value | undefined): readonly Value[] {
  return Array.isArray(value) ? (value as readonly Value[]) : [];
}

/** A cell of text; NULL is empty. */
export function textOf(value: Value | undefined): string {
  return typeof value === "string" ? value : "";
}
