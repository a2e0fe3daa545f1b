/** The package mysql2 against a whole gateway over DuckDB. */
import { createConnection, createPool, type Connection, type RowDataPacket } from "mysql2/promise";
import { createConnection as createCallback } from "mysql2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../gateway.ts";

let gateway: TestGateway;
let client: Connection;

const optionsOf = (more: object = {}) => ({
  host: "127.0.0.1",
  port: portOf(gateway, "mysqlWire"),
  user: "ann",
  ...more,
});

beforeAll(async () => {
  gateway = await gatewayOf(configOf());
  client = await createConnection(optionsOf());
  await client.query(
    "create table items (id integer primary key, name varchar not null, price decimal(8,2))",
  );
  await client.query("insert into items values (1, 'it''s', 1.50), (2, 'ä', null), (3, 'c', 3.25)");
}, 30_000);

afterAll(async () => {
  await client.end();
  await gateway[Symbol.asyncDispose]();
});

describe("mysql2", () => {
  it("runs statements with text and with bound values", async () => {
    const rows = [{ id: 1, name: "it's", price: "1.50" }];
    expect((await client.query("select * from items where id = ?", [1]))[0]).toEqual(rows);
    expect((await client.execute("select * from items where id = ?", [1]))[0]).toEqual(rows);
    expect((await client.execute("select * from items where name = ?", ["ä"]))[0]).toHaveLength(1);
  });

  it("reuses a prepared statement and closes it", async () => {
    const statement = await client.prepare("select id from items where id > ? order by id");
    expect((await statement.execute([1]))[0]).toEqual([{ id: 2 }, { id: 3 }]);
    expect((await statement.execute([2]))[0]).toEqual([{ id: 3 }]);
    await statement.close();
  });

  it("streams an execution's rows as they come", async () => {
    const callback = createCallback(optionsOf());
    const stream = callback.execute("select i from range(10000) t(i)").stream();
    let sum = 0;
    for await (const row of stream) sum += (row as { i: number }).i;
    expect(sum).toBe(49_995_000);
    callback.destroy();
  });

  it("runs several statements of one text", async () => {
    const several = await createConnection(optionsOf({ multipleStatements: true }));
    const [results] = await several.query("select 1 as a; set @x = 2; select @x as b");
    expect(results).toMatchObject([[{ a: 1 }], {}, [{ b: 2 }]]);
    await several.end();
  });

  it("shares a pool and gets its connections back clean", async () => {
    const pool = createPool(optionsOf({ connectionLimit: 2, resetOnRelease: true }));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => pool.execute("select ? + 0 as n", [n])),
    );
    expect(answers.map(([rows]) => (rows as RowDataPacket[])[0]?.["n"])).toEqual(
      Array.from({ length: 20 }, (_, n) => n),
    );
    const connection = await pool.getConnection();
    await connection.changeUser({ user: "bob" });
    expect((await connection.query("select current_user() as u"))[0]).toEqual([{ u: "bob@%" }]);
    connection.release();
    await pool.end();
  });

  it("compresses both ways", async () => {
    const packed = await createConnection(optionsOf({ compress: true }));
    const [rows] = await packed.query("select repeat('x', 100000) as x from range(20)");
    expect((rows as RowDataPacket[]).map(({ x }) => String(x).length)).toEqual(
      Array.from({ length: 20 }, () => 100_000),
    );
    expect((await packed.execute("select ? as x", ["y".repeat(100_000)]))[0]).toEqual([
      { x: "y".repeat(100_000) },
    ]);
    await packed.end();
  });

  it("commits and rolls back", async () => {
    await client.beginTransaction();
    await client.execute("insert into items values (?, ?, ?)", [4, "d", "4.00"]);
    await client.rollback();
    await client.beginTransaction();
    await client.execute("update items set price = ? where id = ?", ["2.00", 2]);
    await client.commit();
    const [rows] = await client.query("select id, price from items where id in (2, 4)");
    expect(rows).toEqual([{ id: 2, price: "2.00" }]);
  });

  it("refuses a change in a transaction that was begun READ ONLY, and in no other", async () => {
    const change = "update items set price = 2 where id = 2";
    await client.query("start transaction read only");
    await expect(client.query(change)).rejects.toMatchObject({ errno: 1792 });
    await client.query("commit");
    await client.query("start transaction /* not read only */");
    await client.query(change);
    await client.rollback();
    await client.query(change);
  });

  it("sets savepoints, and goes back where nothing was changed meanwhile", async () => {
    await client.query("savepoint meaningless");
    await expect(client.query("rollback to meaningless")).rejects.toMatchObject({ errno: 1305 });
    await client.query("set autocommit = 0");
    await client.query("savepoint a");
    await client.query("insert into items values (5, 'e', 5)");
    await client.query("rollback to A");
    await client.query("insert into items values (6, 'f', 6)");
    await client.query("savepoint b");
    await expect(client.query("insert into nowhere values (1)")).rejects.toMatchObject({
      errno: 1146,
    });
    await client.query("rollback to savepoint b");
    await client.query("release savepoint a");
    await expect(client.query("rollback to b")).rejects.toMatchObject({ errno: 1305 });
    await client.query("savepoint c");
    await client.query("delete from items");
    await expect(client.query("rollback to c")).rejects.toMatchObject({ errno: 1235 });
    await client.query("rollback");
    await client.query("set autocommit = 1");
    await client.query("begin");
    await client.query("insert into items values (7, 'g', 7)");
    await client.query("commit and chain");
    await client.query("delete from items where id = 7");
    await client.query("rollback");
    const [removed] = await client.query("delete from items where id = 7");
    expect(removed).toMatchObject({ affectedRows: 1 });
    const [rows] = await client.query("select id from items where id in (5, 6)");
    expect(rows).toEqual([]);
  });

  it("goes to a database that exists and is refused by one that does not", async () => {
    const main = await createConnection(optionsOf({ database: "main" }));
    expect((await main.query("select database() as d"))[0]).toEqual([{ d: "main" }]);
    await main.end();
    await expect(createConnection(optionsOf({ database: "nosuch" }))).rejects.toMatchObject({
      errno: 1049,
      sqlState: "42000",
    });
    await expect(client.query("use nosuch")).rejects.toMatchObject({ errno: 1049 });
  });
});

describe("questions about tables", () => {
  const asked = async (sql: string) => (await client.query({ sql, rowsAsArray: true }))[0];

  it("are answered in MySQL's own words", async () => {
    expect(await asked("show full tables from main")).toEqual([["items", "BASE TABLE"]]);
    expect(await asked("describe main.items")).toEqual([
      ["id", "int", "NO", "PRI", null, ""],
      ["name", "text", "NO", "", null, ""],
      ["price", "decimal(8,2)", "YES", "", null, ""],
    ]);
    const [keys] = await client.query(
      "show keys from `main`.``.`items` where Key_name = 'PRIMARY'",
    );
    expect(keys).toMatchObject([{ Table: "items", Key_name: "PRIMARY", Column_name: "id" }]);
    expect(await asked("show create table main.items")).toEqual([
      [
        "items",
        "CREATE TABLE `items` (\n  `id` int NOT NULL,\n  `name` text NOT NULL,\n" +
          "  `price` decimal(8,2) DEFAULT NULL,\n  PRIMARY KEY (`id`)\n" +
          ") ENGINE=Gateway DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci",
      ],
    ]);
    await expect(client.query("show create table main.nosuch")).rejects.toMatchObject({
      errno: 1146,
      sqlState: "42S02",
    });
  });

  it("are computed by the engine over MySQL's information_schema", async () => {
    const [tables] = await client.query(
      "select t.table_name, engine, if(table_type = 'BASE TABLE', 1, 0) as base from information_schema.`TABLES` t where table_schema = schema() or table_schema = 'main'",
    );
    expect(tables).toEqual([{ TABLE_NAME: "items", ENGINE: "Gateway", base: 1 }]);
    const [columns] = await client.execute(
      "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION",
      ["main", "items"],
    );
    expect(columns).toEqual([
      { COLUMN_NAME: "id", DATA_TYPE: "int", COLUMN_TYPE: "int" },
      { COLUMN_NAME: "name", DATA_TYPE: "text", COLUMN_TYPE: "text" },
      { COLUMN_NAME: "price", DATA_TYPE: "decimal", COLUMN_TYPE: "decimal(8,2)" },
    ]);
    expect(
      await asked(
        "select index_name, column_name from information_schema.statistics where table_name = 'items'",
      ),
    ).toEqual([["PRIMARY", "id"]]);
    expect(
      await asked(
        "select information_schema.tables.table_name from information_schema.tables where table_schema = 'main'",
      ),
    ).toEqual([["items"]]);
  });

  it.each([
    "CHARACTER_SETS",
    "CHECK_CONSTRAINTS",
    "COLLATIONS",
    "COLLATION_CHARACTER_SET_APPLICABILITY",
    "COLUMNS",
    "COLUMN_PRIVILEGES",
    "ENGINES",
    "EVENTS",
    "KEY_COLUMN_USAGE",
    "PARAMETERS",
    "PARTITIONS",
    "PLUGINS",
    "REFERENTIAL_CONSTRAINTS",
    "ROUTINES",
    "SCHEMATA",
    "SCHEMA_PRIVILEGES",
    "STATISTICS",
    "TABLES",
    "TABLE_CONSTRAINTS",
    "TABLE_PRIVILEGES",
    "TRIGGERS",
    "USER_PRIVILEGES",
    "VIEWS",
  ])("may be put to information_schema.%s", async (name) => {
    const [, fields] = await client.query(`select * from information_schema.${name.toLowerCase()}`);
    expect(fields.every((field) => field.name === field.name.toUpperCase())).toBe(true);
  });

  it.each([
    "show collation like 'utf8mb4%'",
    "show plugins",
    "show engines",
    "show storage engines",
    "show grants",
    "show grants for current_user()",
    "show global status like 'uptime'",
    "show variables like 'max_allowed_packet'",
    "show warnings",
    "show /*!50002 FULL*/ tables from main",
    "show full columns from items from main",
    "show index from items from main",
    "show table status from main",
    "show triggers",
    "show procedure status",
    "show processlist",
    "/* mysql-connector-j-8.4.0 */SELECT @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client, @@SESSION.tx_isolation AS iso, @@Global.max_allowed_packet AS p",
  ])("may be %s", async (sql) => {
    await expect(client.query(sql)).resolves.toBeDefined();
  });

  it("are a syntax error where a client tries out what is one", async () => {
    await expect(client.query("select $$")).rejects.toMatchObject({ errno: 1064 });
    await expect(client.query("load data local infile 'x' into table t")).rejects.toMatchObject({
      errno: 3948,
    });
  });
});
