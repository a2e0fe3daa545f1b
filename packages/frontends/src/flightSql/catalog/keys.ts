/** Keys of tables, where the engine tells them. */
import type { TableKey, TableListing } from "@gateway/core/port/backend.ts";
import { columnOf } from "@gateway/core/type/build.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import type { Command } from "../read/command.ts";
import type { Source } from "../run/source.ts";
import { listed, textColumn, type Asker } from "./lists.ts";

const integer = (name: string): Column =>
  columnOf(name, { kind: "integer", bits: 32, signed: true }, false);
const rule = (name: string): Column =>
  columnOf(name, { kind: "integer", bits: 8, signed: false }, false);

/** What a message says of a table; a part that is left out fits every one. */
interface Named {
  readonly catalog?: string | undefined;
  readonly schema?: string | undefined;
  readonly table: string;
}

function isNamed(listing: TableListing, { catalog, schema, table }: Named): boolean {
  return (
    listing.name === table &&
    (catalog === undefined || listing.catalog === catalog) &&
    (schema === undefined || listing.schema === schema)
  );
}

type Primary = Extract<Command, { name: "CommandGetPrimaryKeys" }>["message"];

/** `CommandGetPrimaryKeys`. */
export function primaryKeys(asker: Asker, { catalog, dbSchema, table }: Primary): Source {
  const columns = [
    textColumn("catalog_name", true),
    textColumn("db_schema_name", true),
    textColumn("table_name"),
    textColumn("column_name"),
    textColumn("key_name", true),
    integer("key_sequence"),
  ];
  return listed(asker, columns, (tables) =>
    tables
      .filter((listing) => isNamed(listing, { catalog, schema: dbSchema, table }))
      .flatMap((listing) =>
        (listing.keys ?? [])
          .filter(({ kind }) => kind === "primary")
          .flatMap((key) =>
            key.columns.map((column, index) => [
              listing.catalog,
              listing.schema,
              listing.name,
              column,
              key.name ?? null,
              BigInt(index + 1),
            ]),
          ),
      ),
  );
}

const foreignColumns: readonly Column[] = [
  textColumn("pk_catalog_name", true),
  textColumn("pk_db_schema_name", true),
  textColumn("pk_table_name"),
  textColumn("pk_column_name"),
  textColumn("fk_catalog_name", true),
  textColumn("fk_db_schema_name", true),
  textColumn("fk_table_name"),
  textColumn("fk_column_name"),
  integer("key_sequence"),
  textColumn("fk_key_name", true),
  textColumn("pk_key_name", true),
  rule("update_rule"),
  rule("delete_rule"),
];

/** `NO ACTION`: no engine's listing has another. */
const noAction = 3n;

/** `CommandGetExportedKeys`, `CommandGetImportedKeys` and `CommandGetCrossReference`. */
export function foreignKeys(asker: Asker, to: Named | undefined, from: Named | undefined): Source {
  return listed(asker, foreignColumns, (tables) =>
    tables
      .filter((listing) => from === undefined || isNamed(listing, from))
      .flatMap((listing) => (listing.keys ?? []).flatMap((key) => rowsOf(listing, key, to))),
  );
}

function rowsOf(
  { catalog, schema, name }: TableListing,
  key: TableKey,
  to: Named | undefined,
): readonly (readonly Value[])[] {
  if (key.kind !== "foreign") return [];
  // A foreign key leads to a table of the same schema.
  const target: TableListing = { catalog, schema, name: key.table, kind: "table", columns: [] };
  if (to !== undefined && !isNamed(target, to)) return [];
  return key.columns.map((column, index) => [
    catalog,
    schema,
    key.table,
    key.tableColumns[index] ?? "",
    catalog,
    schema,
    name,
    column,
    BigInt(index + 1),
    key.name ?? null,
    null,
    noAction,
    noAction,
  ]);
}
