/** What the migration runner promises, on any driver. Drops and makes the schemas it uses. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Database } from "../database.ts";
import { migrate, pending } from "./migrate.ts";
import { migrationsOf, type Migration } from "./migration.ts";

export interface MigrateUnderTest {
  readonly name: string;
  readonly open: () => Promise<Database>;
}

const outside = "-- outside a transaction\n";

export function migrateSuite({ name, open }: MigrateUnderTest): void {
  describe(`${name}: migrate`, () => {
    let database: Database;

    beforeAll(async () => {
      database = await open();
    }, 60_000);

    beforeEach(async () => {
      await cleared(database);
    });

    afterAll(async () => {
      await cleared(database);
      await database[Symbol.asyncDispose]();
    });

    it("applies each file once, in the order of the journal", async () => {
      const [first, second, third] = threeFiles();
      expect(await migrate(database, [first])).toEqual(ok({ applied: ["V001__one"] }));
      const files = [first, second, third];
      expect(await migrate(database, files)).toEqual(ok({ applied: ["V002__two", "V004__four"] }));
      expect(await migrate(database, files)).toEqual(ok({ applied: [] }));
      expect(await cells(database, "select * from migrate_suite order by 1")).toEqual(["1", "2"]);
    });

    it("writes the rows that Drizzle's own tool writes", async () => {
      const files = threeFiles();
      await migrate(database, files);
      const rows =
        "select id || ' ' || hash || ' ' || created_at from drizzle.__drizzle_migrations order by id";
      expect(await cells(database, rows)).toEqual(
        files.map(({ hash, when }, index) => `${index + 1} ${hash} ${when}`),
      );
    });

    it("keeps nothing of a file that fails, and everything before it", async () => {
      const [first] = threeFiles();
      const bad = fileOf(
        2,
        "V002__bad",
        "insert into migrate_suite values (7); select no_such_column",
      );
      expect(await migrate(database, [first, bad])).toEqual(
        err({ code: "failed", name: "V002__bad", error: { kind: "refused", code: "42703" } }),
      );
      expect(await cells(database, "select * from migrate_suite")).toEqual(["1"]);
      const repaired = fileOf(2, "V002__bad", "insert into migrate_suite values (7)");
      expect(await migrate(database, [first, repaired])).toEqual(ok({ applied: ["V002__bad"] }));
    });

    it("refuses a database that is newer than the program and names both versions", async () => {
      const files = threeFiles();
      await migrate(database, files);
      const refusal = err({ code: "newer", database: "V004", program: "V002" });
      expect(await migrate(database, files.slice(0, 2))).toEqual(refusal);
      expect(await pending(database, files.slice(0, 2))).toEqual(refusal);
    });

    it("refuses an applied file that was changed", async () => {
      const files = threeFiles();
      await migrate(database, files);
      const [first, , third] = files;
      const changed = fileOf(2, "V002__two", "insert into migrate_suite values (3)");
      expect(await migrate(database, [first, changed, third])).toEqual(
        err({ code: "changed", name: "V002__two" }),
      );
    });

    it("refuses a file that is missing below one that is applied", async () => {
      const [first, second, third] = threeFiles();
      await migrate(database, [first, third]);
      expect(await migrate(database, [first, second, third])).toEqual(
        err({ code: "gap", name: "V002__two" }),
      );
    });

    it("says what is to do without doing it, also to an empty database", async () => {
      const files = threeFiles();
      expect(names(await pending(database, files))).toEqual(files.map(({ name: file }) => file));
      expect(await cells(database, "select to_regnamespace('drizzle')::text")).toEqual([null]);
      await migrate(database, files.slice(0, 2));
      expect(names(await pending(database, files))).toEqual(["V004__four"]);
    });

    it("splits a file at Drizzle's breakpoints and nowhere else", async () => {
      const text =
        "create table migrate_suite (v text);\n--> statement-breakpoint\ninsert into migrate_suite values ('a;b'); insert into migrate_suite values ($$c;d$$);";
      const file = fileOf(1, "V001__texts", text);
      expect(file.parts.length).toBe(2);
      await migrate(database, [file]);
      expect(await cells(database, "select v from migrate_suite order by 1")).toEqual([
        "a;b",
        "c;d",
      ]);
    });

    it("runs a file outside a transaction when its first line says so", async () => {
      const [first] = threeFiles();
      const index = `${outside}create index concurrently if not exists migrate_suite_i on migrate_suite (i);`;
      const file = fileOf(2, "V002__index", index);
      expect(await migrate(database, [first, file])).toEqual(
        ok({ applied: ["V001__one", "V002__index"] }),
      );
      const valid =
        "select indisvalid from pg_index where indexrelid = 'migrate_suite_i'::regclass";
      expect(await cells(database, valid)).toEqual(["t"]);
      expect(await migrate(database, [first, file])).toEqual(ok({ applied: [] }));
    });

    it("writes no row for a file outside a transaction that fails, and begins it anew", async () => {
      const [first] = threeFiles();
      const text = `${outside}insert into migrate_suite values (8)\n--> statement-breakpoint\nselect no_such_column`;
      const bad = fileOf(2, "V002__bad", text);
      expect((await migrate(database, [first, bad])).ok).toBe(false);
      expect(names(await pending(database, [first, bad]))).toEqual(["V002__bad"]);
    });

    it("applies each file once though replicas start together", async () => {
      // Those who wait for the lock must not hold up the index, which waits for their snapshots.
      const index = `${outside}create index concurrently if not exists migrate_suite_i on migrate_suite (i)`;
      const files = [...threeFiles(), fileOf(5, "V005__index", index)];
      const others = await Promise.all(database.kind === "pglite" ? [] : [open(), open()]);
      const outcomes = await Promise.all(
        [database, database, ...others].map((replica) => migrate(replica, files)),
      );
      await Promise.all(others.map((replica) => replica[Symbol.asyncDispose]()));
      const applied = outcomes.flatMap((outcome) =>
        outcome.ok ? outcome.value.applied : [JSON.stringify(outcome.error)],
      );
      expect(applied.toSorted()).toEqual(files.map(({ name: file }) => file));
    });
  });
}

/** Removes what the suite made. */
async function cleared(database: Database): Promise<void> {
  const done = await database.script(
    "drop schema if exists drizzle cascade; drop table if exists migrate_suite",
  );
  if (!done.ok) throw new Error(done.error.code);
}

function threeFiles(): readonly [Migration, Migration, Migration] {
  return [
    fileOf(
      1,
      "V001__one",
      "create table migrate_suite (i int); insert into migrate_suite values (1)",
    ),
    fileOf(2, "V002__two", "insert into migrate_suite values (2)"),
    fileOf(4, "V004__four", "alter table migrate_suite add column j int"),
  ];
}

export function fileOf(when: number, name: string, text: string): Migration {
  const journal = JSON.stringify({ entries: [{ tag: name, when }] });
  const read = migrationsOf({ journal, files: { [name]: text } });
  const file = read.ok ? read.value[0] : undefined;
  if (file === undefined) throw new Error("no migration");
  return file;
}

function names(outcome: Result<readonly Migration[], unknown>): readonly string[] | undefined {
  return outcome.ok ? outcome.value.map(({ name }) => name) : undefined;
}

/** The first cell of each row. */
async function cells(database: Database, sql: string): Promise<readonly (string | null)[]> {
  const answer = await database.run(sql);
  if (!answer.ok) throw new Error(answer.error.code);
  return answer.value.rows.map(([cell]) => cell ?? null);
}
