/**
 * What a driver says about its tables, on the thread that calls the driver: `GetObjects` flattened into
 * tables, `GetTableSchema` for single ones.
 *
 * A driver answers with one row a catalog, in which everything else is nested, and leaves out most of it.
 * Fields are found by name. Nothing is taken beyond the limits of the request, and nothing else of the
 * driver's memory is kept.
 */
import type { TableKey } from "@gateway/core/port/backend.ts";
import { err, ok } from "@gateway/core/result.ts";
import { valueAt } from "@gateway/core/type/value.ts";
import { isNull, type Vector } from "@gateway/core/type/vector.ts";
import { statusNotImplemented } from "../memory/abi.ts";
import { isPresent, readSchema, releaseSchema } from "../arrow/cdata.ts";
import type { Connection } from "./connection.ts";
import { failureOf, type AdbcFailure, type AdbcResult } from "../driver.ts";
import { Gatherer } from "../arrow/gather.ts";
import { readBatchMessage } from "../arrow/ipc.ts";
import { layoutOf, type Layout } from "../arrow/layout.ts";
import type { ListedColumn, ListedTable, ObjectsRequest, SchemasRequest } from "../message.ts";
import type { StatementTools } from "./statement.ts";
import {
  layoutsOf,
  messageOf,
  nextOf,
  releaseStream,
  streamFailure,
  streamSchema,
} from "./stream.ts";

const cancelled = failureOf("cancelled", "the listing was cancelled");
const notImplemented: AdbcFailure = {
  ...failureOf("driver", "the driver lists nothing"),
  status: statusNotImplemented,
};
/** `ADBC_OBJECT_DEPTH_…`, as a number that is passed like an address. */
const depths = { columns: 0, tables: 3 } as const satisfies Record<ObjectsRequest["depth"], number>;
const catalogDepth = 1;
const catalogsMax = 1_000;
/** Tables and columns that travel in one message. */
const messageEntries = 2_000;
/** All names together; a name is a few bytes. */
const textMax = 64 << 20;

/** Sends the tables of every catalog; answers whether those were all. */
export function listObjects(
  connection: Connection,
  { depth, entriesMax }: ObjectsRequest,
  tools: StatementTools,
): AdbcResult<boolean> {
  const sender = new TableSender(tools, entriesMax);
  const failure = eachBatch(connection, depths[depth], tools, (batch) =>
    sender.sendAll(tablesIn(batch)),
  );
  return failure === undefined ? sender.end() : err(failure);
}

/** Names of the catalogs, those that have one, at most `catalogsMax`. */
export function catalogNames(
  connection: Connection,
  tools: StatementTools,
): AdbcResult<readonly string[]> {
  const found: string[] = [];
  const failure = eachBatch(connection, catalogDepth, tools, (batch) => {
    const names = named(batch, "catalog_name");
    for (let row = 0; row < batch.rows && found.length < catalogsMax; row += 1) {
      found.push(textAt(names, row) ?? "");
    }
    return found.length < catalogsMax ? undefined : "enough";
  });
  return failure === undefined ? ok(found.filter((name) => name !== "")) : err(failure);
}

/** The columns of single tables, in their order; undefined for one of which the driver says nothing. */
export function tableSchemas(
  connection: Connection,
  { tables }: SchemasRequest,
  { control, structs }: StatementTools,
): AdbcResult<readonly (ArrayBuffer | undefined)[]> {
  const found: (ArrayBuffer | undefined)[] = [];
  control.begin(connection.address, "connection");
  try {
    for (const table of tables) {
      if (control.cancelled) return err(cancelled);
      found.push(schemaOf(connection, table, structs));
    }
  } finally {
    control.end();
  }
  return ok(found);
}

function schemaOf(
  { driver, address }: Connection,
  { catalog, schema, name }: TableName,
  structs: StatementTools["structs"],
): ArrayBuffer | undefined {
  const block = structs.schema;
  block.clear();
  const call = "ConnectionGetTableSchema";
  const failure = driver.call(call, address, catalog ?? null, schema ?? null, name, block.address);
  if (failure !== undefined) return undefined;
  const { children } = readSchema(block.address);
  releaseSchema(block.address);
  const shape = children.map((field) => {
    const layout = layoutOf(field);
    return layout.ok ? layout.value : undefined;
  });
  return messageOf(children, shape);
}

type TableName = SchemasRequest["tables"][number];

/** Reads what the driver lists until it ends, `take` has enough or something fails. */
function eachBatch(
  { driver, address }: Connection,
  depth: number,
  { control, structs }: StatementTools,
  take: Take,
): AdbcFailure | undefined {
  if (control.cancelled) return cancelled;
  // A driver manager would answer this for a driver that leaves the place empty.
  if (!driver.has("ConnectionGetObjects")) return notImplemented;
  control.begin(address, "connection");
  const { stream } = structs;
  stream.clear();
  try {
    const all = [null, null, null, 0, null] as const;
    const refused = driver.call("ConnectionGetObjects", address, depth, ...all, stream.address);
    if (refused !== undefined) return refused;
    const fields = streamSchema(driver, structs);
    if (!fields.ok) return fields.error;
    const shape = layoutsOf(fields.value);
    if (!shape.ok) return shape.error;
    const names = fields.value.map(({ name }) => name);
    using gatherer = new Gatherer(shape.value, structs.arrays);
    const next = nextOf(stream);
    for (;;) {
      if (control.cancelled) return cancelled;
      if (Number(next(stream.address, gatherer.next)) !== 0) return streamFailure(driver, stream);
      if (!isPresent(gatherer.next)) return undefined;
      gatherer.take();
      const ended = takeHeld(gatherer, { names, shape: shape.value }, take);
      if (ended !== undefined) return ended === "enough" ? undefined : ended;
    }
  } finally {
    releaseStream(stream);
    control.end();
  }
}

/** Hands over everything gathered, until `take` wants no more. */
function takeHeld(
  gatherer: Gatherer,
  { names, shape }: { readonly names: readonly string[]; readonly shape: readonly Layout[] },
  take: Take,
): ReturnType<Take> {
  const types = shape.map(({ type }) => type);
  for (const message of gatherer.messages()) {
    const { columns, rows } = readBatchMessage(message, types);
    const ended = take({ names, columns, rows });
    if (ended !== undefined) return ended;
  }
  return undefined;
}

type Take = (batch: ObjectsBatch) => AdbcFailure | "enough" | undefined;

/** Sends tables in messages of a good size, up to the limits. */
class TableSender {
  readonly #tools: StatementTools;
  readonly #entriesMax: number;
  #tables: ListedTable[] = [];
  #held = 0;
  #entries = 0;
  #text = 0;
  #complete = true;

  constructor(tools: StatementTools, entriesMax: number) {
    this.#tools = tools;
    this.#entriesMax = entriesMax;
  }

  /** `enough` when there are more than the limits allow. */
  sendAll(tables: Iterable<ListedTable>): AdbcFailure | "enough" | undefined {
    for (const table of tables) {
      const entries = 1 + (table.columns?.length ?? 0);
      this.#entries += entries;
      this.#text += textOf(table);
      this.#complete = this.#entries <= this.#entriesMax && this.#text <= textMax;
      if (!this.#complete) return "enough";
      this.#tables.push(table);
      this.#held += entries;
      if (this.#held >= messageEntries && !this.#send()) return cancelled;
    }
    return undefined;
  }

  end(): AdbcResult<boolean> {
    return this.#tables.length === 0 || this.#send() ? ok(this.#complete) : err(cancelled);
  }

  #send(): boolean {
    if (!this.#tools.control.takeCredit()) return false;
    this.#tools.unsent.push({ kind: "tables", tables: this.#tables });
    this.#tools.flush();
    this.#tables = [];
    this.#held = 0;
    return true;
  }
}

function textOf({ name, columns = [] }: ListedTable): number {
  return columns.reduce(
    (sum, one) => sum + one.name.length + (one.typeName?.length ?? 0),
    name.length,
  );
}

/** Columns of a result, or fields of a struct, by their names. */
interface Fields {
  readonly names: readonly string[];
  readonly columns: readonly Vector[];
}

interface ObjectsBatch extends Fields {
  readonly rows: number;
}

function* tablesIn(batch: ObjectsBatch): Generator<ListedTable, void, void> {
  const { rows } = batch;
  const catalogName = named(batch, "catalog_name");
  const schemas = named(batch, "catalog_db_schemas");
  const inSchemas = itemsOf(schemas);
  const schemaName = named(inSchemas, "db_schema_name");
  const tables = named(inSchemas, "db_schema_tables");
  const inTables = itemsOf(tables);
  const read = tableReader(inTables);
  for (let row = 0; row < rows; row += 1) {
    const catalog = textAt(catalogName, row);
    for (const schemaRow of rangeOf(schemas, row)) {
      const schema = textAt(schemaName, schemaRow);
      // One by one, because whoever takes them may stop.
      for (const at of rangeOf(tables, schemaRow)) yield read(at, { catalog, schema });
    }
  }
}

type Within = Pick<ListedTable, "catalog" | "schema">;

function tableReader(inTables: Fields): (row: number, within: Within) => ListedTable {
  const tableName = named(inTables, "table_name");
  const tableType = named(inTables, "table_type");
  const columns = named(inTables, "table_columns");
  const column = columnReader(itemsOf(columns));
  const constraints = named(inTables, "table_constraints");
  const key = keyReader(itemsOf(constraints));
  return (row, within) => {
    const listed = columnsOf(rangeOf(columns, row), column);
    return {
      ...within,
      name: textAt(tableName, row) ?? "",
      type: textAt(tableType, row) ?? "",
      // Drivers that were not asked for columns answer NULL or an empty list.
      columns: listed.length === 0 ? undefined : listed,
      keys: [...rangeOf(constraints, row)].flatMap((at) => key(at, within)),
    };
  };
}

type ReadColumn = (row: number) => { readonly column: ListedColumn; readonly ordinal: number };

/** In the order of their ordinals, where the driver says them. */
function columnsOf(rows: Iterable<number>, read: ReadColumn): readonly ListedColumn[] {
  const found = [...rows].map(read);
  return found.toSorted((left, right) => left.ordinal - right.ordinal).map(({ column }) => column);
}

function columnReader(fields: Fields): ReadColumn {
  const name = named(fields, "column_name");
  const ordinal = named(fields, "ordinal_position");
  const typeName = named(fields, "xdbc_type_name");
  const typeCode = named(fields, "xdbc_data_type");
  const size = named(fields, "xdbc_column_size");
  const digits = named(fields, "xdbc_decimal_digits");
  const nullable = named(fields, "xdbc_is_nullable");
  const nullableCode = named(fields, "xdbc_nullable");
  return (row) => ({
    ordinal: numberAt(ordinal, row) ?? 0,
    column: {
      name: textAt(name, row) ?? "",
      typeName: textAt(typeName, row),
      typeCode: numberAt(typeCode, row),
      size: numberAt(size, row),
      digits: numberAt(digits, row),
      nullable: textAt(nullable, row) !== "NO" && numberAt(nullableCode, row) !== 0,
    },
  });
}

function keyReader(fields: Fields): (row: number, within: Within) => readonly TableKey[] {
  const type = named(fields, "constraint_type");
  const names = named(fields, "constraint_column_names");
  const usage = named(fields, "constraint_column_usage");
  const used = itemsOf(usage);
  const [catalogs, schemas, tables, columns] = [
    "fk_catalog",
    "fk_db_schema",
    "fk_table",
    "fk_column_name",
  ].map((name) => named(used, name));
  return (row, within) => {
    const own = [...rangeOf(names, row)].map((at) => textAt(names?.children[0], at) ?? "");
    const word = textAt(type, row)?.toUpperCase() ?? "";
    if (own.length === 0) return [];
    if (word === "PRIMARY KEY") return [{ kind: "primary", columns: own }];
    if (word === "UNIQUE") return [{ kind: "unique", columns: own }];
    if (word !== "FOREIGN KEY") return [];
    const columnRows = [...rangeOf(usage, row)];
    const [first = -1] = columnRows;
    const table = first < 0 ? undefined : textAt(tables, first);
    const isNear =
      (textAt(schemas, first) ?? within.schema) === within.schema &&
      (textAt(catalogs, first) ?? within.catalog) === within.catalog;
    // A key of another schema has no place in a listing.
    if (table === undefined || !isNear || columnRows.length !== own.length) return [];
    const tableColumns = columnRows.map((at) => textAt(columns, at) ?? "");
    return [{ kind: "foreign", columns: own, table, tableColumns }];
  };
}

const noFields: Fields = { names: [], columns: [] };

/** The fields of the structs that a column of lists holds. */
function itemsOf(lists: Vector | undefined): Fields {
  const items = lists?.type.kind === "list" ? lists.children[0] : undefined;
  if (items?.type.kind !== "struct") return noFields;
  return { names: items.type.fields.map(({ name }) => name), columns: items.children };
}

function named({ names, columns }: Fields, name: string): Vector | undefined {
  return columns[names.indexOf(name)];
}

/** Rows of the items that a list holds. */
function* rangeOf(lists: Vector | undefined, row: number): Generator<number, void, void> {
  if (lists?.offsets === undefined || row < 0 || isNull(lists, row)) return;
  const end = lists.offsets[lists.offset + row + 1] ?? 0;
  for (let at = lists.offsets[lists.offset + row] ?? 0; at < end; at += 1) yield at;
}

function textAt(vector: Vector | undefined, row: number): string | undefined {
  if (vector === undefined || row < 0 || vector.type.kind !== "text") return undefined;
  const value = valueAt(vector, row);
  return typeof value === "string" ? value : undefined;
}

function numberAt(vector: Vector | undefined, row: number): number | undefined {
  if (vector === undefined || row < 0 || vector.type.kind !== "integer") return undefined;
  const value = valueAt(vector, row);
  return typeof value === "bigint" ? Number(value) : undefined;
}
