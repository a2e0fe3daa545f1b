/** Translation from the clients' side: drivers that nobody here wrote, a gateway as it runs, DuckDB behind. */
import mysql from "mysql2/promise";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminOf, type Admin } from "./admin.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const host = "127.0.0.1";

let best: TestGateway;
let strict: TestGateway;
let admin: Admin;

beforeAll(async () => {
  best = await gatewayOf(configOf({ translation: { mode: "bestEffort" } }));
  strict = await gatewayOf(configOf({ translation: { mode: "strict" } }));
  admin = await adminOf(best);
}, 120_000);

afterAll(async () => {
  await best[Symbol.asyncDispose]();
  await strict[Symbol.asyncDispose]();
});

describe("a client of MySQL before DuckDB", () => {
  it("has its functions, its quotes and its parameters, under both modes", async () => {
    for (const gateway of [best, strict]) {
      await using client = await mysqlTo(gateway);
      await client.ask("CREATE TABLE t (id INTEGER, note VARCHAR(20))");
      await client.ask("INSERT INTO t (id, note) VALUES (1, 'it\\'s'), (2, NULL), (3, 'c')");
      const sql =
        "SELECT `id`, IFNULL(note, ?) AS `a b` FROM t WHERE id > ? ORDER BY id LIMIT 1, 1";
      expect(await client.ask(sql, ["none", 0])).toEqual([{ id: 2, "a b": "none" }]);
      expect(await client.ask("SELECT note FROM t WHERE id = 1")).toEqual([{ note: "it's" }]);
      await client.ask("DROP TABLE t");
    }
  });

  it("lists tables, schemas and columns as ever", async () => {
    await using client = await mysqlTo(strict);
    await client.ask("CREATE TABLE listed (id INTEGER)");
    expect(JSON.stringify(await client.ask("SHOW TABLES"))).toContain("listed");
    const columns =
      "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_NAME = 'listed'";
    expect(await client.ask(columns)).toEqual([{ COLUMN_NAME: "id" }]);
    await client.ask("DROP TABLE listed");
  });

  it("is told under strict what was not tested, and asks DuckDB in its own words otherwise", async () => {
    await using client = await mysqlTo(strict);
    await expect(client.ask("SELECT frobnicate(1)")).rejects.toThrow("frobnicate/1");
    await using other = await mysqlTo(best);
    expect(await other.ask("SELECT list_sum([1, 2]) AS a")).toEqual([{ a: "3" }]);
  });
});

describe("a client of PostgreSQL before DuckDB", () => {
  it("keeps the number and the order of its parameters", async () => {
    await using client = await postgresTo(best);
    const sql = "SELECT $2::text || $1::text || $2::text AS a";
    expect((await client.query(sql, ["x", "y"])).rows).toEqual([{ a: "yxy" }]);
  });

  it("finds both texts in the query's record", async () => {
    await using client = await postgresTo(best);
    const sql =
      "SELECT string_agg(x::text, ',') AS recorded_here FROM generate_series(1, 2) AS t (x)";
    await client.query(sql);
    const found = await recordOf("recorded_here");
    expect(found).toMatchObject({ sql, sourceDialect: "postgres", targetDialect: "duckdb" });
    expect(found?.["translatedSql"]).not.toBe(sql);
    expect(found?.["translatedSql"]).toMatch(/recorded_here/);
  });

  it.each([
    [
      "100,000 numbers",
      "0A000",
      `SELECT 1 WHERE 1 IN (${Array.from({ length: 100_000 }, (_, n) => n).join()})`,
    ],
    ["a million parentheses", "54001", `SELECT ${"(".repeat(500_000)}1${")".repeat(500_000)}`],
  ])(
    "is refused %s with a typed error, under both modes, and others are served",
    async (_, code, sql) => {
      for (const gateway of [best, strict]) {
        await using client = await postgresTo(gateway);
        await expect(client.query(sql)).rejects.toMatchObject({ code });
        expect((await client.query("SELECT 1 AS a")).rows).toEqual([{ a: 1 }]);
      }
    },
  );

  it("is not kept waiting by another's long text", async () => {
    await using heavy = await postgresTo(best);
    await using light = await postgresTo(best);
    await light.query("SELECT 0 AS n");
    const numbers = Array.from({ length: 40_000 }, (_, n) => n).join();
    let isOver = false;
    const long = heavy
      .query(`SELECT 1 AS a WHERE 1 IN (${numbers})`)
      .catch((error: unknown) => error)
      .finally(() => {
        isOver = true;
      });
    let answered = 0;
    for (; answered < 5; answered += 1) await light.query(`SELECT ${answered} AS n`);
    expect(isOver).toBe(false);
    await long;
  });
});

async function recordOf(word: string): Promise<Record<string, unknown> | undefined> {
  for (let tries = 0; tries < 100; tries += 1) {
    const { body } = await admin("GET", "/admin/queries?limit=100");
    const { items } = body as { items: Record<string, unknown>[] };
    const found = items.find(({ sql }) => String(sql).includes(word));
    if (found !== undefined) return found;
  }
  return undefined;
}

async function postgresTo(gateway: TestGateway) {
  const client = new pg.Client({ host, port: portOf(gateway, "postgresWire"), user: "ann" });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

async function mysqlTo(gateway: TestGateway) {
  const port = portOf(gateway, "mysqlWire");
  const client = await mysql.createConnection({ host, port, user: "ann" });
  return {
    ask: async (sql: string, values?: (string | number)[]): Promise<unknown> => {
      const [rows] =
        values === undefined ? await client.query(sql) : await client.execute(sql, values);
      return rows;
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}
