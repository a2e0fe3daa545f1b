/** Drizzle and Knex, each over mysql2, against a whole gateway over DuckDB. */
import { eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/mysql2";
import { decimal, int, mysqlTable, text } from "drizzle-orm/mysql-core";
import knex from "knex";
import { createPool } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../gateway.ts";

let gateway: TestGateway;

const connectionOf = () => ({
  host: "127.0.0.1",
  port: portOf(gateway, "mysqlWire"),
  user: "ann",
  database: "main",
});

beforeAll(async () => {
  gateway = await gatewayOf(configOf());
}, 30_000);

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

describe("Drizzle", () => {
  it("creates, writes, reads, joins and counts in transactions", async () => {
    const pool = createPool(connectionOf());
    const db = drizzle(pool);
    const books = mysqlTable("books", {
      id: int("id").primaryKey(),
      title: text("title").notNull(),
      price: decimal("price", { precision: 8, scale: 2 }),
    });
    await db.execute(
      sql`create table books (id integer primary key, title varchar not null, price decimal(8,2))`,
    );
    await db.transaction(async (tx) => {
      await tx.insert(books).values([
        { id: 1, title: "it's", price: "1.50" },
        { id: 2, title: "b", price: null },
      ]);
    });
    await db.update(books).set({ price: "2.00" }).where(eq(books.id, 2));
    expect(await db.select().from(books).orderBy(books.id)).toEqual([
      { id: 1, title: "it's", price: "1.50" },
      { id: 2, title: "b", price: "2.00" },
    ]);
    const failed = db.transaction(async (tx) => {
      await tx.delete(books);
      throw new Error("never mind");
    });
    await expect(failed).rejects.toThrow("never mind");
    expect(await db.$count(books)).toBe(2);
    await pool.end();
  });
});

describe("Knex", () => {
  it("makes a table, looks it up, writes and reads it", async () => {
    const db = knex({ client: "mysql2", connection: connectionOf() });
    expect(await db.schema.hasTable("shelves")).toBe(false);
    await db.raw("create table shelves (id integer primary key, name varchar)");
    expect(await db.schema.hasTable("shelves")).toBe(true);
    await db("shelves").insert([
      { id: 1, name: "a" },
      { id: 2, name: null },
    ]);
    const rows = await db("shelves").where("id", ">", 0).orderBy("id");
    expect(rows.map((row: object) => ({ ...row }))).toEqual([
      { id: 1, name: "a" },
      { id: 2, name: null },
    ]);
    expect(await db("shelves").columnInfo("name")).toMatchObject({ type: "text", nullable: true });
    await db.transaction(async (tx) => {
      await tx("shelves").where({ id: 1 }).delete();
    });
    expect(await db("shelves").count({ n: "*" })).toMatchObject([{ n: 1 }]);
    await db.destroy();
  });
});
