/**
 * The columns of one table in an engine's own words: the statement that asks for them, for each dialect, and its answer
 * read. Names that could end a string in any of the dialects are asked about nowhere.
 */
import type { Lane } from "@gateway/core/port/backend.ts";
import { tableDefault } from "@gateway/core/port/sql/catalog.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { lower } from "@gateway/core/police/names.ts";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { columnarOf } from "@gateway/core/type/columnar.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import type { ColumnarBatch } from "@gateway/core/type/vector.ts";
import type { Said } from "./remembered.ts";

/** Of one table, and the UTF-16 units of their names and types. */
const columnsMax = 5_000;
const unitsMax = 256 * 1024;

/** Parts of a table's name; `catalog` where the name has three. `schema` is an expression. */
interface Place {
  readonly catalog: string | undefined;
  readonly schema: string;
  readonly name: string;
}

/** How many parts a name must have there; undefined for an engine whose metadata nobody here knows. */
export function namePartsIn(dialect: Dialect | undefined): number | undefined {
  return dialect === undefined || dialect === "generic" ? undefined : partsIn[dialect];
}

const partsIn = { trino: 3, postgres: 2, mysql: 2, duckdb: 2, clickhouse: 2 } as const;

/**
 * One row a column in their order: schema, table, `view` or something else, column, type. Undefined where the engine can
 * have no table of that name.
 */
export function columnsSql(dialect: Dialect, path: readonly string[]): string | undefined {
  const name = path.at(-1);
  const schema = path.at(-2);
  if (name === undefined || schema === undefined || path.length > 3) return undefined;
  const isDefault = path.length === 2 && schema === tableDefault;
  const written = isDefault ? [name] : path;
  if (!written.every((part) => plain.test(part))) return undefined;
  const catalog = path.at(-3);
  // A name where the engine looks for those without a schema, or a text.
  const place = { catalog, schema: isDefault ? currentSchema[dialect] : `'${schema}'`, name };
  switch (dialect) {
    case "postgres":
      return postgresSql(place);
    case "duckdb":
      return duckDbSql(place);
    case "mysql":
      return mysqlSql(place);
    case "trino":
      return trinoSql(place);
    case "clickhouse":
      return clickHouseSql(place);
    case "generic":
      return undefined;
  }
}

/** The schema of a name without one, in lower case. Trino's sessions have none of their own. */
const currentSchema: Readonly<Record<Dialect, string>> = {
  postgres: "pg_catalog.lower(current_schema()::text)",
  duckdb: "lower(current_schema())",
  mysql: "lower(database())",
  clickhouse: "lower(currentDatabase())",
  trino: "NULL",
  generic: "NULL",
};

/** Nothing that ends a string, begins an escape or breaks a line. */
const plain = /^[^\p{Cc}'"`\\\u2018\u2019]{1,200}$/u;

const limit = `LIMIT ${columnsMax + 1}`;

function postgresSql({ catalog, schema, name }: Place): string {
  const within =
    catalog === undefined
      ? ""
      : ` AND pg_catalog.lower(pg_catalog.current_database()::text) = '${catalog}'`;
  return `SELECT n.nspname::text, c.relname::text, CASE WHEN c.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END, a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod)
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND pg_catalog.lower(n.nspname::text) = ${schema} AND pg_catalog.lower(c.relname::text) = '${name}'${within}
ORDER BY 1, 2, a.attnum ${limit}`;
}

function duckDbSql({ catalog, schema, name }: Place): string {
  const within = catalog === undefined ? "lower(current_database())" : `'${catalog}'`;
  return `SELECT c.table_schema, c.table_name, CASE WHEN t.table_type = 'VIEW' THEN 'view' ELSE 'table' END, c.column_name, c.data_type
FROM information_schema.columns c
JOIN information_schema.tables t ON t.table_catalog = c.table_catalog AND t.table_schema = c.table_schema AND t.table_name = c.table_name
WHERE lower(c.table_catalog) = ${within} AND lower(c.table_schema) = ${schema} AND lower(c.table_name) = '${name}'
ORDER BY c.table_catalog, 1, 2, c.ordinal_position ${limit}`;
}

/** MySQL and StarRocks. Both have databases and one catalog around them, under these names. */
function mysqlSql({ catalog, schema, name }: Place): string | undefined {
  if (catalog !== undefined && catalog !== "def" && catalog !== "default_catalog") return undefined;
  return `SELECT c.TABLE_SCHEMA, c.TABLE_NAME, CASE WHEN t.TABLE_TYPE LIKE '%VIEW%' THEN 'view' ELSE 'table' END, c.COLUMN_NAME, c.COLUMN_TYPE
FROM information_schema.COLUMNS c
JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
WHERE lower(c.TABLE_SCHEMA) = ${schema} AND lower(c.TABLE_NAME) = '${name}'
ORDER BY 1, 2, c.ORDINAL_POSITION ${limit}`;
}

/** Names are in lower case there. To the information schema a materialised view is a table. */
function trinoSql({ catalog, schema, name }: Place): string | undefined {
  if (catalog === undefined) return undefined;
  const own = `"${catalog}".information_schema`;
  return `SELECT c.table_schema, c.table_name, CASE WHEN t.table_type = 'VIEW' OR EXISTS (SELECT 1 FROM system.metadata.materialized_views m WHERE m.catalog_name = '${catalog}' AND m.schema_name = ${schema} AND m.name = '${name}') THEN 'view' ELSE 'table' END, c.column_name, c.data_type
FROM ${own}.columns c
JOIN ${own}.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
WHERE c.table_schema = ${schema} AND c.table_name = '${name}' AND t.table_schema = ${schema} AND t.table_name = '${name}'
ORDER BY c.ordinal_position ${limit}`;
}

function clickHouseSql({ catalog, schema, name }: Place): string | undefined {
  if (catalog !== undefined) return undefined;
  return `SELECT c.database, c.table, if(endsWith(t.engine, 'View'), 'view', 'table'), c.name, c.type
FROM system.columns AS c
INNER JOIN system.tables AS t ON t.database = c.database AND t.name = c.table
WHERE lower(c.database) = ${schema} AND lower(c.table) = '${name}'
ORDER BY c.database, c.table, c.position ${limit}`;
}

/** Runs the statement of `columnsSql` to its end. A text says why there is no answer. Never rejects. */
export async function columnsOn(
  lane: Pick<Lane, "execute">,
  query: Identified,
  path: readonly string[],
  signal: AbortSignal,
): Promise<Said> {
  const reading: Reading = {
    schema: "",
    name: "",
    isView: false,
    columns: [],
    types: [],
    units: 0,
  };
  try {
    for await (const event of lane.execute(query, signal)) {
      if (event.kind === "failed") return event.error.code;
      if (event.kind !== "batch") continue;
      const fault = read(columnarOf(event.batch), reading, path);
      if (fault !== undefined) return fault.reason;
    }
  } catch {
    return "the answer could not be read";
  }
  if (signal.aborted) return "slow";
  const { columns, types, isView } = reading;
  return columns.length === 0 ? undefined : { isView, columns, types };
}

function read(batch: ColumnarBatch, reading: Reading, path: readonly string[]): Fault | undefined {
  for (let row = 0; row < batch.rows; row += 1) {
    const cells = batch.columns.map((column) => textAt(valueAt(column, row)));
    const fault = taken(reading, cells, path);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

interface Reading {
  schema: string;
  name: string;
  isView: boolean;
  readonly columns: string[];
  readonly types: string[];
  units: number;
}

/** No more is to be read; without a reason because there is no such table. */
interface Fault {
  readonly reason: string | undefined;
}

/** Takes a row in. */
function taken(
  reading: Reading,
  [schema = "", name = "", kind = "", column = "", type = ""]: readonly string[],
  path: readonly string[],
): Fault | undefined {
  const isThere = path.at(-2) === tableDefault || lower(schema) === path.at(-2);
  if (!isThere || lower(name) !== path.at(-1) || column === "") {
    return { reason: "columns of another table in the answer" };
  }
  const isFirst = reading.columns.length === 0;
  // Case never tells two tables apart here, and which of them is meant only the engine knows.
  if (!isFirst && (schema !== reading.schema || name !== reading.name))
    return { reason: undefined };
  reading.schema = schema;
  reading.name = name;
  reading.isView = kind === "view";
  reading.columns.push(column);
  reading.types.push(type);
  reading.units += column.length + type.length;
  const tooMuch = reading.columns.length > columnsMax || reading.units > unitsMax;
  return tooMuch ? { reason: "too many columns" } : undefined;
}

function textAt(value: ReturnType<typeof valueAt>): string {
  if (typeof value === "string") return value;
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : "";
}
