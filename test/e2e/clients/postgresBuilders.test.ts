/** Knex and Drizzle over node-postgres, over a whole gateway. */
import { and, eq, gt, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { date, integer, pgTable, text } from "drizzle-orm/pg-core";
import knex from "knex";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { peopleGateway, type PostgresGateway } from "./postgresGateway.ts";

let people: PostgresGateway;

beforeAll(async () => {
  people = await peopleGateway();
});

afterAll(() => people[Symbol.asyncDispose]());

describe("knex", () => {
  it("makes a table, fills and reads it, and undoes a transaction that fails", async () => {
    const db = knex({
      client: "pg",
      connection: { ...people.address, database: "memory" },
      pool: { min: 0, max: 2, afterCreate: heard },
    });
    try {
      await db.schema.createTable("things", (table) => {
        table.integer("id").primary();
        table.text("name");
        table.decimal("price", 10, 2);
      });
      await db("things").insert([
        { id: 1, name: "a", price: "1.50" },
        { id: 2, name: "b", price: "2.25" },
      ]);
      const failed = db.transaction(async (trx) => {
        await trx("things").where({ id: 1 }).update({ name: "changed" });
        await trx("things").insert({ id: 2, name: "twice" });
      });
      await expect(failed).rejects.toMatchObject({ code: "23505" });
      expect(await db("things").where("price", ">", 1).orderBy("id").select("id", "name")).toEqual([
        { id: 1, name: "a" },
        { id: 2, name: "b" },
      ]);
      expect(await db("things").insert({ id: 3, name: "c" }).returning("id")).toEqual([{ id: 3 }]);
      expect(await db("things").where({ id: 3 }).delete()).toBe(1);
    } finally {
      await db.destroy();
    }
  });
});

describe("Drizzle", () => {
  const table = pgTable("people", {
    id: integer("id").primaryKey(),
    name: text("name"),
    born: date("born"),
  });

  it("selects, inserts with returning, and runs transactions", async () => {
    const pool = new pg.Pool(people.address);
    // Said when the gateway drains before the pool has let go of a connection.
    pool.on("error", () => undefined);
    const db = drizzle(pool);
    try {
      const rows = await db
        .select({ id: table.id, born: table.born })
        .from(table)
        .where(and(gt(table.id, 1), eq(table.name, "name 2")));
      expect(rows).toEqual([{ id: 2, born: "2000-01-03" }]);
      const made = await db
        .insert(table)
        .values({ id: 5001, name: "new", born: "2020-02-29" })
        .returning();
      expect(made).toEqual([{ id: 5001, name: "new", born: "2020-02-29" }]);
      const failed = db.transaction(async (trx) => {
        await trx.delete(table).where(eq(table.id, 5001));
        trx.rollback();
      });
      await expect(failed).rejects.toThrow(/rollback/i);
      const [count] = await db
        .select({ n: sql<number>`count(*)::int` })
        .from(table)
        .where(eq(table.id, 5001));
      expect(count).toEqual({ n: 1 });
      await db.delete(table).where(eq(table.id, 5001));
    } finally {
      await pool.end();
    }
  });
});

/** A connection that is still closing when the gateway drains is told so, and nobody listens any more. */
function heard(client: pg.Client, done: (error: undefined, client: pg.Client) => void): void {
  client.on("error", () => undefined);
  done(undefined, client);
}
