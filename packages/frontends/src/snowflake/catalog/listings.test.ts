/** What tools ask about objects, before an engine that has no such words. */
import { columnOf } from "@gateway/core/type/build.ts";
import type { TableListing } from "@gateway/core/port/backend.ts";
import { describe, expect, it } from "vitest";
import { opened } from "../rig/server.ts";

const query = "/queries/v1/query-request?requestId=r1";
const id = columnOf("id", { kind: "integer", bits: 32, signed: true }, false);
const label = columnOf("Label", { kind: "text" });
const price = columnOf("price", { kind: "decimal", precision: 10, scale: 2 });
const place = { catalog: "memory", schema: "main" };
const tables: readonly TableListing[] = [
  {
    ...place,
    name: "items",
    kind: "table",
    columns: [id, label, price],
    keys: [
      { kind: "primary", columns: ["id"] },
      { kind: "unique", name: "items_label", columns: ["Label"] },
    ],
  },
  {
    ...place,
    name: "orders",
    kind: "table",
    columns: [id],
    keys: [{ kind: "foreign", columns: ["id"], table: "items", tableColumns: ["id"] }],
  },
  { ...place, name: "seen", kind: "view", columns: [id] },
  { catalog: "memory", schema: "Other", name: "Mixed", kind: "table", columns: [id] },
];

describe("SHOW and DESC", () => {
  it.each<[string, string, readonly unknown[]]>([
    ["SHOW TABLES", "name", ["ITEMS", "ORDERS", "Mixed"]],
    ["show terse tables like 'it%' in account;", "name", ["ITEMS"]],
    ['SHOW /* a tool */ TABLES IN SCHEMA "memory"."main"', "name", ["ITEMS", "ORDERS"]],
    ["SHOW TABLES IN SCHEMA MEMORY.OTHER", "name", ["Mixed"]],
    ["SHOW TABLES LIKE 'O_DERS'", "name", ["ORDERS"]],
    ["SHOW TABLES IN DATABASE nowhere", "name", []],
    ['SHOW VIEWS IN "memory"."main"', "name", ["SEEN"]],
    ["SHOW OBJECTS IN SCHEMA main", "kind", ["TABLE", "TABLE", "VIEW"]],
    ["SHOW SCHEMAS", "name", ["MAIN", "Other"]],
    ["SHOW DATABASES", "name", ["MEMORY"]],
    ["SHOW PRIMARY KEYS IN SCHEMA main", "column_name", ["ID"]],
    ["SHOW UNIQUE KEYS IN TABLE main.items", "column_name", ["Label"]],
    ["SHOW PRIMARY KEYS IN main.orders", "column_name", []],
    ["SHOW IMPORTED KEYS IN TABLE memory.main.orders", "pk_table_name", ["ITEMS"]],
    ["DESC TABLE main.items", "type", ["NUMBER(10,0)", "VARCHAR(16777216)", "NUMBER(10,2)"]],
    ['describe view "main"."SEEN"', "null?", ["N"]],
    ["DESC TABLE items TYPE = COLUMNS", "kind", ["COLUMN", "COLUMN", "COLUMN"]],
    ["SELECT CURRENT_VERSION()", "CURRENT_VERSION()", ["9.0.0"]],
  ])("%s", async (sqlText, column, wanted) => {
    const server = await opened({ answers: {}, tables, dialect: "duckdb" });
    const { token } = await server.logIn();
    const { data } = await server.post(query, { sqlText }, token);
    const names = data.rowtype.map((one: { name: string }) => one.name);
    expect(data.rowset.map((row: unknown[]) => row[names.indexOf(column)])).toEqual(wanted);
    for (const row of data.rowset) expect(row).toHaveLength(names.length);
    expect(server.door.queries).toEqual([]);
  });

  it("stay where the session is, and say of a table that it is not there", async () => {
    const server = await opened({ answers: {}, tables, dialect: "duckdb" });
    const { token } = await server.logIn({}, "databaseName=memory&schemaName=Other");
    const ask = (sqlText: string) => server.post(query, { sqlText }, token);
    expect((await ask("show tables")).data.total).toBe(1);
    expect((await ask("show schemas")).data.total).toBe(2);
    expect((await ask("show schemas in nowhere")).data.total).toBe(0);
    expect((await ask("show tables in database")).data.total).toBe(3);
    expect((await ask("desc table mixed")).data.total).toBe(1);
    expect(await ask("desc table items")).toMatchObject({ success: false, code: "002003" });
  });

  it("are the engine's where they say more, or where the engine may have them itself", async () => {
    const more = ["SHOW TABLES LIMIT 1", "SHOW TABLES; SELECT 1", "SHOW USERS", "DESC USER ann"];
    for (const sqlText of more) {
      const server = await opened({ answers: {}, tables, dialect: "duckdb" });
      const { token } = await server.logIn();
      expect([sqlText, (await server.post(query, { sqlText }, token)).success]).toEqual([
        sqlText,
        false,
      ]);
    }
    const unknown = await opened({ answers: {}, tables });
    const { token } = await unknown.logIn();
    await unknown.post(query, { sqlText: "SHOW TABLES" }, token);
    expect(unknown.door.queries.map(({ sql }) => sql)).toEqual(["SHOW TABLES"]);
  });
});
