/**
 * What is told about one table: `SHOW COLUMNS`, `SHOW KEYS`, `SHOW CREATE TABLE`, `DESCRIBE`.
 *
 * Columns and keys are asked of the engine's `information_schema`, and come from what the door lists where
 * there is none; an engine that does not list keys has tables without them.
 */
import {
  atEnd,
  peekToken,
  takeOneOf,
  takeSymbol,
  takeWords,
  type TokenReader,
} from "@gateway/core/sql/session/tokenReader.ts";
import type { TableListing } from "@gateway/core/port/backend.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { ownErrors } from "../errors.ts";
import { textColumn, textRows, type AskedRows, type LocalAnswer } from "./answer.ts";
import { isLike, takeFilter, type Row } from "./filter.ts";
import {
  Listing,
  inCatalog,
  inSchema,
  syntax,
  takeSchema,
  type ListingDefaults,
} from "./schema.ts";
import { takeName, takeString } from "./take.ts";
import { columnTypeOf, columnTypeText, isTextType } from "./typeText.ts";

interface TableName {
  readonly schema: string | undefined;
  readonly name: string;
}

interface ColumnFacts {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly standard: string | null;
}

interface KeyColumn {
  readonly primary: boolean;
  readonly key: string;
  readonly column: string;
}

/** Makes the answer of what is known. */
type Make = (columns: readonly ColumnFacts[], keys: readonly KeyColumn[]) => LocalAnswer;

const fieldColumns = ["Field", "Type", "Null", "Key", "Default", "Extra"];
const fullFieldColumns = [
  "Field",
  "Type",
  "Collation",
  "Null",
  "Key",
  "Default",
  "Extra",
  "Privileges",
  "Comment",
];
const keyColumns = [
  "Table",
  "Non_unique",
  "Key_name",
  "Seq_in_index",
  "Column_name",
  "Collation",
  "Cardinality",
  "Sub_part",
  "Packed",
  "Null",
  "Index_type",
  "Comment",
  "Index_comment",
  "Visible",
  "Expression",
];
const createColumns = ["Table", "Create Table"];
const collation = "utf8mb4_0900_ai_ci";

/** `SHOW [FULL] {COLUMNS | FIELDS} {FROM | IN} t [{FROM | IN} db] [LIKE 'x' | WHERE …]`, behind the word COLUMNS. */
export function showColumns(
  reader: TokenReader,
  full: boolean,
  defaults: ListingDefaults,
): LocalAnswer {
  const table = takeOf(reader, defaults);
  const names = full ? fullFieldColumns : fieldColumns;
  const test = table === undefined ? undefined : takeFilter(reader, names);
  if (table === undefined || test === undefined || !atEnd(reader)) return syntax(reader);
  return ask(table, defaults, names, (columns, keys) =>
    textRows(names, fieldRows(columns, keys, full).filter(test)),
  );
}

/** `{DESCRIBE | DESC} t [column]`, behind the first word; undefined when it explains a statement. */
export function describeTable(
  reader: TokenReader,
  defaults: ListingDefaults,
): LocalAnswer | undefined {
  const named = takeTable(reader);
  if (named === undefined) return undefined;
  const pattern = takeString(reader) ?? takeName(reader);
  if (!atEnd(reader)) return undefined;
  const table = { ...named, schema: named.schema ?? defaults.schema };
  return ask(table, defaults, fieldColumns, (columns, keys) => {
    const wanted = columns.filter(
      ({ name }) => pattern === undefined || isLike(name.toLowerCase(), pattern.toLowerCase()),
    );
    return textRows(fieldColumns, fieldRows(wanted, keys, false));
  });
}

/** `SHOW {INDEX | INDEXES | KEYS} {FROM | IN} t [{FROM | IN} db] [WHERE …]`, behind the word. */
export function showKeys(reader: TokenReader, defaults: ListingDefaults): LocalAnswer {
  const table = takeOf(reader, defaults);
  const test = table === undefined ? undefined : takeFilter(reader, keyColumns);
  if (table === undefined || test === undefined || !atEnd(reader)) return syntax(reader);
  return ask(table, defaults, keyColumns, (columns, keys) =>
    textRows(keyColumns, keyRows(table.name, columns, keys).filter(test)),
  );
}

/** `SHOW CREATE {TABLE | VIEW} t`, behind both words. Tools read the text, so it is laid out as a MySQL server's. */
export function showCreateTable(reader: TokenReader, defaults: ListingDefaults): LocalAnswer {
  const named = takeTable(reader);
  if (named === undefined || !atEnd(reader)) return syntax(reader);
  const table = { ...named, schema: named.schema ?? defaults.schema };
  return ask(table, defaults, createColumns, (columns, keys) =>
    textRows(createColumns, [[table.name, createText(table.name, columns, keys)]]),
  );
}

/** Columns first, then keys, then the answer; a table without columns does not exist. */
function ask(
  table: TableName,
  defaults: ListingDefaults,
  names: readonly string[],
  make: Make,
): AskedRows {
  const result = names.map(textColumn);
  const listing = ofTable(table, defaults, "");
  const select =
    "SELECT column_name, data_type, is_nullable, column_default FROM information_schema.columns";
  return {
    kind: "asked",
    columns: result,
    ...listing.statement(select, "ordinal_position"),
    listed: (tables) => {
      const found = listing.of(tables);
      const columns = found.flatMap((one) => one.columns).map(listedColumn);
      return found.length === 0 ? unknownTable(table) : make(columns, found.flatMap(listedKeys));
    },
    make: (rows) => {
      if (rows.length === 0) return unknownTable(table);
      const columns = rows.map(columnOf);
      return {
        kind: "asked",
        columns: result,
        ...ofTable(table, defaults, "k.").statement(
          selectKeys,
          "k.constraint_name, k.ordinal_position",
        ),
        make: (keyRowsOf) => make(columns, keyRowsOf.map(keyOf)),
        orElse: () => make(columns, []),
      };
    },
  };
}

function unknownTable({ schema, name }: TableName): LocalAnswer {
  return { kind: "error", reply: ownErrors.unknownTable(schema ?? "", name) };
}

const selectKeys =
  "SELECT c.constraint_type, k.constraint_name, k.column_name " +
  "FROM information_schema.key_column_usage k JOIN information_schema.table_constraints c " +
  "ON c.constraint_name = k.constraint_name AND c.table_schema = k.table_schema " +
  "AND c.table_name = k.table_name AND c.constraint_type IN ('PRIMARY KEY', 'UNIQUE')";

function ofTable(table: TableName, defaults: ListingDefaults, prefix: string): Listing {
  const listing = new Listing();
  inCatalog(listing, `${prefix}table_catalog`, defaults);
  inSchema(listing, table.schema, prefix);
  listing.where(`${prefix}table_name = ?`, table.name, ({ name }) => name === table.name);
  return listing;
}

function columnOf([name, type, nullable, standard]: Row): ColumnFacts {
  return {
    name: name ?? "",
    type: columnTypeText(type ?? ""),
    nullable: nullable !== "NO",
    standard: defaultOf(standard ?? null),
  };
}

function listedColumn({ name, type, nullable }: Column): ColumnFacts {
  return { name, type: columnTypeOf(type), nullable, standard: null };
}

/** Listings do not name their keys, so they are called by their columns. */
function listedKeys({ keys = [] }: TableListing): readonly KeyColumn[] {
  return keys.flatMap(({ kind, columns }) => {
    if (kind === "foreign") return [];
    const primary = kind === "primary";
    const key = primary ? "PRIMARY" : columns.join("_");
    return columns.map((column) => ({ primary, key, column }));
  });
}

/** The value of a default that is a literal; an expression of the engine means nothing to a MySQL client. */
function defaultOf(expression: string | null): string | null {
  if (expression === null) return null;
  if (/^-?\d+(?:\.\d+)?$/.test(expression)) return expression;
  const quoted = /^'((?:[^']|'')*)'$/.exec(expression)?.[1];
  return quoted?.replaceAll("''", "'") ?? null;
}

function keyOf([type, key, column]: Row): KeyColumn {
  const primary = type === "PRIMARY KEY";
  return { primary, key: primary ? "PRIMARY" : (key ?? ""), column: column ?? "" };
}

function fieldRows(
  columns: readonly ColumnFacts[],
  keys: readonly KeyColumn[],
  full: boolean,
): readonly Row[] {
  return columns.map(({ name, type, nullable, standard }) => {
    const key = keys.find(({ column }) => column === name);
    const mark = key === undefined ? "" : key.primary ? "PRI" : "UNI";
    const rest = [nullable ? "YES" : "NO", mark, standard, ""];
    if (!full) return [name, type, ...rest];
    return [name, type, isTextType(type) ? collation : null, ...rest, "select", ""];
  });
}

function keyRows(
  table: string,
  columns: readonly ColumnFacts[],
  keys: readonly KeyColumn[],
): readonly Row[] {
  return keys.map(({ key, column }, index) => {
    const place = keys.slice(0, index).filter((before) => before.key === key).length + 1;
    const nullable = columns.find(({ name }) => name === column)?.nullable === true;
    const unknown = [null, null, null] as const;
    return [
      table,
      "0",
      key,
      String(place),
      column,
      "A",
      ...unknown,
      nullable ? "YES" : "",
      "BTREE",
      "",
      "",
      "YES",
      null,
    ];
  });
}

function createText(
  table: string,
  columns: readonly ColumnFacts[],
  keys: readonly KeyColumn[],
): string {
  const lines = columns.map(({ name, type, nullable, standard }) => {
    const text = `  ${backticked(name)} ${type}`;
    if (standard !== null) {
      return `${text}${nullable ? "" : " NOT NULL"} DEFAULT '${standard.replaceAll("'", "''")}'`;
    }
    return nullable ? `${text} DEFAULT NULL` : `${text} NOT NULL`;
  });
  for (const name of new Set(keys.map(({ key }) => key))) {
    const parts = keys.filter(({ key }) => key === name).map(({ column }) => backticked(column));
    const head = name === "PRIMARY" ? "PRIMARY KEY" : `UNIQUE KEY ${backticked(name)}`;
    lines.push(`  ${head} (${parts.join(",")})`);
  }
  const body = lines.join(",\n");
  return `CREATE TABLE ${backticked(table)} (\n${body}\n) ENGINE=Gateway DEFAULT CHARSET=utf8mb4 COLLATE=${collation}`;
}

function backticked(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}

/** `{FROM | IN} t [{FROM | IN} db]`. */
function takeOf(reader: TokenReader, defaults: ListingDefaults): TableName | undefined {
  if (takeOneOf(reader, ["FROM", "IN"]) === undefined) return undefined;
  const table = takeTable(reader);
  if (table === undefined) return undefined;
  return { ...table, schema: takeSchema(reader) ?? table.schema ?? defaults.schema };
}

/** `t`, `db.t`, and the name with an empty part in its middle that ODBC tools make. */
function takeTable(reader: TokenReader): TableName | undefined {
  const parts: string[] = [];
  do {
    const part = takeName(reader);
    if (part === undefined) return undefined;
    if (part !== "") parts.push(part);
  } while (takeSymbol(reader, "."));
  const [first, second, third] = parts;
  if (first === undefined || third !== undefined) return undefined;
  return second === undefined
    ? { schema: undefined, name: first }
    : { schema: first, name: second };
}

/** Whether a statement's object is what SHOW CREATE knows here. */
export function takesCreate(reader: TokenReader): boolean {
  const next = peekToken(reader, 1)?.upper;
  if (next !== "TABLE" && next !== "VIEW") return false;
  return takeWords(reader, "CREATE", next);
}
