/** What there is to query, out of the rows of a profile's `tablesSql`. */
import type { TableIndex, TableKey, TableListing } from "@gateway/core/port/backend.ts";
import type { Column, DataType, Value } from "@gateway/core/type/type.ts";
import { typeOfName } from "./types.ts";

/** Rows as tables; those of one table stand together. */
export function tablesOf(rows: readonly (readonly Value[])[]): readonly TableListing[] {
  const tables: TableListing[] = [];
  let columns: Column[] = [];
  for (const row of rows) {
    const [catalog, schema, name, kind, column, type, nullable, keys, indexes] = row;
    const last = tables.at(-1);
    const same = last?.name === name && last?.schema === schema && last?.catalog === catalog;
    if (!same) {
      columns = [];
      const known = partsOf(keys, keyOf);
      const others = partsOf(indexes, indexOf);
      tables.push({
        catalog: textOf(catalog),
        schema: textOf(schema),
        name: textOf(name),
        kind: textOf(kind).toUpperCase().includes("VIEW") ? "view" : "table",
        columns,
        ...(known === undefined ? {} : { keys: known }),
        ...(others === undefined ? {} : { indexes: others }),
      });
    }
    const engineType = textOf(type);
    columns.push({
      name: textOf(column),
      type: typeNamed(engineType),
      nullable: textOf(nullable) !== "NO",
      engineType,
    });
  }
  return tables;
}

/** The type of a name, also of PostgreSQL's arrays, which may have any number of dimensions. */
function typeNamed(name: string): DataType {
  return name.endsWith("[]")
    ? { kind: "list", item: typeOfName(name.slice(0, -2)) }
    : typeOfName(name);
}

/** Keys or indexes out of a cell of JSON; undefined for a profile that does not tell them. */
function partsOf<Part>(
  cell: Value | undefined,
  partOf: (part: readonly unknown[]) => readonly Part[],
): readonly Part[] | undefined {
  if (typeof cell !== "string") return undefined;
  return listOf(JSON.parse(cell)).flatMap((part) => partOf(listOf(part)));
}

function keyOf([kind, said, names, other, otherNames]: readonly unknown[]): readonly TableKey[] {
  const name = String(said);
  const columns = listOf(names).map(String);
  switch (kind) {
    case "p":
      return [{ kind: "primary", name, columns }];
    case "u":
      return [{ kind: "unique", name, columns }];
    case "f":
      return [
        {
          kind: "foreign",
          name,
          columns,
          table: String(other),
          tableColumns: listOf(otherNames).map(String),
        },
      ];
    default:
      return [];
  }
}

function indexOf([name, unique, columns]: readonly unknown[]): readonly TableIndex[] {
  return [{ name: String(name), unique: unique === true, columns: listOf(columns).map(String) }];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A cell of text; NULL is empty. */
export function textOf(value: Value | undefined): string {
  return typeof value === "string" ? value : "";
}
