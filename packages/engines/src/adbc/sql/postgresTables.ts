/**
 * PostgreSQL's tables, with what its information schema leaves out: lengths of types, keys and indexes by name.
 *
 * It shows what the information schema shows: the columns that the role owns or has some right on.
 */

/** Rows as `tablesOf` reads them. `columnsMax` is the most of them. */
export function postgresTables(columnsMax: number): string {
  return `SELECT current_database()::text, n.nspname::text, c.relname::text,
  CASE WHEN c.relkind IN ('v', 'm') THEN 'VIEW' ELSE 'TABLE' END,
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
}

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
