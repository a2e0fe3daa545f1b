/** Tables and views with their columns, from `information_schema`. */
import type { TableListing } from "@gateway/core/port/backend.ts";
import type { Column, DataType } from "@gateway/core/type/type.ts";
import { catalogName } from "./client/session.ts";

/** Most columns listed; beyond it the list is cut at a table. */
const columnsMax = 200_000;

/** One row a column, those of one table together. Columns as `tablesOf` reads them. */
export const tablesSql = `
SELECT c.TABLE_SCHEMA, c.TABLE_NAME, t.TABLE_TYPE, c.COLUMN_NAME, c.COLUMN_TYPE, c.IS_NULLABLE
FROM information_schema.COLUMNS c
JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
WHERE c.TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys', '_statistics_')
ORDER BY c.TABLE_SCHEMA, c.TABLE_NAME, c.ORDINAL_POSITION
LIMIT ${columnsMax}`;

/** Rows of `tablesSql` as tables. */
export function tablesOf(rows: readonly (readonly unknown[])[]): readonly TableListing[] {
  const tables: TableListing[] = [];
  let columns: Column[] = [];
  for (const [schema, table, kind, name, type, nullable] of rows) {
    const last = tables.at(-1);
    if (last?.schema !== String(schema) || last.name !== String(table)) {
      columns = [];
      tables.push({
        catalog: catalogName,
        schema: String(schema),
        name: String(table),
        kind: String(kind).includes("VIEW") ? "view" : "table",
        columns,
      });
    }
    const engineType = String(type);
    columns.push({
      name: String(name),
      type: typeOfName(engineType),
      nullable: String(nullable) !== "NO",
      engineType,
    });
  }
  if (rows.length === columnsMax) tables.pop();
  return tables;
}

/** The neutral type of a column's written type, the same that its results have. */
export function typeOfName(text: string): DataType {
  const [, name = "", first = "", second = "0"] =
    /^([a-z]+)(?:\((\d+)(?:,\s*(\d+))?\))?/i.exec(text) ?? [];
  const signed = !/\bunsigned\b/i.test(text);
  switch (name.toLowerCase()) {
    case "tinyint":
    case "boolean":
      return { kind: "integer", bits: 8, signed };
    case "smallint":
      return { kind: "integer", bits: 16, signed };
    case "year":
      return { kind: "integer", bits: 16, signed: true };
    case "mediumint":
    case "int":
    case "integer":
      return { kind: "integer", bits: 32, signed };
    case "bigint":
      return { kind: "integer", bits: 64, signed };
    case "float":
      return { kind: "float", bits: 32 };
    case "double":
      return { kind: "float", bits: 64 };
    case "decimal":
      return Number(first) > 0 && Number(first) <= 38
        ? { kind: "decimal", precision: Number(first), scale: Number(second) }
        : { kind: "text" };
    case "date":
      return { kind: "date" };
    case "datetime":
    case "timestamp":
      return { kind: "timestamp", unit: "us", zoned: false };
    case "json":
      return { kind: "json" };
    case "binary":
    case "varbinary":
    case "tinyblob":
    case "blob":
    case "mediumblob":
    case "longblob":
    case "bit":
      return { kind: "binary" };
    default:
      return { kind: "text" };
  }
}
