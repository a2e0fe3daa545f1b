/**
 * Turns a backend's tables into statements that make empty ones (shells) of the same names, types and keys. Pure.
 *
 * What PostgreSQL can not hold is left out rather than renamed: a name of more than 63 bytes, a
 * schema or column that is PostgreSQL's own. A client that asks for it by name still reaches it.
 */
import type { TableKey, TableListing } from "@gateway/core/port/backend.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { postgresTypeText } from "../value/types.ts";
import type { MirrorFill } from "./message.ts";
import { reader } from "./seed.ts";

/** The most tables a mirror holds. Each costs about 20 KB and a millisecond. */
export const shellsMax = 5000;
/** PostgreSQL's own limit. */
const columnsMax = 1600;
const nameBytesMax = 63;

/** What a mirror holds of a table. */
interface Shell {
  readonly create: string;
  /** Run when all tables are there. */
  readonly foreign: readonly string[];
}

/** Shells by the quoted names of their tables. */
export type Shells = ReadonlyMap<string, Shell>;

/** The shells of one catalog's tables, at most `shellsMax`. */
export function shellsOf(tables: readonly TableListing[], catalog: string): Shells {
  const shells = new Map<string, Shell>();
  for (const table of tables) {
    if (table.catalog !== catalog || !isSchema(table.schema) || !fits(table.name)) continue;
    if (shells.size >= shellsMax) break;
    const name = `${quoted(table.schema)}.${quoted(table.name)}`;
    shells.set(name, { create: createOf(name, table), foreign: foreignOf(name, table) });
  }
  return shells;
}

/** Schemas of the shells. A schema stays when its last table goes. */
function schemasOf(shells: Shells): readonly string[] {
  const schemas = new Set<string>();
  for (const name of shells.keys()) schemas.add(name.slice(0, schemaEnd(name)));
  return [...schemas];
}

/** Index behind the quoted schema of a quoted name. */
function schemaEnd(name: string): number {
  let at = 1;
  while (name.charAt(at) !== '"' || name.charAt(at + 1) === '"') {
    at += name.charAt(at) === '"' ? 2 : 1;
  }
  return at + 1;
}

/** The statements from the shells a mirror holds to those it shall hold. Unchanged tables keep their object ids. */
export function fillOf(before: Shells, after: Shells, catalogs: readonly string[]): MirrorFill {
  const same = ([name, shell]: readonly [string, Shell], others: Shells): boolean =>
    textOf(shell) === textOf(others.get(name));
  let changed = [...after].filter((shell) => !same(shell, before));
  let gone = [...before].filter((shell) => !same(shell, after));
  // A table goes with the foreign keys that point to it.
  const tied = [...before, ...after].some(([, { foreign }]) => foreign.length > 0);
  if (tied && changed.length + gone.length > 0) {
    changed = [...after];
    gone = [...before];
  }
  return {
    before: [
      ...databasesOf(catalogs),
      ...gone.map(([name, { create }]) => `DROP ${kindOf(create)} IF EXISTS ${name} CASCADE`),
      ...schemasOf(after).map((schema) => `CREATE SCHEMA IF NOT EXISTS ${schema}`),
    ],
    shells: [
      ...changed.map(([, { create }]) => create),
      ...changed.flatMap(([, { foreign }]) => foreign),
    ],
    after: finish,
  };
}

function textOf(shell: Shell | undefined): string {
  return shell === undefined ? "" : [shell.create, ...shell.foreign].join(";");
}

function kindOf(create: string): string {
  return create.startsWith("CREATE VIEW") ? "VIEW" : "TABLE";
}

/** The catalogs as databases; the first is the one the mirror shows. */
function databasesOf(catalogs: readonly string[]): readonly string[] {
  const [current = "gateway", ...others] = catalogs;
  const stored = "pg_catalog.pg_database_stored";
  return [
    `DELETE FROM ${stored} WHERE oid > 16383`,
    `UPDATE ${stored} SET datname = ${literal(current)} WHERE oid = 5`,
    ...others
      .filter(fits)
      .map(
        (name, index) =>
          `INSERT INTO ${stored} SELECT (jsonb_populate_record(d, jsonb_build_object('oid', ${16_384 + index}, 'datname', ${literal(name)}))).* FROM ${stored} d WHERE d.oid = 5`,
      ),
  ];
}

const ours =
  "(SELECT oid FROM pg_catalog.pg_namespace WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema')";
const owner = `(SELECT oid FROM pg_catalog.pg_authid WHERE rolname = '${reader}')`;
const notNulls = `(SELECT c.oid FROM pg_catalog.pg_constraint c WHERE c.contype = 'n' AND c.connamespace IN ${ours})`;

/**
 * Everything belongs to the reader, because `information_schema` shows keys to owners only. NOT NULL
 * stays a mark of the column: as constraints, which it is since 18, clients of 16 do not know it.
 */
const finish: readonly string[] = [
  `UPDATE pg_catalog.pg_class SET relowner = ${owner} WHERE relnamespace IN ${ours} AND relowner = 10`,
  `UPDATE pg_catalog.pg_namespace SET nspowner = ${owner} WHERE oid IN ${ours} AND nspowner = 10`,
  `DELETE FROM pg_catalog.pg_depend WHERE classid = 'pg_catalog.pg_constraint'::regclass AND objid IN ${notNulls}`,
  `DELETE FROM pg_catalog.pg_constraint WHERE oid IN ${notNulls}`,
];

function createOf(name: string, table: TableListing): string {
  const { kind, columns, keys = [], indexes = [] } = table;
  const held = columns.filter((column) => isColumn(column.name)).slice(0, columnsMax);
  if (kind === "view") return `CREATE VIEW ${name} AS SELECT ${held.map(viewColumn).join(", ")}`;
  const names = new Set(held.map((column) => column.name));
  const isHeld = (part: { readonly columns: readonly string[] }): boolean =>
    part.columns.length > 0 && part.columns.every((column) => names.has(column));
  const constraints = keys
    .filter(isHeld)
    .flatMap((key) =>
      key.kind === "foreign"
        ? []
        : [`${constraintOf(key)}${keyWords[key.kind]} (${listed(key.columns)})`],
    );
  const parts = [...held.map(tableColumn), ...constraints].join(", ");
  const indexed = indexes
    .filter((index) => fits(index.name) && isHeld(index))
    .map(
      (index) =>
        `CREATE ${index.unique ? "UNIQUE " : ""}INDEX ${quoted(index.name)} ON ${name} (${listed(index.columns)})`,
    );
  return [`CREATE TABLE ${name} (${parts})`, ...indexed].join(";\n");
}

/** The name of a key, where its engine gives one. */
function constraintOf({ name }: TableKey): string {
  return name !== undefined && fits(name) ? `CONSTRAINT ${quoted(name)} ` : "";
}

function foreignOf(name: string, { schema, keys = [] }: TableListing): readonly string[] {
  return keys.flatMap((key) =>
    key.kind === "foreign"
      ? [
          `ALTER TABLE ${name} ADD ${constraintOf(key)}FOREIGN KEY (${listed(key.columns)}) REFERENCES ${quoted(schema)}.${quoted(key.table)} (${listed(key.tableColumns)})`,
        ]
      : [],
  );
}

function listed(columns: readonly string[]): string {
  return columns.map(quoted).join(", ");
}

const keyWords = { primary: "PRIMARY KEY", unique: "UNIQUE" } as const;

function tableColumn(column: Column): string {
  return `${quoted(column.name)} ${typeOf(column)}${column.nullable ? "" : " NOT NULL"}`;
}

function viewColumn(column: Column): string {
  return `NULL::${typeOf(column)} AS ${quoted(column.name)}`;
}

/** A text of limited length, as engines write it, and PostgreSQL's own limit. */
const limitedText =
  /^(?:var|n|nvar)?char2?\s*\((\d{1,8})\)$|^character(?: varying)?\s*\((\d{1,8})\)$/i;
const textLengthMax = 10_485_760;

/** Types that only a PostgreSQL writes so, and that have no neutral counterpart. */
const ownTypes =
  /^(?:numeric|money|inet|cidr|macaddr8?|xml|jsonb|oid|name|"char"|tsvector|tsquery|pg_lsn|point|line|lseg|box|path|polygon|circle|bit(?: varying)?\(\d{1,8}\)|time(?:\(\d\))? with time zone|(?:int[48]|num|ts|tstz|date)(?:multi)?range)(?:\[\])?$/;

/** The column's type, with the length that its engine tells of a text. */
function typeOf({ type, engineType = "" }: Column): string {
  const plain = type.kind === "list" ? type.item.kind : type.kind;
  if ((plain === "text" || plain === "json") && ownTypes.test(engineType)) return engineType;
  const found = type.kind === "text" ? limitedText.exec(engineType) : null;
  const length = Number(found?.[1] ?? found?.[2] ?? 0);
  if (length < 1 || length > textLengthMax) return postgresTypeText(type);
  return `${/^n?var|varying/i.test(engineType) ? "varchar" : "char"}(${length})`;
}

function isSchema(name: string): boolean {
  return fits(name) && !name.startsWith("pg_") && name !== "information_schema";
}

/** Columns that every table of PostgreSQL has already. */
const systemColumns: ReadonlySet<string> = new Set([
  "tableoid",
  "xmin",
  "cmin",
  "xmax",
  "cmax",
  "ctid",
]);

function isColumn(name: string): boolean {
  return fits(name) && !systemColumns.has(name);
}

const encoder = new TextEncoder();

function fits(name: string): boolean {
  return name !== "" && !name.includes("\0") && encoder.encode(name).length <= nameBytesMax;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Schemas that are an engine's default by custom, in the order they are looked for. */
const customary = ["public", "main", "default", "dbo"];

/** The schema unqualified names mean where the session names none: the only one, or an engine's customary default. */
export function defaultSchema(
  tables: readonly TableListing[],
  catalog: string,
): string | undefined {
  const schemas = new Set(
    tables.filter((table) => table.catalog === catalog).map(({ schema }) => schema),
  );
  const [only] = schemas;
  return schemas.size === 1 ? only : customary.find((name) => schemas.has(name));
}
