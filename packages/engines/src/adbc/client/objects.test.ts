/** Tables as a driver itself lists them: what is made of its answers, and DuckDB's driver against DuckDB's own SQL. */
import type { Backend, TableListing } from "@gateway/core/port/backend.ts";
import { err, ok } from "@gateway/core/result.ts";
import type { Column } from "@gateway/core/type/type.ts";
import { describe, expect, it } from "vitest";
import { failureOf, type AdbcFailure, type AdbcResult } from "../../native/driver.ts";
import type { TableStream } from "../../native/reach/driverThread.ts";
import { duckDbDriver } from "../../duckDb/library/library.ts";
import { schemaMessage } from "../../native/arrow/ipc.ts";
import type { Reply, ListedColumn, ListedTable, ObjectsRequest } from "../../native/message.ts";
import { hostOf, identifiedOf, never, ran, valueOf } from "../../rig/backend.ts";
import { backendOf } from "../adapter.ts";
import { adbcConfig } from "../config.ts";
import { processLimits } from "./connections.ts";
import { listObjects, objectLimits, type ListingContext } from "./objects.ts";
import { databaseOptions } from "../options.ts";
import { profileOf, type Profile } from "../profile.ts";

const refused: AdbcFailure = { ...failureOf("driver", "invalid type"), status: 9, vendorCode: 2 };
const missing: AdbcFailure = { ...failureOf("driver", "not implemented"), status: 2 };

describe("listObjects", () => {
  it("reads a type out of the vendor's name, or of its number", async () => {
    const columns = [
      columnOf("a", { typeName: "int8" }),
      columnOf("b", { typeCode: -5 }),
      columnOf("c", { typeName: "DECIMAL(12,2)" }),
      columnOf("d", { typeCode: 3, size: 10, digits: 4 }),
      columnOf("e", { typeName: "varchar(10)", nullable: false }),
    ];
    const { context, asked } = contextOf({ columns: [tableOf("t", { columns })] });
    const [table] = foundIn(await listObjects(context, never));
    expect(table?.columns).toMatchObject([
      { name: "a", type: { kind: "integer", bits: 64 }, nullable: true, engineType: "INT8" },
      { name: "b", type: { kind: "integer", bits: 64 }, engineType: "INT64" },
      { name: "c", type: { kind: "decimal", precision: 12, scale: 2 } },
      { name: "d", type: { kind: "decimal", precision: 10, scale: 4 } },
      { name: "e", type: { kind: "text" }, nullable: false, engineType: "VARCHAR(10)" },
    ]);
    expect(asked).toEqual(["columns"]);
  });

  it("asks a table for its own schema only where the listing says too little", async () => {
    const known = tableOf("known", { columns: [columnOf("a", { typeCode: 4 })] });
    const vague = tableOf("vague", { columns: [columnOf("a", { typeCode: 93 })] });
    const { context, asked } = contextOf({ columns: [known, vague] });
    const tables = foundIn(await listObjects(context, never));
    expect(asked).toEqual(["columns", "vague"]);
    expect(tables[1]?.columns).toMatchObject([
      { name: "own", type: { kind: "timestamp", unit: "ns", zoned: true } },
    ]);
  });

  it("names tables whose columns a server can not all name, and asks for those one by one", async () => {
    const { context, asked } = contextOf({
      columns: refused,
      tables: [tableOf("t"), tableOf("silent")],
    });
    const tables = foundIn(await listObjects(context, never));
    expect(asked).toEqual(["columns", "tables", "t", "silent"]);
    expect(tables.map(({ name, columns }) => [name, columns.length])).toEqual([
      ["t", 1],
      ["silent", 0],
    ]);
  });

  it("asks for the schemas of no more tables than its limit, and names the others", async () => {
    const tables = Array.from({ length: 120 }, (_, index) => tableOf(`t${index}`));
    const limits = { ...objectLimits, schemasMax: 60 };
    const { context, asked } = contextOf({ columns: tables }, limits);
    const found = foundIn(await listObjects(context, never));
    expect(asked).toHaveLength(61);
    expect(found).toHaveLength(120);
    const late = contextOf({ columns: tables }, { ...objectLimits, schemasMs: 0 });
    expect(foundIn(await listObjects(late.context, never))).toHaveLength(120);
    expect(late.asked).toEqual(["columns"]);
  });

  it("tells a failure, and takes a driver without such a function as one without tables", async () => {
    const failed = await listObjects(
      contextOf({ columns: refused, tables: refused }).context,
      never,
    );
    expect(failed).toEqual(err(refused));
    expect(await listObjects(contextOf({ columns: missing }).context, never)).toEqual(ok([]));
    const cancelled = failureOf("cancelled", "");
    const { context, asked } = contextOf({ columns: cancelled, tables: [] });
    expect(await listObjects(context, never)).toEqual(err(cancelled));
    expect(asked).toEqual(["columns"]);
  });

  it("puts tables without a schema under the name of their catalog, which is how they are written", async () => {
    const columns = [columnOf("a", { typeCode: 4 })];
    const inMain = tableOf("t", { columns, catalog: "sales", schema: "" });
    const bare = tableOf("u", { columns, catalog: undefined, schema: undefined });
    const { context } = contextOf({ columns: [inMain, bare] });
    expect(foundIn(await listObjects(context, never))).toMatchObject([
      { catalog: "sales", schema: "sales", name: "t" },
      { catalog: "adbc", schema: "main", name: "u" },
    ]);
  });

  it("leaves out what is the engine's own, and tells views from tables", async () => {
    const columns = [columnOf("a", { typeCode: 4 })];
    const tables = [
      tableOf("columns", { columns, schema: "information_schema", type: "VIEW" }),
      tableOf("t_pkey", { columns, type: "index" }),
      tableOf("v", { columns, type: "materialized view" }),
    ];
    const { context } = contextOf({ columns: tables });
    expect(foundIn(await listObjects(context, never))).toMatchObject([{ name: "v", kind: "view" }]);
  });
});

describe("DuckDB's driver", () => {
  it("lists the same tables as DuckDB's own SQL, with keys beside them", async () => {
    const duckdb = profileOf("duckdb");
    await using bySql = inProcess(duckdb);
    await using byObjects = inProcess({ ...duckdb, tablesSql: undefined, catalogsSql: undefined });
    for (const backend of [bySql, byObjects]) {
      await ran(backend, "create schema away");
      await ran(backend, "create table parent (id integer primary key, label varchar not null)");
      await ran(
        backend,
        "create table child (id integer references parent (id), since timestamptz)",
      );
      await ran(backend, "create table away.wide (a decimal(12,2), b date, c integer[], d blob)");
      await ran(backend, "create view away.seen as select 1::bigint as one");
    }
    const wanted = valueOf(await bySql.listTables(identifiedOf("show tables"), never));
    const found = valueOf(await byObjects.listTables(identifiedOf("show tables"), never));
    expect(plain(found)).toEqual(plain(wanted));
    expect(byObjects.catalogs).toContain("memory");
    expect(found.find(({ name }) => name === "child")?.keys).toEqual([
      { kind: "foreign", columns: ["id"], table: "parent", tableColumns: ["id"] },
    ]);
    expect(found.find(({ name }) => name === "parent")?.keys).toEqual([
      { kind: "primary", columns: ["id"] },
    ]);
  });

  it("stops listing when nobody waits for it any more, and answers the next statement", async () => {
    const duckdb = profileOf("duckdb");
    await using backend = inProcess({ ...duckdb, tablesSql: undefined, catalogsSql: undefined });
    expect(await backend.probe(never)).toBe("healthy");
    const controller = new AbortController();
    const listing = backend.listTables(identifiedOf("show tables"), controller.signal);
    controller.abort();
    expect(await listing).toMatchObject({ ok: false, error: { code: "query.cancelled" } });
    expect((await ran(backend, "select 1")).rows).toEqual([[1n]]);
  });
});

/** What two listings of one database agree on: a list's items have no type in a name. */
function plain(tables: readonly TableListing[]): readonly string[] {
  return tables
    .map(({ catalog, schema, name, kind, columns }) => {
      const shown = columns
        .filter((column) => column.name !== "c")
        .map((column) => [column.name, column.type, column.nullable]);
      return JSON.stringify([catalog, schema, name, kind, shown]);
    })
    .toSorted();
}

let clusters = 0;

function inProcess(duckdb: Profile): Backend {
  const driver = duckDbDriver();
  if (!driver.ok) throw new Error(driver.error);
  const host = hostOf();
  const profile = { ...duckdb, isolated: true };
  const config = adbcConfig.parse({ engine: "adbc", driver: "duckdb" });
  const cluster = `objects${(clusters += 1)}`;
  const plan = {
    cluster,
    profile,
    library: driver.value,
    size: 1,
    limits: processLimits,
    shared: { key: cluster, settings: "" },
    options: () => databaseOptions(cluster, profile, config, host.egress),
  };
  return backendOf(plan, undefined, host);
}

/** The value of an answer that is no failure. */
function foundIn<Value>(answer: AdbcResult<Value>): Value {
  if (!answer.ok) throw new Error(answer.error.message);
  return answer.value;
}

function columnOf(name: string, more: Partial<ListedColumn>): ListedColumn {
  const nothing = { typeName: undefined, typeCode: undefined, size: undefined, digits: undefined };
  return { name, ...nothing, nullable: true, ...more };
}

function tableOf(name: string, more: Partial<ListedTable> = {}): ListedTable {
  return { catalog: "c", schema: "s", name, type: "table", columns: undefined, keys: [], ...more };
}

type Listings = Partial<Record<ObjectsRequest["depth"], readonly ListedTable[] | AdbcFailure>>;

/** A thread that answers listings as told, and every schema but that of `silent` with one column; what it was asked for. */
function contextOf(
  listings: Listings,
  limits = objectLimits,
): { readonly context: ListingContext; readonly asked: readonly string[] } {
  const asked: string[] = [];
  const type = { kind: "timestamp", unit: "ns", zoned: true } as const;
  const own: Column = { name: "own", nullable: true, type };
  const thread: ListingContext["taken"]["thread"] = {
    async *list({ depth }): TableStream {
      asked.push(depth);
      const listing = listings[depth] ?? [];
      if ("code" in listing) return err(listing);
      yield listing.slice(0, 1);
      yield listing.slice(1);
      return ok(true);
    },
    ask: (request): Promise<AdbcResult<Reply>> => {
      if (request.kind !== "schemas") throw new Error("asked for something else");
      const schemas = request.schemas.tables.map(({ name }) => {
        asked.push(name);
        return name === "silent" ? undefined : schemaMessage([own], ["tsn:UTC"]);
      });
      return Promise.resolve(ok({ kind: "schemas", schemas }));
    },
  };
  const context = {
    taken: { thread, database: undefined },
    before: [],
    clock: { nowMs: () => 0 },
    limits,
  };
  return { context, asked };
}
