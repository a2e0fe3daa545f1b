/**
 * The tables of MySQL's `information_schema`, each as a query over the standard one that engines have.
 *
 * Data, written once: names of columns are MySQL 8.4's, in its order. Only SQL that every engine here
 * reads: quoted names, CASE, CAST, UNION ALL.
 */
import { charsetRows, serverTables } from "../commands/server.ts";
import type { Row } from "../commands/filter.ts";
import { typeTextSql } from "../commands/typeText.ts";

export interface CatalogView {
  /** In upper case, as all names here. */
  readonly name: string;
  readonly columns: readonly string[];
  /** Present for tables that need the engine to list keys. */
  readonly fromKeys?: true;
  /** The text of a derived table, without brackets. */
  select(wish: { readonly catalog: string | undefined; readonly keys: boolean }): string;
}

/** A column and what it is in the engine's terms. */
type Pair = readonly [name: string, expression: string];

const nothing = "CAST(NULL AS VARCHAR)";
const noNumber = "CAST(NULL AS BIGINT)";
const noTime = "CAST(NULL AS TIMESTAMP)";
const def = "'def'";
const charset = "utf8mb4";
const collation = "utf8mb4_0900_ai_ci";
const isView = "table_type LIKE '%VIEW'";
const ownSchemas = "('pg_catalog', 'pg_toast')";
const isText = `(${typeTextSql("data")}) IN ('text', 'varchar', 'char')`;
const textOnly = (value: string) => `CASE WHEN ${isText} THEN ${value} END`;

function view(name: string, pairs: readonly Pair[], from: From): CatalogView {
  return {
    name,
    columns: pairs.map(([column]) => column),
    select: ({ catalog }) => `SELECT ${selected(pairs)} ${fromText(from, catalog)}`,
  };
}

interface From {
  readonly table: string;
  readonly catalogColumn: string;
  readonly schemaColumn: string;
  readonly where?: string;
}

function selected(pairs: readonly Pair[]): string {
  return pairs.map(([column, expression]) => `${expression} AS "${column}"`).join(", ");
}

function fromText(from: From, catalog: string | undefined): string {
  const { table, catalogColumn, schemaColumn, where } = from;
  const inCatalog =
    catalog === undefined ? "" : ` AND ${catalogColumn} = '${catalog.replaceAll("'", "''")}'`;
  const more = where === undefined ? "" : ` AND ${where}`;
  return `FROM ${table} WHERE ${schemaColumn} NOT IN ${ownSchemas}${inCatalog}${more}`;
}

/** Without rows: what is not known of any engine. */
function empty(name: string, columns: readonly string[]): CatalogView {
  const select = emptySelect(columns);
  return { name, columns, select: () => select };
}

function emptySelect(columns: readonly string[]): string {
  return `SELECT ${selected(columns.map((column) => [column, nothing]))} WHERE 1 = 0`;
}

/** Rows that are the same for every engine. */
function fixed(name: string, columns: readonly string[], rows: readonly Row[]): CatalogView {
  const select = rows
    .map(
      (row) => `SELECT ${selected(columns.map((column, at) => [column, cell(row[at] ?? null)]))}`,
    )
    .join(" UNION ALL ");
  return { name, columns, select: () => select };
}

function cell(value: string | null): string {
  return value === null ? nothing : `'${value.replaceAll("'", "''")}'`;
}

/** Over keys and constraints, which not every engine lists. */
function keyed(name: string, pairs: readonly Pair[]): CatalogView {
  const columns = pairs.map(([column]) => column);
  const nobody = emptySelect(columns);
  return {
    name,
    columns,
    fromKeys: true,
    select: ({ keys, catalog }) =>
      keys ? `SELECT ${selected(pairs)} ${fromText(keysFrom, catalog)}` : nobody,
  };
}

const keysFrom: From = {
  table:
    "information_schema.key_column_usage k JOIN information_schema.table_constraints c " +
    "ON c.constraint_name = k.constraint_name AND c.table_schema = k.table_schema AND c.table_name = k.table_name",
  catalogColumn: "k.table_catalog",
  schemaColumn: "k.table_schema",
  where: "c.constraint_type IN ('PRIMARY KEY', 'UNIQUE')",
};
const keyName =
  "CASE c.constraint_type WHEN 'PRIMARY KEY' THEN 'PRIMARY' ELSE k.constraint_name END";

const schemata = view(
  "SCHEMATA",
  [
    ["CATALOG_NAME", def],
    ["SCHEMA_NAME", "schema_name"],
    ["DEFAULT_CHARACTER_SET_NAME", `'${charset}'`],
    ["DEFAULT_COLLATION_NAME", `'${collation}'`],
    ["SQL_PATH", nothing],
    ["DEFAULT_ENCRYPTION", "'NO'"],
  ],
  {
    table: "information_schema.schemata",
    catalogColumn: "catalog_name",
    schemaColumn: "schema_name",
  },
);

const tablesFrom: From = {
  table: "information_schema.tables",
  catalogColumn: "table_catalog",
  schemaColumn: "table_schema",
};

const tables = view(
  "TABLES",
  [
    ["TABLE_CATALOG", def],
    ["TABLE_SCHEMA", "table_schema"],
    ["TABLE_NAME", "table_name"],
    [
      "TABLE_TYPE",
      `CASE WHEN table_schema = 'information_schema' THEN 'SYSTEM VIEW' WHEN ${isView} THEN 'VIEW' ELSE 'BASE TABLE' END`,
    ],
    ["ENGINE", `CASE WHEN ${isView} THEN ${nothing} ELSE 'Gateway' END`],
    ["VERSION", "10"],
    ["ROW_FORMAT", nothing],
    ["TABLE_ROWS", noNumber],
    ["AVG_ROW_LENGTH", noNumber],
    ["DATA_LENGTH", noNumber],
    ["MAX_DATA_LENGTH", noNumber],
    ["INDEX_LENGTH", noNumber],
    ["DATA_FREE", noNumber],
    ["AUTO_INCREMENT", noNumber],
    ["CREATE_TIME", noTime],
    ["UPDATE_TIME", noTime],
    ["CHECK_TIME", noTime],
    ["TABLE_COLLATION", `CASE WHEN ${isView} THEN ${nothing} ELSE '${collation}' END`],
    ["CHECKSUM", noNumber],
    ["CREATE_OPTIONS", "''"],
    ["TABLE_COMMENT", `CASE WHEN ${isView} THEN 'VIEW' ELSE '' END`],
  ],
  tablesFrom,
);

const viewsView = view(
  "VIEWS",
  [
    ["TABLE_CATALOG", def],
    ["TABLE_SCHEMA", "table_schema"],
    ["TABLE_NAME", "table_name"],
    ["VIEW_DEFINITION", "''"],
    ["CHECK_OPTION", "'NONE'"],
    ["IS_UPDATABLE", "'NO'"],
    ["DEFINER", "''"],
    ["SECURITY_TYPE", "'INVOKER'"],
    ["CHARACTER_SET_CLIENT", `'${charset}'`],
    ["COLLATION_CONNECTION", `'${collation}'`],
  ],
  { ...tablesFrom, where: isView },
);

const columnsView = view(
  "COLUMNS",
  [
    ["TABLE_CATALOG", def],
    ["TABLE_SCHEMA", "table_schema"],
    ["TABLE_NAME", "table_name"],
    ["COLUMN_NAME", "column_name"],
    ["ORDINAL_POSITION", "ordinal_position"],
    ["COLUMN_DEFAULT", "column_default"],
    ["IS_NULLABLE", "is_nullable"],
    ["DATA_TYPE", typeTextSql("data")],
    ["CHARACTER_MAXIMUM_LENGTH", textOnly("65535")],
    ["CHARACTER_OCTET_LENGTH", textOnly("65535")],
    ["NUMERIC_PRECISION", "numeric_precision"],
    ["NUMERIC_SCALE", "numeric_scale"],
    ["DATETIME_PRECISION", "CASE WHEN UPPER(data_type) LIKE 'TIME%' THEN 6 END"],
    ["CHARACTER_SET_NAME", textOnly(`'${charset}'`)],
    ["COLLATION_NAME", textOnly(`'${collation}'`)],
    ["COLUMN_TYPE", typeTextSql("column")],
    ["COLUMN_KEY", "''"],
    ["EXTRA", "''"],
    ["PRIVILEGES", "'select'"],
    ["COLUMN_COMMENT", "''"],
    ["GENERATION_EXPRESSION", "''"],
    ["SRS_ID", noNumber],
  ],
  { ...tablesFrom, table: "information_schema.columns" },
);

const keyColumnUsage = keyed("KEY_COLUMN_USAGE", [
  ["CONSTRAINT_CATALOG", def],
  ["CONSTRAINT_SCHEMA", "k.table_schema"],
  ["CONSTRAINT_NAME", keyName],
  ["TABLE_CATALOG", def],
  ["TABLE_SCHEMA", "k.table_schema"],
  ["TABLE_NAME", "k.table_name"],
  ["COLUMN_NAME", "k.column_name"],
  ["ORDINAL_POSITION", "k.ordinal_position"],
  ["POSITION_IN_UNIQUE_CONSTRAINT", noNumber],
  ["REFERENCED_TABLE_SCHEMA", nothing],
  ["REFERENCED_TABLE_NAME", nothing],
  ["REFERENCED_COLUMN_NAME", nothing],
]);

const statistics = keyed("STATISTICS", [
  ["TABLE_CATALOG", def],
  ["TABLE_SCHEMA", "k.table_schema"],
  ["TABLE_NAME", "k.table_name"],
  ["NON_UNIQUE", "0"],
  ["INDEX_SCHEMA", "k.table_schema"],
  ["INDEX_NAME", keyName],
  ["SEQ_IN_INDEX", "k.ordinal_position"],
  ["COLUMN_NAME", "k.column_name"],
  ["COLLATION", "'A'"],
  ["CARDINALITY", noNumber],
  ["SUB_PART", noNumber],
  ["PACKED", nothing],
  ["NULLABLE", "''"],
  ["INDEX_TYPE", "'BTREE'"],
  ["COMMENT", "''"],
  ["INDEX_COMMENT", "''"],
  ["IS_VISIBLE", "'YES'"],
  ["EXPRESSION", nothing],
]);

const tableConstraints = keyed("TABLE_CONSTRAINTS", [
  ["CONSTRAINT_CATALOG", def],
  ["CONSTRAINT_SCHEMA", "k.table_schema"],
  ["CONSTRAINT_NAME", keyName],
  ["TABLE_SCHEMA", "k.table_schema"],
  ["TABLE_NAME", "k.table_name"],
  ["CONSTRAINT_TYPE", "c.constraint_type"],
  ["ENFORCED", "'YES'"],
]);

const privilegeColumns = [
  "GRANTEE",
  "TABLE_CATALOG",
  "TABLE_SCHEMA",
  "PRIVILEGE_TYPE",
  "IS_GRANTABLE",
];

const list: readonly CatalogView[] = [
  schemata,
  tables,
  viewsView,
  columnsView,
  keyColumnUsage,
  statistics,
  distinct(tableConstraints),
  fixed(
    "CHARACTER_SETS",
    ["CHARACTER_SET_NAME", "DESCRIPTION", "DEFAULT_COLLATE_NAME", "MAXLEN"],
    charsetRows,
  ),
  fixed(
    "COLLATIONS",
    [
      "COLLATION_NAME",
      "CHARACTER_SET_NAME",
      "ID",
      "IS_DEFAULT",
      "IS_COMPILED",
      "SORTLEN",
      "PAD_ATTRIBUTE",
    ],
    serverTables["COLLATION"]?.rows ?? [],
  ),
  fixed(
    "COLLATION_CHARACTER_SET_APPLICABILITY",
    ["COLLATION_NAME", "CHARACTER_SET_NAME"],
    serverTables["COLLATION"]?.rows ?? [],
  ),
  fixed(
    "ENGINES",
    ["ENGINE", "SUPPORT", "COMMENT", "TRANSACTIONS", "XA", "SAVEPOINTS"],
    serverTables["ENGINES"]?.rows ?? [],
  ),
  fixed(
    "PLUGINS",
    ["PLUGIN_NAME", "PLUGIN_STATUS", "PLUGIN_TYPE", "PLUGIN_LIBRARY", "PLUGIN_LICENSE"],
    serverTables["PLUGINS"]?.rows ?? [],
  ),
  empty("ROUTINES", [
    "SPECIFIC_NAME",
    "ROUTINE_CATALOG",
    "ROUTINE_SCHEMA",
    "ROUTINE_NAME",
    "ROUTINE_TYPE",
    "DATA_TYPE",
    "DTD_IDENTIFIER",
    "ROUTINE_BODY",
    "ROUTINE_DEFINITION",
    "IS_DETERMINISTIC",
    "SQL_DATA_ACCESS",
    "SECURITY_TYPE",
    "CREATED",
    "LAST_ALTERED",
    "ROUTINE_COMMENT",
    "DEFINER",
  ]),
  empty("PARAMETERS", [
    "SPECIFIC_CATALOG",
    "SPECIFIC_SCHEMA",
    "SPECIFIC_NAME",
    "ORDINAL_POSITION",
    "PARAMETER_MODE",
    "PARAMETER_NAME",
    "DATA_TYPE",
    "DTD_IDENTIFIER",
    "ROUTINE_TYPE",
  ]),
  empty("REFERENTIAL_CONSTRAINTS", [
    "CONSTRAINT_CATALOG",
    "CONSTRAINT_SCHEMA",
    "CONSTRAINT_NAME",
    "UNIQUE_CONSTRAINT_CATALOG",
    "UNIQUE_CONSTRAINT_SCHEMA",
    "UNIQUE_CONSTRAINT_NAME",
    "MATCH_OPTION",
    "UPDATE_RULE",
    "DELETE_RULE",
    "TABLE_NAME",
    "REFERENCED_TABLE_NAME",
  ]),
  empty("TRIGGERS", [
    "TRIGGER_CATALOG",
    "TRIGGER_SCHEMA",
    "TRIGGER_NAME",
    "EVENT_MANIPULATION",
    "EVENT_OBJECT_SCHEMA",
    "EVENT_OBJECT_TABLE",
    "ACTION_STATEMENT",
    "ACTION_TIMING",
    "CREATED",
    "SQL_MODE",
    "DEFINER",
  ]),
  empty("EVENTS", ["EVENT_CATALOG", "EVENT_SCHEMA", "EVENT_NAME", "DEFINER", "STATUS"]),
  empty("PARTITIONS", ["TABLE_CATALOG", "TABLE_SCHEMA", "TABLE_NAME", "PARTITION_NAME"]),
  empty("CHECK_CONSTRAINTS", [
    "CONSTRAINT_CATALOG",
    "CONSTRAINT_SCHEMA",
    "CONSTRAINT_NAME",
    "CHECK_CLAUSE",
  ]),
  empty("USER_PRIVILEGES", ["GRANTEE", "TABLE_CATALOG", "PRIVILEGE_TYPE", "IS_GRANTABLE"]),
  empty("SCHEMA_PRIVILEGES", privilegeColumns),
  empty("TABLE_PRIVILEGES", [...privilegeColumns, "TABLE_NAME"]),
  empty("COLUMN_PRIVILEGES", [...privilegeColumns, "TABLE_NAME", "COLUMN_NAME"]),
];

/** A constraint once, however many columns it has. */
function distinct(keys: CatalogView): CatalogView {
  return { ...keys, select: (wish) => keys.select(wish).replace(/^SELECT /, "SELECT DISTINCT ") };
}

/** By name in upper case. */
export const views: ReadonlyMap<string, CatalogView> = new Map(
  list.map((each) => [each.name, each]),
);
