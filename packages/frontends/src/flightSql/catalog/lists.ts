/**
 * What tools ask about catalogs: as rows of the listing that the engine gives to this user. A listing takes a slot
 * like a query, so it is asked when its ticket is redeemed and not before.
 */
import type { Door } from "@gateway/core/port/door.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { TableListing } from "@gateway/core/port/backend.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import { encapsulatedSchema } from "@gateway/wire/flight/arrowWrite.ts";
import type { Command } from "../read/command.ts";
import { madeSource, type Source } from "../run/source.ts";
import { fieldOf } from "../value/types.ts";
import { likeOf } from "./like.ts";

/** Who asks, and whom. */
export interface Asker {
  readonly door: Door;
  readonly session: Session;
}

type Rows = readonly (readonly Value[])[];

/** A text column. */
export function textColumn(name: string, nullable = false): Column {
  return columnOf(name, { kind: "text" }, nullable);
}

/** The tables that the asker sees. */
export async function listingOf(
  { door, session }: Asker,
  signal: AbortSignal,
): Promise<Result<readonly TableListing[], GatewayError>> {
  // What routers and policies see of it: a statement that asks nothing.
  const query = door.query(readStatement("SELECT 1", session.dialect), [], session);
  const scope = await door.tables(query, signal);
  return scope.ok ? scope.value.list(signal) : scope;
}

/** Rows made of the listing, in order. */
export function listed(
  asker: Asker,
  columns: readonly Column[],
  rows: (tables: readonly TableListing[]) => Rows,
): Source {
  return madeSource(columns, async (signal) => {
    const found = await listingOf(asker, signal);
    return found.ok ? ok(batchOf(columns, rows(found.value).toSorted(byCells))) : found;
  });
}

/** As the protocol wants them: by their cells from left to right. */
function byCells(a: readonly Value[], b: readonly Value[]): number {
  for (const [index, cell] of a.entries()) {
    const other = b[index] ?? null;
    if (cell === other || typeof cell === "object" || typeof other === "object") continue;
    return cell < other ? -1 : 1;
  }
  return 0;
}

/** `CommandGetCatalogs`. */
export function catalogs({ door, session }: Asker): Source {
  const columns = [textColumn("catalog_name")];
  return madeSource(columns, async () => {
    await door.learned?.();
    const names = door.catalogs(session).toSorted();
    return ok(
      batchOf(
        columns,
        names.map((name) => [name]),
      ),
    );
  });
}

type Schemas = Extract<Command, { name: "CommandGetDbSchemas" }>["message"];

/** `CommandGetDbSchemas`. */
export function schemas(asker: Asker, { catalog, dbSchemaFilterPattern }: Schemas): Source {
  const columns = [textColumn("catalog_name", true), textColumn("db_schema_name")];
  const fits = likeOf(dbSchemaFilterPattern);
  return listed(asker, columns, (all) => {
    const pairs = new Map(
      all
        .filter((table) => catalog === undefined || table.catalog === catalog)
        .filter((table) => fits(table.schema))
        .map((table) => [JSON.stringify([table.catalog, table.schema]), table] as const),
    );
    return [...pairs.values()].map((table) => [table.catalog, table.schema]);
  });
}

/** What the protocol calls them. */
const typeNames = { table: "TABLE", view: "VIEW" } as const;

type Tables = Extract<Command, { name: "CommandGetTables" }>["message"];

/** `CommandGetTables`. */
export function tables(asker: Asker, command: Tables): Source {
  const { catalog, includeSchema, tableTypes: kinds } = command;
  const [ofSchema, ofTable] = [
    likeOf(command.dbSchemaFilterPattern),
    likeOf(command.tableNameFilterPattern),
  ];
  const columns = [
    textColumn("catalog_name", true),
    textColumn("db_schema_name", true),
    textColumn("table_name"),
    textColumn("table_type"),
    ...(includeSchema ? [columnOf("table_schema", { kind: "binary" }, false)] : []),
  ];
  return listed(asker, columns, (all) =>
    all
      .filter((table) => catalog === undefined || table.catalog === catalog)
      .filter((table) => ofSchema(table.schema) && ofTable(table.name))
      .filter(({ kind }) => kinds.length === 0 || kinds.includes(typeNames[kind]))
      .map((table) => [
        table.catalog,
        table.schema,
        table.name,
        typeNames[table.kind],
        ...(includeSchema ? [encapsulatedSchema(table.columns.map(fieldOf))] : []),
      ]),
  );
}

/** `CommandGetTableTypes`. */
export function tableTypes(): Source {
  const columns = [textColumn("table_type")];
  const rows = Object.values(typeNames).map((name) => [name]);
  return madeSource(columns, async () => ok(batchOf(columns, rows)));
}
