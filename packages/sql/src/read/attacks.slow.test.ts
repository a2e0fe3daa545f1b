/** Ways around a policy, in every dialect: refused, or rewritten so that no table is left bare. */
import { describe, expect, it } from "vitest";
import type { Dialect } from "@gateway/core/sql/dialect.ts";
import { controlOf } from "../rig/control.ts";

const judge = controlOf({
  rules: [
    {
      name: "own",
      tables: ["main.orders"],
      rowFilter: "region = ${user}",
      columns: ["id", "region", "email"],
      masks: { email: "'***'" },
    },
    { name: "items", tables: ["main.items"], actions: ["select", "insert", "update", "delete"] },
    { name: "notes", tables: ["main.notes"], actions: ["insert", "ddl"] },
    { name: "never", tables: ["main.salaries"], effect: "deny" },
  ],
});

const seen =
  "(SELECT id, region, ('***') AS email FROM (SELECT * FROM main.orders WHERE (region = 'ann')) AS gateway_rows)";

const dialects: readonly Dialect[] = [
  "duckdb",
  "postgres",
  "mysql",
  "trino",
  "clickhouse",
  "generic",
];

/** Texts of the corpus whose dangerous part is a comment or a string for a dialect, and what runs there. */
const harmless: readonly {
  readonly text: string;
  readonly runs: string;
  readonly by: readonly Dialect[];
}[] = [
  {
    text: "SELECT /*! * FROM salaries -- */ 1",
    runs: "SELECT /*! * FROM salaries -- */ 1",
    by: ["duckdb", "postgres", "trino", "clickhouse"],
  },
  {
    text: "SELECT /* /* */ id FROM salaries -- */ 1",
    runs: "SELECT /* /* */ id FROM salaries -- */ 1",
    by: ["duckdb", "postgres", "clickhouse"],
  },
  {
    text: "SELECT 'a\\' , (SELECT max(id) FROM salaries), ' FROM items",
    runs: "SELECT 'a\\' , (SELECT max(id) FROM salaries), ' FROM main.items",
    by: ["mysql", "clickhouse"],
  },
];

describe.each(dialects)("a client of %s", (dialect) => {
  it.each([
    ["SELECT * FROM orders", `SELECT * FROM ${seen} AS orders`],
    ["SELECT o.id FROM main.orders AS o", `SELECT o.id FROM ${seen} AS o`],
    [
      "select ID from ORDERS",
      `select ID from ${seen.replace("main.orders", "main.ORDERS")} AS ORDERS`,
    ],
    [
      "SELECT o.id FROM items i JOIN orders o ON o.id = i.id WHERE i.id IN (SELECT id FROM orders)",
      `SELECT o.id FROM main.items i JOIN ${seen} o ON o.id = i.id WHERE i.id IN (SELECT id FROM ${seen} AS orders)`,
    ],
    [
      "WITH a AS (SELECT id FROM orders), b AS (SELECT * FROM a) SELECT * FROM b UNION ALL SELECT id FROM items",
      `WITH a AS (SELECT id FROM ${seen} AS orders), b AS (SELECT * FROM a) SELECT * FROM b UNION ALL SELECT id FROM main.items`,
    ],
    [
      "SELECT (SELECT max(o.id) FROM orders o WHERE o.id < i.id) AS m FROM items i",
      `SELECT (SELECT max(o.id) FROM ${seen} o WHERE o.id < i.id) AS m FROM main.items i`,
    ],
    [
      "SELECT id /* FROM salaries */ FROM orders -- , salaries",
      `SELECT id /* FROM salaries */ FROM ${seen} AS orders -- , salaries`,
    ],
    ["SELECT 'x FROM salaries' FROM items", "SELECT 'x FROM salaries' FROM main.items"],
    [
      "INSERT INTO notes SELECT id FROM orders",
      `INSERT INTO main.notes SELECT id FROM ${seen} AS orders`,
    ],
    [
      "CREATE TABLE notes AS SELECT id FROM orders",
      `CREATE TABLE main.notes AS SELECT id FROM ${seen} AS orders`,
    ],
    ["DELETE FROM items WHERE id = 3", "DELETE FROM main.items WHERE id = 3"],
    ["BEGIN", "BEGIN"],
  ])("reads %s as it should", async (sql, expected) => {
    expect(await judge(sql, { dialect })).toBe(expected);
  });

  it.each([
    "SELECT * FROM salaries",
    "SELECT * FROM unknown",
    "SELECT * FROM other.orders",
    "SELECT * FROM items WHERE id IN (SELECT id FROM salaries)",
    "SELECT * FROM items UNION SELECT * FROM salaries",
    "SELECT (SELECT max(id) FROM salaries)",
    "SELECT * FROM items ORDER BY (SELECT max(id) FROM salaries)",
    "SELECT * FROM items LIMIT (SELECT max(id) FROM salaries)",
    "WITH orders AS (SELECT 1 AS id) SELECT * FROM orders",
    "WITH a AS (SELECT * FROM a) SELECT * FROM a",
    "WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a",
    "WITH 1 AS unknown SELECT * FROM unknown",
    "WITH (SELECT 1) AS unknown SELECT * FROM unknown",
    "(WITH unknown AS (SELECT 1) SELECT * FROM unknown) UNION SELECT * FROM unknown",
    "WITH d AS (DELETE FROM items RETURNING *) SELECT * FROM d",
    "SELECT 1; SELECT * FROM salaries",
    "SELECT * FROM items; DROP TABLE items",
    "TABLE orders",
    "SELECT * FROM (TABLE orders) x",
    "SELECT id IN salaries FROM items",
    "SELECT id IN (salaries) FROM items",
    "EXPLAIN ANALYZE SELECT * FROM salaries",
    "EXPLAIN SELECT * FROM salaries",
    "DESCRIBE salaries",
    "DESC salaries",
    "SHOW CREATE TABLE salaries",
    "SHOW COLUMNS FROM salaries",
    "SHOW STATS FOR salaries",
    "SHOW salaries",
    "SUMMARIZE salaries",
    "PIVOT salaries ON a USING sum(b)",
    "EXECUTE IMMEDIATE 'SELECT * FROM salaries'",
    "PREPARE p AS SELECT * FROM salaries",
    "PREPARE p FROM 'SELECT * FROM salaries'",
    "EXECUTE p",
    "EXECUTE p USING 1",
    "DECLARE c CURSOR FOR SELECT * FROM salaries",
    "CALL query('SELECT * FROM salaries')",
    "DO $$ BEGIN PERFORM 1; END $$",
    "COPY salaries TO '/tmp/x'",
    "COPY (SELECT * FROM salaries) TO STDOUT",
    "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE notes",
    "SELECT * FROM items INTO OUTFILE '/tmp/x'",
    "SELECT * INTO notes2 FROM items",
    "CREATE VIEW notes AS SELECT * FROM salaries",
    "CREATE FUNCTION f() RETURNS int AS 'SELECT 1' LANGUAGE sql",
    "CREATE TABLE notes (id int DEFAULT (SELECT max(id) FROM salaries))",
    "CREATE TABLE notes (LIKE salaries)",
    "CREATE TABLE notes LIKE salaries",
    "CREATE TABLE notes AS salaries",
    "CREATE TABLE notes CLONE salaries",
    "ALTER TABLE salaries RENAME TO notes",
    "ALTER TABLE notes RENAME TO salaries",
    "INSERT INTO orders VALUES (1)",
    "INSERT INTO notes SELECT * FROM salaries",
    "INSERT INTO notes VALUES ((SELECT max(id) FROM salaries))",
    "INSERT INTO notes VALUES (1) ON CONFLICT DO UPDATE SET id = 2",
    "INSERT INTO notes VALUES (1) RETURNING *",
    "REPLACE INTO items VALUES (1)",
    "UPDATE orders SET id = 1",
    "UPDATE items SET id = (SELECT max(id) FROM salaries)",
    "UPDATE items SET id = 1 FROM salaries",
    "DELETE FROM orders WHERE email = 'x'",
    "DELETE FROM items USING salaries WHERE true",
    "MERGE INTO items USING salaries ON true WHEN MATCHED THEN DELETE",
    "TRUNCATE orders",
    "DROP TABLE orders",
    "GRANT SELECT ON salaries TO ann",
    "SET ROLE root",
    "SET SESSION AUTHORIZATION root",
    "SET sql_mode = 'ANSI_QUOTES'",
    "SET standard_conforming_strings = off",
    "SET NAMES gbk",
    "SET application_name = (SELECT max(id) FROM salaries)",
    "SET @a = (SELECT max(id) FROM salaries)",
    "SELECT query('SELECT * FROM salaries')",
    "SELECT * FROM query('SELECT * FROM salaries')",
    "SELECT * FROM query_table('salaries')",
    "SELECT * FROM TABLE(system.query('SELECT 1'))",
    "SELECT query_to_xml('SELECT * FROM salaries', true, true, '')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT load_file('/etc/passwd')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM file('/etc/passwd', 'CSV')",
    "SELECT * FROM url('http://x', CSV)",
    "SELECT dictGet('salaries', 'a', 1)",
    "SELECT joinGet('salaries', 'a', 1)",
    "SELECT * FROM merge('main', 'salaries')",
    "SELECT * FROM dblink('dbname=x', 'SELECT 1') AS t(a int)",
    "SELECT set_config('role', 'root', false)",
    "SELECT my.f(1)",
    "SELECT * FROM orders FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01'",
    "SELECT * FROM orders TABLESAMPLE BERNOULLI (10)",
    "SELECT * FROM ONLY orders",
    "SELECT * FROM orders FINAL",
    "SELECT /*! * FROM salaries -- */ 1",
    "SELECT /*!50000 1 FROM salaries UNION */ SELECT 2",
    "SELECT /* /* */ id FROM salaries -- */ 1",
    "SELECT 'a\\' , (SELECT max(id) FROM salaries), ' FROM items",
    "SELECT $x$ $x$, id FROM salaries -- $x$",
    "SELECT U&'\\0041' FROM salaries",
    'SELECT 1 FROM items, "salaries"',
    "SELECT 1 FROM items, `salaries`",
    "SELECT 1 FROM items, main . salaries",
    "SELECT 1 FROM items NATURAL JOIN salaries",
    "SELECT 1 FROM items,LATERAL(SELECT * FROM salaries)x",
    "SELECT 1 FROM (items JOIN salaries ON true)",
    "SELECT 1 FROM items FULL JOIN salaries USING (id)",
    "SELECT * FROM items WHERE EXISTS (FROM salaries)",
    "SELECT {t:Identifier} FROM salaries",
    "SELECT * FROM {t:Identifier}",
    "SELECT * FROM IDENTIFIER('salaries')",
    "SELECT * FROM items SETTINGS additional_table_filters = {'a': 'b'}",
    "SELECT 1 FROM items WHERE `id",
    "SELECT 1 FROM items WHERE 'open",
    "SELECT 1 FROM items /* open",
    `SELECT ${"(".repeat(3_000)}1${")".repeat(3_000)}`,
    "HANDLER salaries OPEN",
    "LOCK TABLE salaries",
    "ANALYZE salaries",
    "VACUUM salaries",
    "KILL 1",
    "ATTACH '/tmp/x.db'",
    "INSTALL httpfs",
    "PRAGMA table_info('salaries')",
    "USE ROLE root",
  ])("may not run %s", async (sql) => {
    const read = await judge(sql, { dialect });
    const isString = harmless.some(
      ({ text, runs, by }) => text === sql && runs === read && by.includes(dialect),
    );
    expect(isString ? "denied: " : read).toMatch(/^denied: /);
  });
});

describe("a text that two dialects read in two ways", () => {
  it.each<[string, Dialect, Dialect]>([
    ["SELECT 'a\\', id, (SELECT max(id) FROM salaries) AS '' FROM items", "mysql", "duckdb"],
    ['SELECT "a" FROM items WHERE "b" = "salaries"', "mysql", "postgres"],
    ["SELECT 1 # FROM salaries", "mysql", "postgres"],
    ["SELECT 1 -- FROM items\n FROM salaries", "generic", "clickhouse"],
  ])("%s of %s for %s names no table that may not be read", async (sql, dialect, engine) => {
    const read = await judge(sql, { dialect, engine });
    expect(read).not.toMatch(/FROM main\.salaries|^(?!denied).*FROM salaries\)/);
  });
});

describe("names", () => {
  it("are completed by the session and written whole, so that no setting of the engine decides", async () => {
    const ruled = controlOf({
      defaultSchema: undefined,
      rules: [{ name: "a", tables: ["lake.sales.*"] }],
    });
    const place = { catalog: "lake", schema: "sales" };
    expect(await ruled("SELECT * FROM t", place)).toBe("SELECT * FROM lake.sales.t");
    expect(await ruled("SELECT * FROM sales.t", place)).toBe("SELECT * FROM lake.sales.t");
    expect(await ruled("SELECT * FROM t")).toMatch(/^denied/);
    expect(await ruled("SELECT * FROM t", { catalog: "Lake", schema: "sales" })).toBe(
      'SELECT * FROM "Lake".sales.t',
    );
    expect(await ruled("SELECT * FROM ürlaub", place)).toMatch(/^denied/);
  });

  it("of callers are written as strings, and never as anything else", async () => {
    const sql = "SELECT id FROM orders";
    const user = "o'neil' OR '1'='1";
    expect(await judge(sql, { user })).toContain("region = 'o''neil'' OR ''1''=''1'");
    expect(await judge(sql, { user: "a\\" })).toMatch(/^denied/);
    expect(await judge(sql, { user: "a\n" })).toMatch(/^denied/);
  });
});
