/** SQLite through its real ADBC driver, in a thread. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import { engineSuite } from "@gateway/engines/engine.suite.ts";
import { codeOf, identifiedOf, never, ran, valueOf } from "@gateway/engines/rig/backend.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterOf, driverFolder, listedNames, unknownLibrary } from "./adbcHost.ts";

const values: readonly Parameter[] = [
  { type: { kind: "integer", bits: 64, signed: true }, value: -9_223_372_036_854_775_808n },
  { type: { kind: "float", bits: 64 }, value: 0.1 },
  { type: { kind: "text" }, value: "h\u00e9llo \u{1f600} ' \" \\" },
  { type: { kind: "text" }, value: null },
  { type: { kind: "binary" }, value: new Uint8Array([0, 1, 255]) },
];

const endless =
  "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";

engineSuite(
  "ADBC, SQLite",
  {
    endless,
    flood:
      "with recursive n(i) as (select 1 union all select i + 1 from n) select i, 'row' as label from n",
    createTable: "create table suite_t (id integer, label text)",
    dropTable: "drop table suite_t",
    echo: "select $1",
    values,
    broken: { sql: "selec 1", position: 1 },
  },
  () => clusterOf({ driver: "sqlite" }),
  {
    skip: [
      { test: "says where a text is broken", reason: "SQLite's driver gives no position" },
      {
        test: "names the columns and parameters of a query",
        reason: "SQLite has no types of parameters",
      },
    ],
  },
);

describe("SQLite behind its driver", () => {
  let folder: string;
  let backend: Backend;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "adbc-sqlite-"));
    backend = await clusterOf({
      driver: "sqlite",
      databasePath: join(folder, "a.db"),
      poolSize: 2,
    });
  });
  afterAll(async () => {
    await backend[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  it("opens no other file and loads no code", async () => {
    for (const sql of [
      `attach '${folder}/b.db' as b`,
      "/* a */ -- b\n attach ':memory:' as x",
      `vacuum into '${folder}/c.db'`,
      "pragma temp_store_directory = '/tmp'",
    ]) {
      expect([sql, codeOf(await ran(backend, sql))]).toEqual([sql, "query.permission"]);
    }
    expect((await ran(backend, "select load_extension('x')")).last?.kind).toBe("failed");
  });

  it("lists by the driver itself what it lists by SQL", async () => {
    await ran(backend, "create table listed (id integer not null, label text)");
    await ran(backend, "create view seen as select id from listed");
    const library = join(driverFolder, "libadbc_driver_sqlite.so");
    const driver = await unknownLibrary(library, folder);
    await using byDriver = await clusterOf({ driver, uri: join(folder, "a.db") });
    const wanted = valueOf(await backend.listTables(identifiedOf("show tables"), never));
    const found = valueOf(await byDriver.listTables(identifiedOf("show tables"), never));
    expect(listedNames(found)).toEqual(listedNames(wanted));
    expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining(["listed", "seen"]));
    expect(byDriver.catalogs).toEqual(backend.catalogs);
    await ran(backend, "drop view seen");
    await ran(backend, "drop table listed");
  });

  it("stands where a session names its only catalog, as a library nobody knows, and goes nowhere else", async () => {
    const library = join(driverFolder, "libadbc_driver_sqlite.so");
    const home = await mkdtemp(join(folder, "unknown-"));
    const driver = await unknownLibrary(library, home);
    await using byDriver = await clusterOf({ driver, uri: join(home, "b.db") });
    for (const session of [{ catalog: "main", schema: "main" }, { schema: "main" }]) {
      expect((await ran(byDriver, "select 1", { session })).rows).toEqual([[1n]]);
    }
    for (const session of [{ catalog: "other" }, { catalog: "main", schema: "other" }]) {
      expect(codeOf(await ran(byDriver, "select 1", { session }))).toBe("query.unsupported");
    }
  });

  it("shows its tables in the schema by which they are written", async () => {
    await ran(backend, "create table written (id integer)");
    const tables = valueOf(await backend.listTables(identifiedOf("show tables"), never));
    const found = tables.find(({ name }) => name === "written");
    expect(found).toMatchObject({ catalog: "main", schema: "main" });
    expect((await ran(backend, 'select * from "main"."written"')).last?.kind).toBe("done");
  });

  it("tells a constraint from a missing table and a broken text", async () => {
    await ran(backend, "create table kept (id integer primary key)");
    await ran(backend, "insert into kept values (1)");
    expect(codeOf(await ran(backend, "insert into kept values (1)"))).toBe("query.constraint");
    expect(codeOf(await ran(backend, "select * from nowhere"))).toBe("query.unknownObject");
    expect(codeOf(await ran(backend, "selec 1"))).toBe("query.syntax");
  });
});
