/**
 * What `SHOW` and `DESC` answer, made of the engine's own listing. Names that the engine writes in small letters are shown
 * in capitals: so Snowflake shows names that need no quotes, and so its tools know that they need none.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { TableKey, TableListing } from "@gateway/core/port/backend.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { rowType } from "../value/rowType.ts";
import type { CatalogAsk, KeyKind, ListKind, Place } from "./asked.ts";

/** Names of columns, and rows of texts. */
export interface Shown {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** Where the session is; undefined where it has no place. */
export interface Here {
  readonly database: string | undefined;
  readonly schema: string | undefined;
}

type ListingAsk = Exclude<CatalogAsk, { kind: "version" }>;

/** The answer. Refuses to describe a table that is not there. */
export function shownOf(
  ask: ListingAsk,
  tables: readonly TableListing[],
  here: Here,
): Result<Shown, GatewayError> {
  const found = tables.filter((table) => isIn(table, ask.place, here));
  switch (ask.kind) {
    case "primaryKeys":
    case "uniqueKeys":
    case "importedKeys":
      return ok(keys(ask.kind, found));
    case "described": {
      const [table] = found;
      return table === undefined ? err(unknownTable(ask.place)) : ok(described(table));
    }
    case "columns": {
      const named = ask.tables.map((name) => name.toLowerCase());
      const wanted = found.filter(
        ({ name }) => named.length === 0 || named.includes(name.toLowerCase()),
      );
      return ok({ columns: columnFacts, rows: wanted.flatMap(columnRows) });
    }
    default:
      return ok(list(ask.kind, found, likeOf(ask.like)));
  }
}

function isIn(
  { catalog, schema, name }: TableListing,
  { level, names }: Place,
  here: Here,
): boolean {
  if (level === "account") return true;
  const own =
    level === "database"
      ? [catalog]
      : level === "schema"
        ? [catalog, schema]
        : [catalog, schema, name];
  const place = [here.database, here.schema].slice(0, Math.max(0, own.length - names.length));
  const asked = [...place, ...names].slice(-own.length);
  // What the session does not say is any.
  const from = own.length - asked.length;
  return asked.every((one, index) => one === undefined || isSame(one, own[from + index] ?? ""));
}

function isSame(asked: string, own: string): boolean {
  return asked.toLowerCase() === own.toLowerCase();
}

/** Small letters are what an engine makes of a name without quotes, where Snowflake makes capitals. */
function shownName(name: string): string {
  return name === name.toLowerCase() ? name.toUpperCase() : name;
}

/** `%` is any text and `_` any character; letters count alike. */
function likeOf(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined) return () => true;
  const wanted = pattern.toLowerCase();
  return (name) => isLike(name.toLowerCase(), wanted);
}

/** Looks back to the last `%` only, so its time is bounded by the product of both lengths. */
function isLike(text: string, pattern: string): boolean {
  let [at, next, star, mark] = [0, 0, -1, 0];
  while (at < text.length) {
    if (pattern[next] === "%") {
      star = next;
      next += 1;
      mark = at;
    } else if (pattern[next] === "_" || (next < pattern.length && pattern[next] === text[at])) {
      at += 1;
      next += 1;
    } else if (star >= 0) {
      next = star + 1;
      mark += 1;
      at = mark;
    } else return false;
  }
  while (pattern[next] === "%") next += 1;
  return next === pattern.length;
}

function list(
  kind: ListKind,
  tables: readonly TableListing[],
  fits: (name: string) => boolean,
): Shown {
  switch (kind) {
    case "databases": {
      const names = [...new Set(tables.map(({ catalog }) => catalog))].filter(fits).toSorted();
      const columns = [
        "created_on",
        "name",
        "is_default",
        "is_current",
        "origin",
        "owner",
        "comment",
      ];
      return { columns, rows: names.map((name) => [null, shownName(name), "N", "N", "", "", ""]) };
    }
    case "schemas": {
      const named = tables.filter(({ schema }) => fits(schema));
      const pairs = new Map(named.map((one) => [`${one.catalog}\0${one.schema}`, one]));
      const columns = [
        "created_on",
        "name",
        "is_default",
        "is_current",
        "database_name",
        "owner",
        "comment",
      ];
      const rows = [...pairs.values()].map(({ catalog, schema }) => [
        null,
        shownName(schema),
        "N",
        "N",
        shownName(catalog),
        "",
        "",
      ]);
      return { columns, rows };
    }
    case "tables":
    case "views":
    case "objects": {
      const found = tables.filter(
        (one) => fits(one.name) && (kind === "objects" || `${one.kind}s` === kind),
      );
      return kind === "views" ? views(found) : objects(found);
    }
  }
}

function objects(tables: readonly TableListing[]): Shown {
  const columns = [
    "created_on",
    "name",
    "database_name",
    "schema_name",
    "kind",
    "comment",
    "owner",
  ];
  const rows = tables.map(({ name, catalog, schema, kind }) => [
    null,
    ...[name, catalog, schema].map(shownName),
    kind.toUpperCase(),
    "",
    "",
  ]);
  return { columns, rows };
}

function views(found: readonly TableListing[]): Shown {
  const columns = [
    "created_on",
    "name",
    "reserved",
    "database_name",
    "schema_name",
    "owner",
    "comment",
    "text",
  ];
  const rows = found.map(({ name, catalog, schema }) => [
    null,
    shownName(name),
    "",
    shownName(catalog),
    shownName(schema),
    "",
    "",
    null,
  ]);
  return { columns, rows };
}

const keyColumns = ["database_name", "schema_name", "table_name", "column_name", "key_sequence"];

function keys(kind: KeyKind, tables: readonly TableListing[]): Shown {
  if (kind === "importedKeys") return importedKeys(tables);
  const wanted = kind === "primaryKeys" ? "primary" : "unique";
  const rows = keysOf(tables, wanted).flatMap(({ table, key, name }) =>
    key.columns.map((column, index) => [
      null,
      ...[table.catalog, table.schema, table.name, column].map(shownName),
      String(index + 1),
      name,
      "",
    ]),
  );
  return { columns: ["created_on", ...keyColumns, "constraint_name", "comment"], rows };
}

function importedKeys(tables: readonly TableListing[]): Shown {
  const sides = ["pk", "fk"].flatMap((side) =>
    keyColumns.slice(0, 4).map((column) => `${side}_${column}`),
  );
  const rows = keysOf(tables, "foreign").flatMap(({ table, key, name }) =>
    key.columns.map((column, index) => {
      const target = "table" in key ? [key.table, key.tableColumns[index] ?? ""] : ["", ""];
      const place = [table.catalog, table.schema];
      const names = [...place, ...target, ...place, table.name, column];
      const rules = ["NO ACTION", "NO ACTION"];
      return [null, ...names.map(shownName), String(index + 1), ...rules, name, null, ""];
    }),
  );
  const columns = ["key_sequence", "update_rule", "delete_rule", "fk_name", "pk_name", "comment"];
  return { columns: ["created_on", ...sides, ...columns], rows };
}

/** Keys of that kind with a name, which is made where the engine has none. */
function keysOf(tables: readonly TableListing[], kind: TableKey["kind"]) {
  return tables.flatMap((table) =>
    (table.keys ?? [])
      .filter((key) => key.kind === kind)
      .map((key, index) => ({
        table,
        key,
        name: shownName(key.name ?? `${table.name}_${kind}_${index + 1}`),
      })),
  );
}

const descriptionFacts = [
  "name",
  "type",
  "kind",
  "null?",
  "default",
  "primary key",
  "unique key",
  "check",
  "expression",
  "comment",
];

function described({ columns, keys: all = [] }: TableListing): Shown {
  const isKey = (kind: TableKey["kind"], { name }: Column): string =>
    all.some((key) => key.kind === kind && key.columns.includes(name)) ? "Y" : "N";
  const rows = columns.map((column) => [
    shownName(column.name),
    typeText(column),
    "COLUMN",
    column.nullable ? "Y" : "N",
    null,
    isKey("primary", column),
    isKey("unique", column),
    null,
    null,
    null,
  ]);
  return { columns: descriptionFacts, rows };
}

const columnFacts =
  "TABLE_NAME COLUMN_NAME DATA_TYPE CHARACTER_MAXIMUM_LENGTH NUMERIC_PRECISION NUMERIC_SCALE IS_NULLABLE COLUMN_DEFAULT IS_IDENTITY COMMENT IDENTITY_START IDENTITY_INCREMENT IDENTITY_GENERATION IDENTITY_CYCLE IDENTITY_ORDERED DATA_TYPE_ALIAS".split(
    " ",
  );

function columnRows({ name, columns }: TableListing): readonly (readonly (string | null)[])[] {
  return columns.map((column) => {
    const { length, precision, scale } = rowType(column);
    const type = typeName(column);
    const isNumber = type === "NUMBER";
    const facts = [length, isNumber ? precision : null, isNumber ? scale : null];
    return [
      shownName(name),
      shownName(column.name),
      type,
      ...facts.map((fact) => (fact === null ? null : String(fact))),
      column.nullable ? "YES" : "NO",
      null,
      "NO",
      ...Array.from({ length: 6 }, () => null),
      type,
    ];
  });
}

/** As a table's definition has it. */
function typeName(column: Column): string {
  const { type } = rowType(column);
  const names: Readonly<Record<string, string>> = { fixed: "NUMBER", real: "FLOAT", text: "TEXT" };
  return names[type] ?? type.toUpperCase();
}

/** With its size: `NUMBER(10,2)`. */
function typeText(column: Column): string {
  const { type, length, precision, scale } = rowType(column);
  if (type === "fixed") return `NUMBER(${precision},${scale})`;
  if (type === "text") return `VARCHAR(${length})`;
  const name = typeName(column);
  if (type === "binary") return `${name}(${length})`;
  return type.startsWith("time") ? `${name}(${scale})` : name;
}

function unknownTable({ names }: Place): GatewayError {
  const name = names.map(shownName).join(".");
  return gatewayError("query.unknownObject", {
    message: `Object '${name}' does not exist or not authorized.`,
  });
}
