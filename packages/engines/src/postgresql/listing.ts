/**
 * Tables and views with their columns, keys and indexes, out of the catalog of PostgreSQL: the columns that the role
 * owns or has some right on, as the information schema shows them, with the lengths of types beside.
 */
import type { TableIndex, TableKey, TableListing } from "@gateway/core/port/backend.ts";
import type { Column } from "@gateway/core/type/type.ts";
import type { Rows } from "./client/ask.ts";
import { typeOfName } from "./types.ts";

/** Most columns listed; beyond it the list is cut at a table. */
const columnsMax = 200_000;

/** Names of the columns that an array of numbers stands for, in its order. */
function namesSql(table: string, numbers: string): string {
  return `(SELECT json_agg(k.attname::text ORDER BY p.place) FROM unnest(${numbers}) WITH ORDINALITY p(number, place)
    JOIN pg_catalog.pg_attribute k ON k.attrelid = ${table} AND k.attnum = p.number)`;
}

/** Kind, name, columns; for a foreign key to a table of the same schema also that table and its columns. */
const keysSql = `SELECT json_agg(json_build_array(o.contype::text, o.conname::text, ${namesSql("o.conrelid", "o.conkey")},
    r.relname::text, ${namesSql("o.confrelid", "o.confkey")}) ORDER BY o.conname)
  FROM pg_catalog.pg_constraint o LEFT JOIN pg_catalog.pg_class r ON r.oid = o.confrelid
  WHERE o.conrelid = c.oid AND (o.contype IN ('p', 'u') OR (o.contype = 'f' AND r.relnamespace = c.relnamespace))`;

/** Name, uniqueness and columns of the indexes of whole rows by plain columns, but for those of keys. */
const indexesSql = `SELECT json_agg(json_build_array(i.relname::text, x.indisunique, ${namesSql("x.indrelid", "x.indkey::int2[]")}) ORDER BY i.relname)
  FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
  JOIN pg_catalog.pg_am m ON m.oid = i.relam
  WHERE x.indrelid = c.oid AND x.indexprs IS NULL AND x.indpred IS NULL AND x.indisvalid AND m.amname = 'btree'
    AND x.indnatts = x.indnkeyatts
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint o WHERE o.conindid = x.indexrelid AND o.contype IN ('p', 'u', 'x'))`;

/** One row a column, those of one table together. Columns as `tablesOf` reads them. */
export const tablesSql = `SELECT current_database()::text, n.nspname::text, c.relname::text,
  CASE WHEN c.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END,
  a.attname::text,
  CASE WHEN t.typtype = 'd' THEN format_type(t.typbasetype, t.typtypmod) ELSE format_type(a.atttypid, a.atttypmod) END,
  CASE WHEN a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) THEN 'NO' ELSE 'YES' END,
  CASE WHEN row_number() OVER columns_of = 1 THEN (${keysSql})::text END,
  CASE WHEN row_number() OVER columns_of = 1 THEN (${indexesSql})::text END
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  AND (pg_has_role(c.relowner, 'USAGE')
    OR has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES'))
WINDOW columns_of AS (PARTITION BY c.oid ORDER BY a.attnum)
ORDER BY 2, 3, a.attnum
LIMIT ${columnsMax}`;

/** Rows of `tablesSql` as tables. */
export function tablesOf(rows: Rows): readonly TableListing[] {
  const tables: TableListing[] = [];
  let columns: Column[] = [];
  for (const row of rows) {
    const [catalog, schema, name, kind, column, type, nullable, keys, indexes] = row.map(
      (cell) => cell ?? "",
    );
    const last = tables.at(-1);
    if (last?.schema !== schema || last?.name !== name) {
      columns = [];
      tables.push({
        catalog: catalog ?? "",
        schema: schema ?? "",
        name: name ?? "",
        kind: kind === "view" ? "view" : "table",
        columns,
        keys: partsOf(keys).flatMap(keyOf),
        indexes: partsOf(indexes).map(indexOf),
      });
    }
    const engineType = type ?? "";
    const isNullable = nullable !== "NO";
    columns.push({
      name: column ?? "",
      type: typeOfName(engineType),
      nullable: isNullable,
      engineType,
    });
  }
  if (rows.length === columnsMax) tables.pop();
  return tables;
}

/** Keys or indexes out of a cell of JSON. */
function partsOf(cell: string | undefined): readonly (readonly unknown[])[] {
  return cell === undefined || cell === "" ? [] : listOf(JSON.parse(cell)).map(listOf);
}

function keyOf([kind, said, names, other, otherNames]: readonly unknown[]): readonly TableKey[] {
  const name = String(said);
  const columns = listOf(names).map(String);
  switch (kind) {
    case "p":
      return [{ kind: "primary", name, columns }];
    case "u":
      return [{ kind: "unique", name, columns }];
    case "f":
      return [
        {
          kind: "foreign",
          name,
          columns,
          table: String(other),
          tableColumns: listOf(otherNames).map(String),
        },
      ];
    default:
      return [];
  }
}

function indexOf([name, unique, columns]: readonly unknown[]): TableIndex {
  return { name: String(name), unique: unique === true, columns: listOf(columns).map(String) };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
