/** Savepoints over a whole gateway and an engine that has none: what works, and what is refused in which words. */
import knex from "knex";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { peopleGateway, type PostgresGateway } from "./postgresGateway.ts";

let people: PostgresGateway;

beforeAll(async () => {
  people = await peopleGateway();
  await one(async (ask) => {
    await ask("create table kept (n integer primary key)");
  });
});

afterAll(() => people[Symbol.asyncDispose]());

describe("savepoints", () => {
  it("work as in PostgreSQL as long as nothing fails", async () => {
    await one(async (ask) => {
      await ask("begin");
      expect((await ask("savepoint a")).command).toBe("SAVEPOINT");
      await ask("insert into kept values (1)");
      expect((await ask("release savepoint a")).command).toBe("RELEASE");
      await ask("commit");
      expect((await ask("select n from kept")).rows).toEqual([{ n: 1 }]);
    });
  });

  it("take back a statement that failed and what it broke in the engine, when nothing was changed before", async () => {
    await one(async (ask) => {
      await ask("begin");
      await ask("select 1");
      await ask("savepoint a");
      await expect(ask("insert into kept values (2), (1)")).rejects.toMatchObject({
        code: "23505",
      });
      await expect(ask("select 1")).rejects.toMatchObject({ code: "25P02" });
      expect((await ask("rollback to savepoint a")).command).toBe("ROLLBACK");
      await ask("insert into kept values (3)");
      await ask("commit");
      expect((await ask("select n from kept order by n")).rows).toEqual([{ n: 1 }, { n: 3 }]);
      await ask("delete from kept where n = 3");
    });
  });

  it("take back a statement that the engine did not begin, whatever was changed before", async () => {
    await one(async (ask) => {
      await ask("begin");
      await ask("insert into kept values (4)");
      await ask("savepoint a");
      await expect(ask("insert into nowhere values (1)")).rejects.toMatchObject({ code: "42P01" });
      await ask("rollback to a");
      await ask("commit");
      expect((await ask("delete from kept where n = 4")).rowCount).toBe(1);
    });
  });

  it("say so where only all can be undone, and leave the transaction failed", async () => {
    await one(async (ask) => {
      await ask("begin");
      await ask("insert into kept values (5)");
      await ask("savepoint a");
      await ask("insert into kept values (6)");
      await expect(ask("rollback to a")).rejects.toMatchObject({
        code: "0A000",
        message: expect.stringContaining("rolled back as a whole"),
      });
      await expect(ask("select 1")).rejects.toMatchObject({ code: "25P02" });
      expect((await ask("commit")).command).toBe("ROLLBACK");
      expect((await ask("select n from kept where n > 4")).rows).toEqual([]);
    });
  });

  it("bring settings back, and an error of the gateway's own is taken back too", async () => {
    await one(async (ask) => {
      await ask("begin");
      await ask("insert into kept values (7)");
      await ask("set application_name = 'before'");
      await ask("savepoint a");
      await ask("set local application_name = 'behind'");
      await expect(ask("select current_setting('no_such')")).rejects.toMatchObject({
        code: "42704",
      });
      await ask("rollback to a");
      expect((await ask("show application_name")).rows).toEqual([{ application_name: "before" }]);
      await ask("rollback");
    });
  });

  it("are refused where they mean nothing", async () => {
    await one(async (ask) => {
      await expect(ask("savepoint a")).rejects.toMatchObject({ code: "25P01" });
      await expect(ask("insert into kept values (8); savepoint a")).rejects.toMatchObject({
        code: "25P01",
      });
      await ask("begin");
      await expect(ask("rollback to a")).rejects.toMatchObject({ code: "3B001" });
      await ask("rollback");
      expect((await ask("select n from kept where n = 8")).rows).toEqual([]);
    });
  });

  it("chain transactions", async () => {
    await one(async (ask) => {
      await ask("begin");
      await ask("set local application_name = 'first'");
      await ask("insert into kept values (9)");
      await ask("commit and chain");
      expect((await ask("show application_name")).rows).toEqual([{ application_name: "" }]);
      await ask("delete from kept");
      await ask("rollback and chain");
      expect((await ask("delete from kept where n = 9")).rowCount).toBe(1);
      await ask("commit");
      await expect(ask("commit and chain")).rejects.toMatchObject({ code: "25P01" });
      // Its engine does not know of this error.
      await ask("begin");
      await expect(ask("set timezone = 'Nowhere'")).rejects.toMatchObject({ code: "22023" });
      await ask("commit and chain");
      await ask("insert into kept values (10)");
      await ask("rollback");
      expect((await ask("select n from kept where n = 10")).rows).toEqual([]);
    });
  });

  it("show what BEGIN asked for, up to its end", async () => {
    await one(async (ask) => {
      const shown = async () => (await ask("show transaction_isolation")).rows[0];
      await ask("begin isolation level repeatable read");
      expect(await shown()).toEqual({ transaction_isolation: "repeatable read" });
      await ask("commit");
      expect(await shown()).toEqual({ transaction_isolation: "read committed" });
      await ask("begin read only");
      expect((await ask("show transaction_read_only")).rows).toEqual([
        { transaction_read_only: "on" },
      ]);
      await expect(ask("insert into kept values (11)")).rejects.toMatchObject({ code: "25006" });
      await ask("rollback");
    });
  });

  it("let knex nest transactions", async () => {
    const db = knex({ client: "pg", connection: people.address, pool: { min: 0, max: 1 } });
    try {
      await db.transaction(async (outer) => {
        const failing = outer.transaction(async (inner) => {
          await inner("nowhere").insert({ n: 1 });
        });
        await expect(failing).rejects.toMatchObject({ code: "42P01" });
        await outer.transaction(async (inner) => {
          await inner("kept").insert({ n: 10 });
        });
      });
      expect(await db("kept").where({ n: 10 }).delete()).toBe(1);
    } finally {
      await db.destroy();
    }
  });
});

type Ask = (sql: string) => Promise<pg.QueryResult>;

async function one(use: (ask: Ask) => Promise<void>): Promise<void> {
  const client = new pg.Client(people.address);
  await client.connect();
  try {
    await use((sql) => client.query(sql));
  } finally {
    await client.end();
  }
}
