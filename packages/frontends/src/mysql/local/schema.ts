/**
 * `SHOW TABLES` and its kin as queries over `information_schema`, which every SQL engine here has.
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
} from "@gateway/core/sql/tokenReader.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import { ownErrors } from "../errors.ts";
import type { LocalAnswer } from "./answer.ts";
import { nextText, takeName, takeString } from "./take.ts";

const systemSchemas = "('information_schema', 'pg_catalog')";

/** What the session's defaults are. */
export interface ListingDefaults {
  readonly schema: string | undefined;
  readonly catalog: () => string | undefined;
}

/** A statement under construction: conditions and the parameters they use. */
export class Listing {
  readonly #conditions: string[] = [];
  readonly #parameters: Parameter[] = [];

  /** Adds a condition; `?` in it becomes the place of `value`. */
  where(condition: string, value?: string): void {
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

  /** The engine answers it as it is. */
  answer(select: string, order: string): LocalAnswer {
    return { kind: "rewritten", ...this.statement(select, order) };
  }
}

const like = "LIKE ? ESCAPE '\\'";

/** `SHOW {DATABASES | SCHEMAS} [LIKE 'x']`. */
export function showDatabases(reader: TokenReader, defaults: ListingDefaults): LocalAnswer {
  const listing = new Listing();
  inCatalog(listing, "catalog_name", defaults);
  const failed = takeLike(reader, listing, "schema_name");
  if (failed !== undefined) return failed;
  return listing.answer(
    'SELECT DISTINCT schema_name AS "Database" FROM information_schema.schemata',
    "1",
  );
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
  const name = quoted(`Tables_in_${schema ?? ""}`);
  const type = full
    ? `, CASE table_type WHEN 'VIEW' THEN 'VIEW' ELSE 'BASE TABLE' END AS "Table_type"`
    : "";
  return listing.answer(
    `SELECT table_name AS ${name}${type} FROM information_schema.tables`,
    "table_name",
  );
}

/** `SHOW TABLE STATUS [{FROM | IN} db] [LIKE 'x']`, behind the word STATUS. */
export function showTableStatus(reader: TokenReader, defaults: ListingDefaults): LocalAnswer {
  const listing = new Listing();
  const schema = takeSchema(reader) ?? defaults.schema;
  inCatalog(listing, "table_catalog", defaults);
  inSchema(listing, schema);
  const failed = takeLike(reader, listing, "table_name");
  if (failed !== undefined) return failed;
  const unknown = [
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
  ].map((name) => `CAST(NULL AS VARCHAR) AS "${name}"`);
  return listing.answer(
    `SELECT table_name AS "Name", CASE table_type WHEN 'VIEW' THEN NULL ELSE 'Gateway' END AS "Engine", ${unknown.join(", ")}, CASE table_type WHEN 'VIEW' THEN 'VIEW' ELSE '' END AS "Comment" FROM information_schema.tables`,
    "table_name",
  );
}

/** Conditions of the session's catalog. */
export function inCatalog(listing: Listing, column: string, defaults: ListingDefaults): void {
  const catalog = defaults.catalog();
  if (catalog !== undefined) listing.where(`${column} = ?`, catalog);
}

/** The schema that was named, or every one that is not the engine's own. */
export function inSchema(listing: Listing, schema: string | undefined, prefix = ""): void {
  if (schema === undefined) listing.where(`${prefix}table_schema NOT IN ${systemSchemas}`);
  else listing.where(`${prefix}table_schema = ?`, schema);
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
  const compared = isType
    ? "CASE table_type WHEN 'VIEW' THEN 'VIEW' ELSE 'BASE TABLE' END"
    : "table_name";
  listing.where(operator === "LIKE" ? `${compared} ${like}` : `${compared} = ?`, value);
  return undefined;
}

function takeLike(reader: TokenReader, listing: Listing, column: string): LocalAnswer | undefined {
  if (takeWords(reader, "LIKE")) {
    const pattern = takeString(reader);
    if (pattern === undefined) return syntax(reader);
    listing.where(`${column} ${like}`, pattern);
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
