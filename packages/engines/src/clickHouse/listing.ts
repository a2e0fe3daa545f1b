/** What there is to query: databases, tables and views with their columns, from the server's own catalog. */
import type { TableListing } from "@gateway/core/port/backend.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { describedColumn } from "./page/block.ts";
import { quoteText } from "./sql/quote.ts";

/** ClickHouse has databases and nothing above them; clients that know catalogs see this one. */
export const catalogName = "clickhouse";

/** Most columns listed; beyond it the list is cut at a table. */
const columnsMax = 200_000;

/** One row a column, those of one table together. Columns as `tablesOf` reads them. */
export const tablesSql = `
SELECT c.database, c.table, endsWith(t.engine, 'View'), c.name, c.type
FROM system.columns AS c
INNER JOIN system.tables AS t ON t.database = c.database AND t.name = c.table
WHERE c.database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')
ORDER BY c.database, c.table, c.position
LIMIT ${columnsMax}`;

/** One row when the database is there. */
export function databaseSql(name: string): string {
  return `SELECT name FROM system.databases WHERE name = ${quoteText(name)}`;
}

/** Rows of `tablesSql` as tables. A column without a reader here is listed as text. */
export function tablesOf(rows: readonly (readonly unknown[])[]): readonly TableListing[] {
  const tables: TableListing[] = [];
  let columns: Column[] = [];
  for (const [database, table, view, name, type] of rows) {
    const last = tables.at(-1);
    if (last?.schema !== String(database) || last.name !== String(table)) {
      columns = [];
      tables.push({
        catalog: catalogName,
        schema: String(database),
        name: String(table),
        kind: Number(view) === 1 ? "view" : "table",
        columns,
      });
    }
    const unread: Column = {
      name: String(name),
      type: { kind: "text" },
      nullable: true,
      engineType: String(type),
    };
    columns.push(describedColumn(String(name), String(type)) ?? unread);
  }
  if (rows.length === columnsMax) tables.pop();
  return tables;
}
