/** What every driver promises, whatever leads to the database. Run by the test of each. */
import { beforeAll, afterAll, describe, expect, it } from "vitest";
import { nodeHost } from "@gateway/gateway/host/node.ts";
import { err, ok } from "@gateway/core/result.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Database } from "../database.ts";

/** The host of a real process; threads come from the bundle that the test run built. */
export function hostOf(): Host {
  return nodeHost(new URL("../../../../gateway/dist/", import.meta.url), "silent");
}

export interface DriverUnderTest {
  readonly name: string;
  readonly open: () => Promise<Database>;
  /** Whether `listen` is there. */
  readonly listens: boolean;
}

/** Makes and drops its own table; the database may hold other things. */
export function driverSuite({ name, open, listens }: DriverUnderTest): void {
  describe(`${name}: Database`, () => {
    let database: Database;

    beforeAll(async () => {
      database = await open();
      await scripted(
        database,
        "drop table if exists driver_suite; create table driver_suite (id int primary key, value text)",
      );
    }, 60_000);

    afterAll(async () => {
      await scripted(database, "drop table driver_suite");
      await database[Symbol.asyncDispose]();
    });

    it("answers cells as PostgreSQL's own text, whatever their type", async () => {
      const answer = await database.run(
        `select $1::int + 1, $2::bytea, null, $3::bool, '{"a": [1]}'::jsonb, 1.50::numeric,
         $4::text[], 9007199254740993::bigint, timestamptz '2026-01-02 03:04:05.678901Z' at time zone 'UTC', $5::text`,
        [41, new Uint8Array([0, 255]), true, "{a,b}", null],
      );
      const cells = ["42", "\\x00ff", null, "t", '{"a": [1]}', "1.50", "{a,b}", "9007199254740993"];
      expect(answer.ok && answer.value.rows).toEqual([
        [...cells, "2026-01-02 03:04:05.678901", null],
      ]);
    });

    it("counts the rows that a statement touched, and none for those it read", async () => {
      const insert =
        "insert into driver_suite select i, 'x' from generate_series(100, 104) i returning id";
      const inserted = await database.run(insert);
      const read = await database.run("select id from driver_suite where id >= $1", [100]);
      const deleted = await database.run("delete from driver_suite where id >= 100");
      expect([inserted, read, deleted].map((answer) => answer.ok && answer.value.count)).toEqual([
        5, 0, 5,
      ]);
      expect(inserted.ok && inserted.value.rows.length).toBe(5);
      expect(read.ok && read.value.rows.length).toBe(5);
    });

    it("takes a parameter as a value, whatever is written in it", async () => {
      const value = `'); drop table driver_suite; -- \\ "x" $1 \u{1F600}\n`;
      const answer = await database.run("select $1::text", [value]);
      expect(answer.ok && answer.value.rows).toEqual([[value]]);
    });

    it("answers a refusal with its SQLSTATE and constraint and nothing of its text", async () => {
      await database.run("insert into driver_suite values (1, 'one')");
      const secret = "hunter2";
      const insert = await database.run("insert into driver_suite values (1, $1)", [secret]);
      const syntax = await database.run(`select '${secret}'::int`);
      expect(insert).toEqual(
        err({ kind: "refused", code: "23505", constraint: "driver_suite_pkey" }),
      );
      expect(syntax).toEqual(err({ kind: "refused", code: "22P02" }));
    });

    it("commits what answers ok, and only then", async () => {
      const outcome = await database.transaction(async (statements) => {
        await statements.run("insert into driver_suite values (2, 'two')");
        const seen = await statements.run("select value from driver_suite where id = 2");
        return ok(seen.ok && seen.value.rows);
      });
      expect(outcome).toEqual(ok([["two"]]));
      expect(await valueOf(database, 2)).toBe("two");
    });

    it("rolls back what answers an error", async () => {
      const outcome = await database.transaction(async (statements) => {
        await statements.run("insert into driver_suite values (3, 'three')");
        return err("changed my mind");
      });
      expect(outcome).toEqual(err("changed my mind"));
      expect(await valueOf(database, 3)).toBeUndefined();
    });

    it("rolls back and throws on when the work throws", async () => {
      const bug = new Error("bug");
      const outcome = database.transaction(async (statements) => {
        await statements.run("insert into driver_suite values (4, 'four')");
        throw bug;
      });
      await expect(outcome).rejects.toBe(bug);
      expect(await valueOf(database, 4)).toBeUndefined();
    });

    it("does not call a transaction committed whose failed statement was overlooked", async () => {
      const outcome = await database.transaction(async (statements) => {
        await statements.run("insert into driver_suite values (5, 'five')");
        await statements.run("select * from no_such_table");
        return ok("done");
      });
      expect(outcome).toEqual(err({ kind: "refused", code: "25P02" }));
      expect(await valueOf(database, 5)).toBeUndefined();
    });

    it("keeps transactions apart that run at once", async () => {
      await database.run("insert into driver_suite values (6, '0')");
      const add = (): Promise<unknown> =>
        database.transaction(async (statements) => {
          const read = await statements.run(
            "select value from driver_suite where id = 6 for update",
          );
          const next = read.ok ? String(Number(read.value.rows[0]?.[0]) + 1) : "lost";
          return statements.run("update driver_suite set value = $1 where id = 6", [next]);
        });
      await Promise.all(Array.from({ length: 8 }, add));
      expect(await valueOf(database, 6)).toBe("8");
    });

    it("runs a script of several statements", async () => {
      const script =
        "insert into driver_suite values (7, 'a'); update driver_suite set value = 'b;c' where id = 7";
      expect(await database.script(script)).toEqual(ok(undefined));
      expect(await valueOf(database, 7)).toBe("b;c");
      expect(await database.script("select 1; select * from no_such_table")).toEqual(
        err({ kind: "refused", code: "42P01" }),
      );
    });

    it("wakes a listener for a notification on its channel, or has no listening", async () => {
      expect(database.listen !== undefined).toBe(listens);
      if (!listens) return;
      let wake = (): void => {};
      const woken = (): Promise<void> =>
        new Promise((resolve) => {
          wake = resolve;
        });
      const first = woken();
      await using _listener = database.listen?.('Odd "Channel', () => wake());
      // The first wake says that the listener is in place.
      await first;
      const second = woken();
      await database.run(`select pg_notify('Odd "Channel', '')`);
      await second;
    });

    it("answers a statement after its end as unreachable", async () => {
      const other = await open();
      await other[Symbol.asyncDispose]();
      expect(await other.run("select 1")).toEqual(
        err({ kind: "unreachable", code: expect.any(String) }),
      );
      const never = await other.transaction(() => Promise.resolve(ok("never")));
      expect(never.ok).toBe(false);
    }, 30_000);
  });
}

/** The value of a row; undefined when there is none. */
async function valueOf(database: Database, id: number): Promise<string | null | undefined> {
  const answer = await database.run("select value from driver_suite where id = $1", [id]);
  if (!answer.ok) throw new Error(answer.error.code);
  return answer.value.rows[0]?.[0];
}

async function scripted(database: Database, sql: string): Promise<void> {
  const done = await database.script(sql);
  if (!done.ok) throw new Error(done.error.code);
}
