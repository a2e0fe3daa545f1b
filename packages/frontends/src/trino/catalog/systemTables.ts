/**
 * Trino's own tables about itself, for engines that have none: each is a subquery over the engine's
 * `information_schema`, or a few rows that are always the same. JDBC's `DatabaseMetaData`, SQLAlchemy
 * and most tools behind them read nothing else.
 *
 * Texts are standard SQL, so that the engine's filters, orders and joins work on them. Values come as
 * parameters and never as text. Columns are those of Trino 476.
 */
import { version } from "../info.ts";

/** What a subquery may refer to. */
export interface SystemScope {
  /** Adds a text value to the statement and returns its placeholder. */
  text(value: string): string;
  /** The catalogs that the session may see; empty where the engine names none. */
  readonly catalogs: readonly string[];
}

type Source = (scope: SystemScope) => string;

/** `system.<schema>.<table>`; undefined for a table that Trino does not have or no client asks for. */
export function systemTable(schema: string, table: string): Source | undefined {
  return own(systemTables, `${schema}.${table}`);
}

/** `information_schema.<table>` of one catalog, or of all; undefined for one that has no shape of Trino's. */
export function informationTable(
  table: string,
): ((scope: SystemScope, catalog: string | undefined) => string) | undefined {
  return own(informationTables, table);
}

function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Keeps the rows of the session's catalogs: engines list inner ones of their own as well. */
function within(column: string, scope: SystemScope): string {
  const names = scope.catalogs.map((name) => scope.text(name));
  return names.length === 0 ? "" : ` WHERE ${column} IN (${names.join(", ")})`;
}

/** The same for one catalog. */
function inCatalog(column: string, scope: SystemScope, catalog: string | undefined): string {
  return within(column, catalog === undefined ? scope : { ...scope, catalogs: [catalog] });
}

const nothing = "CAST(NULL AS varchar)";
const noNumber = "CAST(NULL AS bigint)";

const informationTables: Readonly<
  Record<string, (scope: SystemScope, catalog: string | undefined) => string>
> = {
  schemata: (scope, catalog) =>
    `SELECT catalog_name, schema_name FROM information_schema.schemata${inCatalog("catalog_name", scope, catalog)}`,
  tables: (scope, catalog) =>
    `SELECT table_catalog, table_schema, table_name, ${tableType("'BASE TABLE'")} AS table_type FROM information_schema.tables${inCatalog("table_catalog", scope, catalog)}`,
  columns: (scope, catalog) =>
    `SELECT table_catalog, table_schema, table_name, column_name, ordinal_position, column_default, is_nullable, ${typeName} AS data_type, ${nothing} AS "comment" FROM information_schema.columns${inCatalog("table_catalog", scope, catalog)}`,
  views: (scope, catalog) =>
    `SELECT table_catalog, table_schema, table_name, view_definition FROM information_schema.views${inCatalog("table_catalog", scope, catalog)}`,
};

function tableType(table: string): string {
  return `CASE WHEN table_type LIKE '%VIEW%' THEN 'VIEW' ELSE ${table} END`;
}

/** Trino's name of a type, and the names that engines have for it. Any other name is shown in lower case. */
const typeNames: readonly (readonly [trino: string, names: readonly string[]])[] = [
  ["boolean", ["BOOL", "LOGICAL"]],
  ["tinyint", ["INT1"]],
  ["smallint", ["INT2", "SHORT", "UTINYINT"]],
  ["integer", ["INT", "INT4", "SIGNED", "USMALLINT"]],
  ["bigint", ["INT8", "LONG", "UINTEGER"]],
  ["decimal(20,0)", ["UBIGINT"]],
  ["decimal(38,0)", ["HUGEINT", "UHUGEINT", "LARGEINT"]],
  ["real", ["FLOAT", "FLOAT4"]],
  ["double", ["FLOAT8", "DOUBLE PRECISION"]],
  ["varchar", ["TEXT", "STRING", "CHARACTER VARYING", "CHAR", "BPCHAR", "INTERVAL", "BIT"]],
  ["varbinary", ["BLOB", "BYTEA", "BINARY"]],
  ["time(6)", ["TIME", "TIME WITHOUT TIME ZONE"]],
  ["timestamp(0)", ["TIMESTAMP_S"]],
  ["timestamp(3)", ["TIMESTAMP_MS"]],
  ["timestamp(6)", ["TIMESTAMP", "DATETIME", "TIMESTAMP WITHOUT TIME ZONE"]],
  ["timestamp(9)", ["TIMESTAMP_NS"]],
  ["timestamp(6) with time zone", ["TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"]],
];

const typeName = `CASE WHEN data_type LIKE '%[]' THEN concat('array(', lower(substring(data_type, 1, length(data_type) - 2)), ')') WHEN upper(data_type) LIKE 'ENUM(%' THEN 'varchar' ${typeNames
  .map(
    ([trino, names]) =>
      `WHEN upper(data_type) IN (${names.map((name) => `'${name}'`).join(", ")}) THEN '${trino}'`,
  )
  .join(" ")} ELSE lower(data_type) END`;

/** `java.sql.Types` by the beginning of a type's name. */
const jdbcTypes: readonly (readonly [like: string, type: number, size: number | undefined])[] = [
  ["boolean", 16, 1],
  ["tinyint", -6, 3],
  ["smallint", 5, 5],
  ["integer", 4, 10],
  ["bigint", -5, 19],
  ["real", 7, 24],
  ["double", 8, 53],
  ["decimal%", 3, undefined],
  ["varchar", 12, 2_147_483_647],
  ["varchar(%", 12, 2_147_483_647],
  ["varbinary", -3, 2_147_483_647],
  ["date", 91, 14],
  ["time(%", 92, 15],
  ["timestamp(%zone", 2014, 42],
  ["timestamp(%", 93, 32],
  ["array%", 2003, undefined],
];
const javaObject = 2000;

function jdbcCase(pick: (entry: (typeof jdbcTypes)[number]) => string, otherwise: string): string {
  const whens = jdbcTypes.map((entry) => `WHEN type_name LIKE '${entry[0]}' THEN ${pick(entry)}`);
  return `CASE ${whens.join(" ")} ELSE ${otherwise} END`;
}

const jdbcColumns: Source = (
  scope,
) => `SELECT table_catalog AS TABLE_CAT, table_schema AS TABLE_SCHEM,
 table_name AS TABLE_NAME, column_name AS COLUMN_NAME,
 CAST(${jdbcCase(([, type]) => String(type), String(javaObject))} AS bigint) AS DATA_TYPE,
 type_name AS TYPE_NAME,
 CAST(${jdbcCase(([, , size]) => String(size ?? "numeric_precision"), "NULL")} AS bigint) AS COLUMN_SIZE,
 ${noNumber} AS BUFFER_LENGTH, CAST(numeric_scale AS bigint) AS DECIMAL_DIGITS,
 CAST(CASE WHEN numeric_precision IS NULL THEN NULL ELSE 10 END AS bigint) AS NUM_PREC_RADIX,
 CAST(CASE is_nullable WHEN 'NO' THEN 0 ELSE 1 END AS bigint) AS NULLABLE,
 ${nothing} AS REMARKS, column_default AS COLUMN_DEF, ${noNumber} AS SQL_DATA_TYPE,
 ${noNumber} AS SQL_DATETIME_SUB, ${noNumber} AS CHAR_OCTET_LENGTH,
 CAST(ordinal_position AS bigint) AS ORDINAL_POSITION, is_nullable AS IS_NULLABLE,
 ${nothing} AS SCOPE_CATALOG, ${nothing} AS SCOPE_SCHEMA, ${nothing} AS SCOPE_TABLE,
 ${noNumber} AS SOURCE_DATA_TYPE, 'NO' AS IS_AUTOINCREMENT, 'NO' AS IS_GENERATEDCOLUMN
 FROM (SELECT table_catalog, table_schema, table_name, column_name, ordinal_position,
 column_default, is_nullable, numeric_precision, numeric_scale, ${typeName} AS type_name
 FROM information_schema.columns${within("table_catalog", scope)}) AS described`;

const jdbcTables: Source = (
  scope,
) => `SELECT table_catalog AS TABLE_CAT, table_schema AS TABLE_SCHEM,
 table_name AS TABLE_NAME, ${tableType("'TABLE'")} AS TABLE_TYPE, ${nothing} AS REMARKS,
 ${nothing} AS TYPE_CAT, ${nothing} AS TYPE_SCHEM, ${nothing} AS TYPE_NAME,
 ${nothing} AS SELF_REFERENCING_COL_NAME, ${nothing} AS REF_GENERATION
 FROM information_schema.tables${within("table_catalog", scope)}`;

/** Names and `java.sql.Types` of the types, as `getTypeInfo` lists them. */
const typeRows = [
  ["boolean", 16, 1],
  ["bigint", -5, 19],
  ["integer", 4, 10],
  ["smallint", 5, 5],
  ["tinyint", -6, 3],
  ["real", 7, 24],
  ["double", 8, 53],
  ["decimal", 3, 38],
  ["varchar", 12, 2_147_483_647],
  ["varbinary", -3, 2_147_483_647],
  ["date", 91, 14],
  ["time", 92, 15],
  ["timestamp", 93, 32],
  ["timestamp with time zone", 2014, 42],
] as const;

const jdbcTypesTable: Source = () => {
  const rows = typeRows.map(
    ([name, type, precision]) => `SELECT '${name}' AS n, ${type} AS t, ${precision} AS p`,
  );
  const isCase = "CASE WHEN n = 'varchar' THEN true ELSE false END";
  return `SELECT n AS TYPE_NAME, CAST(t AS bigint) AS DATA_TYPE, CAST(p AS bigint) AS "PRECISION",
 ${nothing} AS LITERAL_PREFIX, ${nothing} AS LITERAL_SUFFIX, ${nothing} AS CREATE_PARAMS,
 CAST(1 AS bigint) AS NULLABLE, ${isCase} AS CASE_SENSITIVE, CAST(3 AS bigint) AS SEARCHABLE,
 ${nothing} AS UNSIGNED_ATTRIBUTE, false AS FIXED_PREC_SCALE, ${nothing} AS AUTO_INCREMENT,
 ${nothing} AS LOCAL_TYPE_NAME, CAST(0 AS bigint) AS MINIMUM_SCALE,
 CAST(CASE WHEN n = 'decimal' THEN 38 ELSE 0 END AS bigint) AS MAXIMUM_SCALE,
 ${noNumber} AS SQL_DATA_TYPE, ${noNumber} AS SQL_DATETIME_SUB,
 CAST(CASE WHEN t IN (-5, 4, 5, -6, 3) THEN 10 ELSE NULL END AS bigint) AS NUM_PREC_RADIX
 FROM (${rows.join(" UNION ALL ")}) AS listed`;
};

/** No rows; a name with `#` is a number. */
function empty(names: string): Source {
  const columns = names.split(" ").map((name) => {
    const number = name.endsWith("#");
    return `${number ? noNumber : nothing} AS "${number ? name.slice(0, -1) : name}"`;
  });
  return () => `SELECT ${columns.join(", ")} WHERE 1 = 0`;
}

const properties = empty("catalog_name property_name default_value type description");

const systemTables: Readonly<Record<string, Source>> = {
  "jdbc.catalogs": (scope) =>
    scope.catalogs.length === 0
      ? `SELECT DISTINCT catalog_name AS TABLE_CAT FROM information_schema.schemata`
      : scope.catalogs
          .map((name) => `SELECT CAST(${scope.text(name)} AS varchar) AS TABLE_CAT`)
          .join(" UNION ALL "),
  "jdbc.schemas": (scope) =>
    `SELECT schema_name AS TABLE_SCHEM, catalog_name AS TABLE_CATALOG FROM information_schema.schemata${within("catalog_name", scope)}`,
  "jdbc.tables": jdbcTables,
  "jdbc.columns": jdbcColumns,
  "jdbc.types": jdbcTypesTable,
  "jdbc.table_types": () => "SELECT 'TABLE' AS TABLE_TYPE UNION ALL SELECT 'VIEW' AS TABLE_TYPE",
  "jdbc.attributes": empty(
    "TYPE_CAT TYPE_SCHEM TYPE_NAME ATTR_NAME DATA_TYPE# ATTR_TYPE_NAME ATTR_SIZE# DECIMAL_DIGITS# NUM_PREC_RADIX# NULLABLE# REMARKS ATTR_DEF SQL_DATA_TYPE# SQL_DATETIME_SUB# CHAR_OCTET_LENGTH# ORDINAL_POSITION# IS_NULLABLE SCOPE_CATALOG SCOPE_SCHEMA SCOPE_TABLE SOURCE_DATA_TYPE#",
  ),
  "jdbc.procedures": empty(
    "PROCEDURE_CAT PROCEDURE_SCHEM PROCEDURE_NAME REMARKS PROCEDURE_TYPE# SPECIFIC_NAME",
  ),
  "jdbc.procedure_columns": empty(
    "PROCEDURE_CAT PROCEDURE_SCHEM PROCEDURE_NAME COLUMN_NAME COLUMN_TYPE# DATA_TYPE# TYPE_NAME PRECISION# LENGTH# SCALE# RADIX# NULLABLE# REMARKS COLUMN_DEF SQL_DATA_TYPE# SQL_DATETIME_SUB# CHAR_OCTET_LENGTH# ORDINAL_POSITION# IS_NULLABLE SPECIFIC_NAME",
  ),
  "jdbc.pseudo_columns": empty(
    "TABLE_CAT TABLE_SCHEM TABLE_NAME COLUMN_NAME DATA_TYPE# COLUMN_SIZE# DECIMAL_DIGITS# NUM_PREC_RADIX# COLUMN_USAGE REMARKS CHAR_OCTET_LENGTH# IS_NULLABLE",
  ),
  "jdbc.super_tables": empty("TABLE_CAT TABLE_SCHEM TABLE_NAME SUPERTABLE_NAME"),
  "jdbc.super_types": empty(
    "TYPE_CAT TYPE_SCHEM TYPE_NAME SUPERTYPE_CAT SUPERTYPE_SCHEM SUPERTYPE_NAME",
  ),
  "jdbc.udts": empty("TYPE_CAT TYPE_SCHEM TYPE_NAME CLASS_NAME DATA_TYPE# REMARKS BASE_TYPE#"),
  "runtime.nodes": () =>
    `SELECT 'gateway' AS node_id, '' AS http_uri, '${version}' AS node_version, true AS coordinator, 'active' AS state`,
  // The gateway keeps queries in its own history, and an engine that is not Trino has no such table.
  "runtime.queries": empty(
    "query_id state user source query resource_group_id queued_time_ms# analysis_time_ms# planning_time_ms# created started last_heartbeat end error_type error_code",
  ),
  "metadata.catalogs": (scope) =>
    scope.catalogs.length === 0
      ? `SELECT DISTINCT catalog_name, 'gateway' AS connector_id, 'gateway' AS connector_name FROM information_schema.schemata`
      : scope.catalogs
          .map(
            (name) =>
              `SELECT CAST(${scope.text(name)} AS varchar) AS catalog_name, 'gateway' AS connector_id, 'gateway' AS connector_name`,
          )
          .join(" UNION ALL "),
  "metadata.table_comments": (scope) =>
    `SELECT table_catalog AS catalog_name, table_schema AS schema_name, table_name, ${nothing} AS "comment" FROM information_schema.tables${within("table_catalog", scope)}`,
  "metadata.schema_properties": properties,
  "metadata.table_properties": properties,
  "metadata.column_properties": properties,
  "metadata.analyze_properties": properties,
  "metadata.materialized_view_properties": properties,
  "metadata.materialized_views": empty(
    "catalog_name schema_name name storage_catalog storage_schema storage_table freshness last_fresh_time comment definition",
  ),
};
