/**
 * A PGlite of this process with the migrations applied, for tests of the store alone. What runs in
 * production, in a thread and behind a lock, is driver/pglite.ts.
 */
import { readFile } from "node:fs/promises";
import { PGlite, types } from "@electric-sql/pglite";
import { err, ok } from "@gateway/core/result.ts";
import type { Database, DatabaseError, Parameter, Statements } from "../database.ts";

const migrations = new URL("../../../../../migrations/", import.meta.url);

/** Every type as the text that PostgreSQL sends. */
const asText = Object.fromEntries(
  [...Object.values(types), 1009, 2278].map((type) => [type, (text: string) => text]),
);

export interface TestDatabase {
  readonly pglite: PGlite;
  readonly database: Database;
  /** Takes every row away. */
  readonly empty: () => Promise<void>;
}

/** Opens one in memory, with the migrations up to the named version. */
export async function testDatabase(upTo = "V999"): Promise<TestDatabase> {
  const pglite = await PGlite.create();
  await migrate(pglite, (tag) => tag.slice(0, 4) <= upTo);
  return {
    pglite,
    database: databaseOf(pglite),
    empty: async () => {
      const names = await pglite.query<{ tablename: string }>(
        "select tablename from pg_tables where schemaname = 'public'",
      );
      await pglite.exec(`truncate ${names.rows.map(({ tablename }) => tablename).join(", ")}`);
    },
  };
}

/** Applies the files that `wanted` names, in the order of the journal. */
export async function migrate(pglite: PGlite, wanted: (tag: string) => boolean): Promise<void> {
  const journal = JSON.parse(await readFile(new URL("meta/_journal.json", migrations), "utf8"));
  for (const { tag } of journal.entries as readonly { tag: string }[]) {
    if (!wanted(tag)) continue;
    await pglite.exec(await readFile(new URL(`${tag}.sql`, migrations), "utf8"));
  }
}

function databaseOf(pglite: PGlite): Database {
  const statements = statementsOf(pglite);
  return {
    kind: "pglite",
    ...statements,
    transaction: (work) => work(statements),
    listen: (channel, wake) => {
      const listening = pglite.listen(channel, wake);
      return { [Symbol.asyncDispose]: async () => (await listening)() };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function statementsOf(pglite: PGlite): Statements {
  return {
    run: async (sql, parameters: readonly Parameter[] = []) => {
      try {
        const answer = await pglite.query<(string | null)[]>(sql, [...parameters], {
          rowMode: "array",
          parsers: asText,
        });
        return ok({ rows: answer.rows, count: answer.affectedRows ?? 0 });
      } catch (error) {
        return err(refusalOf(error));
      }
    },
    script: async (sql) => {
      await pglite.exec(sql);
      return ok(undefined);
    },
  };
}

function refusalOf(error: unknown): DatabaseError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  return { kind: "refused", code };
}
