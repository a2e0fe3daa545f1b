/** Lists of schemas and tables from what an engine told, filtered, sorted and cut to what an answer holds. Pure. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { TableListing } from "@gateway/core/port/backend.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { typeName } from "@gateway/core/type/name.ts";

/** Entries of one answer. */
export const listedMax = 200;
/** Columns of one table that are shown. */
const columnsMax = 2_000;

/** A part of a list, and where the next begins; undefined behind the last. */
export interface Part<T> {
  readonly items: readonly T[];
  readonly next: number | undefined;
}

export interface ToldSchema {
  readonly catalog: string;
  readonly schema: string;
  /** Tables and views in it. */
  readonly tables: number;
}

/** Schemas that hold a table, by catalog and name. */
export function schemasIn(
  tables: readonly TableListing[],
  {
    catalog,
    offset = 0,
  }: { readonly catalog?: string | undefined; readonly offset?: number | undefined },
): Part<ToldSchema> {
  const counts = new Map<string, ToldSchema>();
  for (const table of tables) {
    if (catalog !== undefined && table.catalog !== catalog) continue;
    const key = JSON.stringify([table.catalog, table.schema]);
    const count = (counts.get(key)?.tables ?? 0) + 1;
    counts.set(key, { catalog: table.catalog, schema: table.schema, tables: count });
  }
  return partOf([...counts.values()].toSorted(byPlace), offset);
}

export interface TablesWanted {
  readonly catalog?: string | undefined;
  readonly schema?: string | undefined;
  /** Names that hold this text, in any case. */
  readonly search?: string | undefined;
  readonly offset?: number | undefined;
}

export interface ToldTable {
  readonly catalog: string;
  readonly schema: string;
  readonly name: string;
  readonly kind: TableListing["kind"];
  /** How many it has. */
  readonly columns: number;
}

export function tablesIn(
  tables: readonly TableListing[],
  { catalog, schema, search, offset = 0 }: TablesWanted,
): Part<ToldTable> {
  const wanted = search?.toLowerCase();
  const found = tables
    .filter((table) => catalog === undefined || table.catalog === catalog)
    .filter((table) => schema === undefined || table.schema === schema)
    .filter((table) => wanted === undefined || table.name.toLowerCase().includes(wanted))
    .toSorted(byPlace);
  const { items, next } = partOf(found, offset);
  const told = items.map((table) => ({
    catalog: table.catalog,
    schema: table.schema,
    name: table.name,
    kind: table.kind,
    columns: table.columns.length,
  }));
  return { items: told, next };
}

export interface TableNamed {
  readonly table: string;
  readonly catalog?: string | undefined;
  readonly schema?: string | undefined;
}

/** The one table of that name. Refuses where there is none, and where several are meant. */
export function tableIn(
  tables: readonly TableListing[],
  { table, catalog, schema }: TableNamed,
): Result<TableListing, GatewayError> {
  const found = tables
    .filter(({ name }) => name === table)
    .filter((one) => catalog === undefined || one.catalog === catalog)
    .filter((one) => schema === undefined || one.schema === schema);
  const [only] = found;
  if (only === undefined) return err(noTable);
  return found.length === 1 ? ok(only) : err(severalTables);
}

/** A table with its columns and keys. */
export function toldTable({ catalog, schema, name, kind, columns, keys }: TableListing) {
  return {
    catalog,
    schema,
    name,
    kind,
    columns: columns.slice(0, columnsMax).map(toldColumn),
    ...(keys === undefined || keys.length === 0 ? {} : { keys }),
  };
}

/** A schema with all its tables, for a resource. */
export function toldSchema(
  tables: readonly TableListing[],
  place: { readonly catalog: string; readonly schema: string },
) {
  const { items, next } = tablesIn(tables, place);
  const isComplete = next === undefined;
  return { ...place, tables: items, ...(isComplete ? {} : { truncated: true }) };
}

function toldColumn({ name, type, nullable, engineType }: TableListing["columns"][number]) {
  return {
    name,
    type: typeName(type),
    nullable,
    ...(engineType === undefined ? {} : { engineType }),
  };
}

function partOf<T>(all: readonly T[], offset: number): Part<T> {
  const end = offset + listedMax;
  return { items: all.slice(offset, end), next: end < all.length ? end : undefined };
}

interface Placed {
  readonly catalog: string;
  readonly schema: string;
  readonly name?: string;
}

function byPlace(left: Placed, right: Placed): number {
  return (
    compared(left.catalog, right.catalog) ||
    compared(left.schema, right.schema) ||
    compared(left.name ?? "", right.name ?? "")
  );
}

function compared(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

const noTable = gatewayError("query.unknownObject", {
  message: "There is no such table, or it is not visible to this user.",
});
const severalTables = gatewayError("query.unknownObject", {
  message: "Several tables have this name; say its catalog and schema.",
});
