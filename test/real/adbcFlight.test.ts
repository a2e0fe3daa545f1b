/** Apache Arrow's reference Flight SQL server (over SQLite) through its real ADBC driver, in a process. */
import { join } from "node:path";
import type { Backend } from "@gateway/core/port/backend.ts";
import { codeOf, identifiedOf, never, ran, valueOf } from "@gateway/engines/rig/backend.ts";
import { createConnection } from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf } from "../e2e/gateway.ts";
import { clusterOf, driverFolder } from "./adbcHost.ts";

const uri = process.env["GATEWAY_TEST_FLIGHT"] ?? "";

const flightDriver = join(driverFolder, "libadbc_driver_flightsql.so");

/** What psql asks for \d, word for word but for its owner. */
const backslashD = `SELECT n.nspname as "Schema", c.relname as "Name",
  CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'p' THEN 'partitioned table' END as "Type"
FROM pg_catalog.pg_class c
     LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r','p','v','m','S','f','')
      AND n.nspname <> 'pg_catalog'
      AND n.nspname !~ '^pg_toast'
      AND n.nspname <> 'information_schema'
  AND pg_catalog.pg_table_is_visible(c.oid)
ORDER BY 1,2;`;

describe("Flight SQL behind its driver", () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await clusterOf({ driver: "flightsql", uri });
    await ran(backend, "create table real_t (id integer, label text)");
    await ran(backend, "insert into real_t values (1, 'one'), (2, 'two')");
  });
  afterAll(async () => {
    await ran(backend, "drop table real_t");
    await backend[Symbol.asyncDispose]();
  });

  it("answers rows, with parameters and without", async () => {
    const all = await ran(backend, "select id, label from real_t order by id");
    expect(all.rows).toEqual([
      [1n, "one"],
      [2n, "two"],
    ]);
    const parameters = [{ type: { kind: "integer", bits: 64, signed: true }, value: 2n }] as const;
    const one = await ran(backend, "select label from real_t where id = $1", { parameters });
    expect(one.rows).toEqual([["two"]]);
  });

  it("counts changes", async () => {
    const { last } = await ran(backend, "update real_t set label = label where id = 1");
    expect(last).toMatchObject({ kind: "done", updateType: "UPDATE", updateCount: 1 });
  });

  it("names a missing table and a broken text by their codes", async () => {
    expect(codeOf(await ran(backend, "select * from nowhere"))).toBe("query.unknownObject");
    expect(codeOf(await ran(backend, "selec 1"))).toBe("query.syntax");
  });

  it("describes the columns of a query", async () => {
    const query = identifiedOf("select id, label from real_t where id = $1");
    const { columns, parameters } = valueOf(await backend.describe(query, never));
    expect(columns.map(({ name }) => name)).toEqual(["id", "label"]);
    expect(parameters).toHaveLength(1);
  });

  it("ends a statement that is cancelled, and answers the next one", async () => {
    const endless =
      "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n";
    const controller = new AbortController();
    const stream = backend.execute(identifiedOf(endless), controller.signal);
    await stream.next();
    controller.abort();
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.at(-1)).toMatchObject({ error: { code: "query.cancelled" } });
    expect((await ran(backend, "select 1")).rows).toEqual([[1n]]);
  });

  it("lists the server's tables with their columns and types, as the driver names them", async () => {
    const tables = valueOf(await backend.listTables(identifiedOf("show tables"), never));
    expect(backend.catalogs).toEqual(["main"]);
    const found = tables.find(({ name }) => name === "real_t");
    expect(found).toMatchObject({ catalog: "main", schema: "main", kind: "table" });
    expect(found?.columns).toMatchObject([
      { name: "id", type: { kind: "integer", bits: 64 } },
      { name: "label", type: { kind: "text" } },
    ]);
    expect(tables.map(({ name }) => name)).toContain("intTable");
  });

  it("lists a table whose columns the server can not name, and all others with theirs", async () => {
    await ran(backend, "create table real_odd (id integer, at timestamp)");
    try {
      const tables = valueOf(await backend.listTables(identifiedOf("show tables"), never));
      const columnsOf = (name: string) =>
        tables.find((one) => one.name === name)?.columns.map((column) => column.name);
      expect(columnsOf("real_odd")).toEqual([]);
      expect(columnsOf("real_t")).toEqual(["id", "label"]);
    } finally {
      await ran(backend, "drop table real_odd");
    }
  });

  it("ends a listing that nobody waits for, and answers the next statement", async () => {
    const controller = new AbortController();
    const listing = backend.listTables(identifiedOf("show tables"), controller.signal);
    controller.abort();
    expect((await listing).ok).toBe(false);
    expect((await ran(backend, "select 1")).rows).toEqual([[1n]]);
  });

  it("shows its tables to clients of the PostgreSQL protocol, by names that can be queried", async () => {
    const clusters = { flight: { engine: "adbc", driver: flightDriver, uri, poolSize: 2 } };
    const clusterGroups = { default: { members: ["flight"], maxRunningQueries: 2 } };
    await using gateway = await gatewayOf(configOf({ clusters, clusterGroups }));
    const client = new pg.Client({
      host: "127.0.0.1",
      port: portOf(gateway, "postgresWire"),
      user: "alice",
    });
    await client.connect();
    try {
      const listed = await client.query({ text: backslashD, rowMode: "array" });
      expect(listed.rows).toContainEqual(["main", "real_t", "table"]);
      const columns = await client.query({
        text: "select column_name, data_type from information_schema.columns where table_name = $1 order by ordinal_position",
        values: ["real_t"],
        rowMode: "array",
      });
      expect(columns.rows).toEqual([
        ["id", "bigint"],
        ["label", "text"],
      ]);
      const { rows } = await client.query({
        text: 'select label from "main"."real_t" where id = 1',
        rowMode: "array",
      });
      expect(rows).toEqual([["one"]]);
    } finally {
      await client.end();
    }
  });

  it("shows its tables to clients of the MySQL protocol, though it has no information_schema", async () => {
    const clusters = { flight: { engine: "adbc", driver: flightDriver, uri, poolSize: 2 } };
    const clusterGroups = { default: { members: ["flight"], maxRunningQueries: 2 } };
    await using gateway = await gatewayOf(configOf({ clusters, clusterGroups }));
    const port = portOf(gateway, "mysqlWire");
    const client = await createConnection({ host: "127.0.0.1", port, user: "alice" });
    const ask = async (sql: string) => (await client.query({ sql, rowsAsArray: true }))[0];
    try {
      expect(await ask("SHOW FULL TABLES LIKE 'real%'")).toEqual([["real_t", "BASE TABLE"]]);
      expect(await ask("SHOW DATABASES")).toEqual([["main"]]);
      expect(await ask("DESCRIBE main.real_t")).toEqual([
        ["id", "bigint", "YES", "", null, ""],
        ["label", "text", "YES", "", null, ""],
      ]);
    } finally {
      await client.end();
    }
  });

  it("says that it can not list what runs", async () => {
    expect(valueOf(await backend.running(never)).complete).toBe(false);
    expect(await backend.probe(never)).toBe("healthy");
  });
});
