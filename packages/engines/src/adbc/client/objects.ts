/**
 * Tables and columns as the driver itself lists them, for databases that nobody here knows how to ask in
 * SQL.
 *
 * A driver may say too little of a column for a type, or list tables without columns. Then the table's own
 * schema is asked for: some tables at a time, up to a limit.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import type { TableListing } from "@gateway/core/port/backend.ts";
import { typeName } from "@gateway/core/type/name.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Column, DataType } from "@gateway/core/type/type.ts";
import { statusNotImplemented } from "../../native/memory/abi.ts";
import { failureOf, type AdbcFailure } from "../../native/driver.ts";
import { readSchemaMessage } from "../../native/arrow/ipc.ts";
import {
  namelessCatalog,
  namelessSchema,
  type ListedColumn,
  type ListedTable,
  type ConnectionStep,
} from "../../native/message.ts";
import type { Taken } from "./connections.ts";
import { knownTypeOf, knownTypeOfCode, withTypeNames } from "../types.ts";

/** How much is asked for. */
export interface ObjectLimits {
  /** Most tables and columns together. */
  readonly entriesMax: number;
  /** Most tables whose columns are asked for by themselves, and how long that may go on. */
  readonly schemasMax: number;
  readonly schemasMs: number;
}

export const objectLimits: ObjectLimits = {
  entriesMax: 200_000,
  schemasMax: 2_000,
  schemasMs: 15_000,
};

/** Tables asked for at once: the process answers them in one message. */
const schemasAtOnce = 50;

/** What a listing runs on. */
export interface ListingContext {
  readonly taken: Pick<Taken, "database"> & {
    readonly thread: Pick<Taken["thread"], "ask" | "list">;
  };
  /** Steps that the connection takes first. */
  readonly before: readonly ConnectionStep[];
  readonly clock: Pick<Clock, "nowMs">;
  readonly limits: ObjectLimits;
}

/** Names of the catalogs; none where the driver has no such function. */
export async function listCatalogs(
  { taken: { thread, database }, before }: ListingContext,
  signal: AbortSignal,
): Promise<Result<readonly string[], AdbcFailure>> {
  const answer = await thread.ask({ kind: "catalogs", catalogs: { database, before } }, signal);
  if (!answer.ok) return answer.error.status === statusNotImplemented ? ok([]) : answer;
  if (answer.value.kind !== "catalogs") throw new Error("catalogs answered by something else");
  return ok(answer.value.names);
}

/** Lists the tables; none where the driver has no such function. An abort cancels the driver. */
export async function listObjects(
  context: ListingContext,
  signal: AbortSignal,
): Promise<Result<readonly TableListing[], AdbcFailure>> {
  const detailed = await listed(context, "columns", signal);
  // One table whose columns a server can not name must not hide the others.
  const found =
    detailed.ok || !isServers(detailed.error) ? detailed : await listed(context, "tables", signal);
  if (!found.ok) return found.error.status === statusNotImplemented ? ok([]) : found;
  const tables = found.value.filter(isShown);
  const schemas = await schemasOf(context, tables, signal);
  if (!schemas.ok) return schemas;
  return ok(tables.map((table, index) => listingOf(table, schemas.value.get(index))));
}

async function listed(
  { taken: { thread, database }, before, limits: { entriesMax } }: ListingContext,
  depth: "tables" | "columns",
  signal: AbortSignal,
): Promise<Result<readonly ListedTable[], AdbcFailure>> {
  const tables: ListedTable[] = [];
  const stream = thread.list({ database, before, depth, entriesMax }, signal);
  for (;;) {
    const step = await stream.next();
    if (step.done === true) return step.value.ok ? ok(tables) : step.value;
    for (const table of step.value) tables.push(table);
  }
}

/** Whether the driver or its server failed, and not we or a cancel. */
function isServers({ code, status }: AdbcFailure): boolean {
  return code === "driver" && status !== statusNotImplemented;
}

/** Columns of the tables that need them, by the index of the table. */
async function schemasOf(
  { taken: { thread, database }, before, clock, limits }: ListingContext,
  tables: readonly ListedTable[],
  signal: AbortSignal,
): Promise<Result<ReadonlyMap<number, readonly Column[]>, AdbcFailure>> {
  const indexes = [...tables.keys()].filter((index) => needsSchema(tables[index]));
  const wanted = indexes.slice(0, limits.schemasMax);
  const found = new Map<number, readonly Column[]>();
  const untilMs = clock.nowMs() + limits.schemasMs;
  for (let from = 0; from < wanted.length && clock.nowMs() < untilMs; from += schemasAtOnce) {
    const some = wanted.slice(from, from + schemasAtOnce);
    const names = some.flatMap((index) => nameOf(tables[index]));
    const schemas = { database, before, tables: names };
    const answer = await thread.ask({ kind: "schemas", schemas }, signal);
    if (signal.aborted) return err(failureOf("cancelled", "the listing was cancelled"));
    if (!answer.ok) return answer;
    if (answer.value.kind !== "schemas") throw new Error("schemas answered by something else");
    for (const [at, message] of answer.value.schemas.entries()) {
      const index = some[at];
      if (index === undefined || message === undefined) continue;
      found.set(index, withTypeNames(readSchemaMessage(message)));
    }
  }
  return ok(found);
}

function nameOf(
  table: ListedTable | undefined,
): readonly Pick<ListedTable, "catalog" | "schema" | "name">[] {
  if (table === undefined) return [];
  const { catalog, schema, name } = table;
  return [{ catalog, schema, name }];
}

function needsSchema(table: ListedTable | undefined): boolean {
  return table?.columns?.every((column) => typeOf(column) !== undefined) !== true;
}

function typeOf({ typeName: name, typeCode, size, digits }: ListedColumn): DataType | undefined {
  const known = name === undefined ? undefined : knownTypeOf(name);
  return (
    known ?? (typeCode === undefined ? undefined : knownTypeOfCode(typeCode, { size, digits }))
  );
}

/** Catalogs of the engine itself, and what only looks like a table. */
function isShown({ schema, name, type }: ListedTable): boolean {
  const isOwn = /^(?:information_schema|pg_catalog|pg_toast)$/i.test(schema ?? "");
  return name !== "" && !isOwn && !/system|index|sequence|toast/i.test(type);
}

/**
 * A database with catalogs and no schemas writes its tables as `catalog.table`. Clients always show and
 * write a schema, so the catalog's name stands for it.
 */
function listingOf(table: ListedTable, columns: readonly Column[] | undefined): TableListing {
  const { catalog = "", schema = "", name, type, keys } = table;
  return {
    catalog: catalog === "" ? namelessCatalog : catalog,
    schema: schema === "" ? (catalog === "" ? namelessSchema : catalog) : schema,
    name,
    kind: /view/i.test(type) ? "view" : "table",
    columns: columns ?? (table.columns ?? []).map(columnOf),
    keys,
  };
}

function columnOf(column: ListedColumn): Column {
  const type = typeOf(column) ?? { kind: "text" };
  const { name, nullable, typeName: own } = column;
  const shown = own === undefined || own === "" ? typeName(type) : own;
  return { name, type, nullable, engineType: shown.toUpperCase() };
}
