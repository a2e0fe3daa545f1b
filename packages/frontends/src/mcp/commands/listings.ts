/** The tools that say what there is to query. The engine is asked as the caller, so nobody sees more than their own. */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { GatewayError } from "@gateway/core/error.ts";
import type { TableListing } from "@gateway/core/port/backend.ts";
import { readStatement } from "@gateway/core/sql/statement.ts";
import type { z } from "zod";
import { schemasIn, tableIn, tablesIn, toldTable, type TablesWanted } from "../catalog/listing.ts";
import { tableText } from "../encode.ts";
import { sessionOf } from "../session/session.ts";
import type { Call, Served } from "./context.ts";
import { dataNote, failedResult, resultOf, type ToolResult } from "./result.ts";
import type { describeInput, schemasInput } from "./schemas.ts";

export async function listCatalogs(_args: object, call: Call, served: Served): Promise<ToolResult> {
  const session = sessionOf(call.caller, {}, "generic");
  if (!session.ok) return failedResult(session.error);
  await served.door.learned?.();
  const catalogs = served.door.catalogs(session.value);
  const rows = catalogs.map((name) => [name]);
  return resultOf(listText("catalogs", ["catalog"], rows, undefined), { catalogs });
}

export async function listSchemas(
  args: z.output<typeof schemasInput>,
  call: Call,
  served: Served,
): Promise<ToolResult> {
  const tables = await tablesOf(call, served);
  if (!tables.ok) return failedResult(tables.error);
  const { items, next } = schemasIn(tables.value, args);
  const rows = items.map(({ catalog, schema, tables: count }) => [catalog, schema, count]);
  const text = listText("schemas", ["catalog", "schema", "tables"], rows, next);
  return resultOf(text, { schemas: items, ...(next === undefined ? {} : { next }) });
}

export async function listTables(
  args: TablesWanted,
  call: Call,
  served: Served,
): Promise<ToolResult> {
  const tables = await tablesOf(call, served);
  if (!tables.ok) return failedResult(tables.error);
  const { items, next } = tablesIn(tables.value, args);
  const rows = items.map(({ catalog, schema, name, kind, columns }) => [
    catalog,
    schema,
    name,
    kind,
    columns,
  ]);
  const text = listText("tables", ["catalog", "schema", "name", "kind", "columns"], rows, next);
  return resultOf(text, { tables: items, ...(next === undefined ? {} : { next }) });
}

export async function describeTable(
  args: z.output<typeof describeInput>,
  call: Call,
  served: Served,
): Promise<ToolResult> {
  const tables = await tablesOf(call, served);
  const found = tables.ok ? tableIn(tables.value, args) : tables;
  if (!found.ok) return failedResult(found.error);
  const table = toldTable(found.value);
  const rows = table.columns.map(({ name, type, nullable, engineType }) => [
    name,
    type,
    nullable ? "nullable" : "not null",
    engineType ?? "",
  ]);
  const text = listText("columns", ["name", "type", "null", "engine type"], rows, undefined);
  return resultOf(text, { table });
}

/** The tables that the caller may see where its statements go. */
export async function tablesOf(
  { caller, signal }: Call,
  { door }: Served,
): Promise<Result<readonly TableListing[], GatewayError>> {
  const session = sessionOf(caller, {}, "generic");
  if (!session.ok) return err(session.error);
  const query = door.query(readStatement(listingSql, "generic"), [], session.value);
  const scope = await door.tables(query, signal);
  if (!scope.ok) return scope;
  const listed = await scope.value.list(signal);
  return listed.ok ? ok(listed.value) : listed;
}

/** What routers and policies see of a listing. */
const listingSql = "SHOW TABLES";

function listText(
  what: string,
  names: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  next: number | undefined,
): string {
  const more = next === undefined ? "" : ` More follow: ask again with offset ${next}.`;
  return [`${rows.length} ${what}.${more}`, dataNote, tableText(names, rows)].join("\n");
}
