/**
 * `SHOW TABLES` and its kin as queries over `information_schema`, and for engines that have none the same
 * out of what the door lists.
 *
 * Names the client gave travel as parameters, never in the text. The text uses only what the
 * standard gives: double quotes for names, `LIKE … ESCAPE`. Without a default database a listing
 * shows every schema that is not the engine's own.
 */
import {
  atEnd,
  takeOneOf,
  takeSymbol,
  takeWords,
  type TokenReader,
} from "@gateway/core/sql/session/tokenReader.ts";
import type { TableListing } from "@gateway/core/port/backend.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import { ownErrors } from "../errors.ts";
import { textColumn, textRows, type LocalAnswer } from "./answer.ts";
import { isLike, type Row } from "./filter.ts";
import { nextText, takeName, takeString } from "./take.ts";

const systemSchemas = "('information_schema', 'pg_catalog')";

/** What the session's defaults are. */
export interface ListingDefaults {
  readonly schema: string | undefined;
  readonly catalog: () => string | undefined;
}

/** What is selected, as SQL and out of tables that were listed. */
interface Selection {
  readonly columns: readonly string[];
  readonly sql: string;
  readonly order: string;
  readonly rows: (tables: readonly TableListing[]) => readonly Row[];
}

type TableTest = (table: TableListing) => boolean;

/** A statement under construction: conditions and the parameters they use. */
export class Listing {
  readonly #conditions: string[] = [];
  readonly #parameters: Parameter[] = [];
  readonly #tests: TableTest[] = [];

  /** Adds a condition; `?` in it stands for `value`. `test` is the same condition on a listed table. */
  where(condition: string, value: string | undefined, test: TableTest): void {
    this.#tests.push(test);
    if (value !== undefined) {
      this.#parameters.push({ type: { kind: "text" }, value });
      this.#conditions.push(condition.replace("?", () => `$${this.#parameters.length}`));
    } else {
      this.#conditions.push(condition);
    }
  }

  /** The statement with its parameters. */
  statement(
    select: string,
    order: string,
  ): { readonly sql: string; readonly parameters: readonly Parameter[] } {
    const where = this.#conditions.length === 0 ? "" : ` WHERE ${this.#conditions.join(" AND ")}`;
    return { sql: `${select}${where} ORDER BY ${order}`, parameters: this.#parameters };
  }

  /** The listed tables that fit the conditions. */
  of(tables: readonly TableListing[]): readonly TableListing[] {
    return tables.filter((table) => this.#tests.every((test) => test(table)));
  }

  /** The engine answers it as it is. */
  answer({ columns, sql, order, rows }: Selection): LocalAnswer {
    return {
      kind: "rewritten",
      columns: columns.map(textColumn),
      ...this.statement(sql, order),
      listed: (tables) => textRows(columns, rows(this.of(tables))),
    };
  }
}

const like = "LIKE ? ESCAPE '\\'";

/** `SHOW {DATABASES | SCHEMAS} [LIKE 'x']`. */
export function showDatabases(reader: TokenReader, defaults: ListingDefaults): LocalAnswer {
  const listing = new Listing();
  inCatalog(listing, "catalog_name", defaults);
  const failed = takeLike(reader, listing, "schema_name");
  if (failed !== undefined) return failed;
  return listing.answer({
    columns: ["Database"],
    sql: 'SELECT DISTINCT schema_name AS "Database" FROM information_schema.schemata',
    order: "1",
    rows: (tables) =>
      [...new Set(tables.map(({ schema }) => schema))].toSorted().map((one) => [one]),
  });
}

/** `SHOW [EXTENDED] [FULL] TABLES [{FROM | IN} db] [LIKE 'x']`, behind the word TABLES. */
export function showTables(
  reader: TokenReader,
  full: boolean,
  defaults: ListingDefaults,
): LocalAnswer {
  const listing = new Listing();
  const schema = takeSchema(reader) ?? defaults.schema;
  inCatalog(listing, "table_catalog", defaults);
  inSchema(listing, schema);
  const failed = takeTablesFilter(reader, listing, schema);
  if (failed !== undefined) return failed;
  const name = `Tables_in_${schema ?? ""}`;
  const type = full ? `, ${shownType} AS "Table_type"` : "";
  return listing.answer({
    columns: full ? [name, "Table_type"] : [name],
    sql: `SELECT table_name AS ${quoted(name)}${type} FROM information_schema.tables`,
    order: "table_name",
    rows: (tables) =>
      byName(tables).map((table) => (full ? [table.name, typeOf(table)] : [table.name])),
  });
}

/** `SHOW TABLE STATUS [{FROM | IN} db] [LIKE 'x']`, behind the word STATUS. */
export function showTableStatus(reader: TokenReader, defaults: ListingDefaults): LocalAnswer {
  const listing = new Listing();
  const schema = takeSchema(reader) ?? defaults.schema;
  inCatalog(listing, "table_catalog", defaults);
  inSchema(listing, schema);
  const failed = takeLike(reader, listing, "table_name");
  if (failed !== undefined) return failed;
  const unknown = unknownStatus.map((name) => `CAST(NULL AS VARCHAR) AS "${name}"`);
  return listing.answer({
    columns: ["Name", "Engine", ...unknownStatus, "Comment"],
    sql: `SELECT table_name AS "Name", CASE table_type WHEN 'VIEW' THEN NULL ELSE 'Gateway' END AS "Engine", ${unknown.join(", ")}, CASE table_type WHEN 'VIEW' THEN 'VIEW' ELSE '' END AS "Comment" FROM information_schema.tables`,
    order: "table_name",
    rows: (tables) =>
      byName(tables).map(({ name, kind }) => {
        const [engine, comment] = kind === "view" ? [null, "VIEW"] : ["Gateway", ""];
        return [name, engine, ...unknownStatus.map(() => null), comment];
      }),
  });
}

/** Fields of a table's status that no engine here tells. */
const unknownStatus = [
  "Version",
  "Row_format",
  "Rows",
  "Avg_row_length",
  "Data_length",
  "Max_data_length",
  "Index_length",
  "Data_free",
  "Auto_increment",
  "Create_time",
  "Update_time",
  "Check_time",
  "Collation",
  "Checksum",
  "Create_options",
];

const shownType = "CASE table_type WHEN 'VIEW' THEN 'VIEW' ELSE 'BASE TABLE' END";

function typeOf({ kind }: TableListing): string {
  return kind === "view" ? "VIEW" : "BASE TABLE";
}

function byName(tables: readonly TableListing[]): readonly TableListing[] {
  return tables.toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

/** Conditions of the session's catalog. */
export function inCatalog(listing: Listing, column: string, defaults: ListingDefaults): void {
  const catalog = defaults.catalog();
  if (catalog === undefined) return;
  listing.where(`${column} = ?`, catalog, (table) => table.catalog === catalog);
}

/** The schema that was named, or every one that is not the engine's own. */
export function inSchema(listing: Listing, schema: string | undefined, prefix = ""): void {
  // The door lists none of them.
  const notSystem = `${prefix}table_schema NOT IN ${systemSchemas}`;
  if (schema === undefined) return listing.where(notSystem, undefined, () => true);
  listing.where(`${prefix}table_schema = ?`, schema, (table) => table.schema === schema);
}

/** `{FROM | IN} db`. */
export function takeSchema(reader: TokenReader): string | undefined {
  return takeOneOf(reader, ["FROM", "IN"]) === undefined ? undefined : takeName(reader);
}

/** DBD::mysql and others ask `WHERE Table_type = 'BASE TABLE'`. */
function takeTablesFilter(
  reader: TokenReader,
  listing: Listing,
  schema: string | undefined,
): LocalAnswer | undefined {
  if (!takeWords(reader, "WHERE")) return takeLike(reader, listing, "table_name");
  const column = takeName(reader)?.toLowerCase();
  const isType = column === "table_type";
  if (!isType && column !== `tables_in_${schema ?? ""}`.toLowerCase()) return syntax(reader);
  const operator = takeWords(reader, "LIKE") ? "LIKE" : takeSymbol(reader, "=") ? "=" : undefined;
  const value = takeString(reader);
  if (operator === undefined || value === undefined || !atEnd(reader)) return syntax(reader);
  const compared = isType ? shownType : "table_name";
  const of = (table: TableListing): string => (isType ? typeOf(table) : table.name);
  if (operator === "LIKE") {
    listing.where(`${compared} ${like}`, value, (table) => isLike(of(table), value));
  } else listing.where(`${compared} = ?`, value, (table) => of(table) === value);
  return undefined;
}

function takeLike(
  reader: TokenReader,
  listing: Listing,
  column: "schema_name" | "table_name",
): LocalAnswer | undefined {
  if (takeWords(reader, "LIKE")) {
    const pattern = takeString(reader);
    if (pattern === undefined) return syntax(reader);
    listing.where(`${column} ${like}`, pattern, ({ schema, name }) =>
      isLike(column === "schema_name" ? schema : name, pattern),
    );
  }
  return atEnd(reader) ? undefined : syntax(reader);
}

/** A syntax error where the reader stands. */
export function syntax(reader: TokenReader): LocalAnswer {
  return { kind: "error", reply: ownErrors.syntax(nextText(reader)) };
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
