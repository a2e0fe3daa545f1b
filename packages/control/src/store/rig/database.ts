/**
 * Databases for the tests of the store: a PGlite of this process, and what makes any database ready.
 *
 * What runs in production, PGlite in a thread and behind a lock, is driver/pglite.ts; what applies
 * migrations there, one transaction each, is migrate/migrate.ts.
 */
import { readFile } from "node:fs/promises";
import { PGlite, types } from "@electric-sql/pglite";
import { err, ok } from "@gateway/core/result.ts";
import type {
  StatementResult,
  Database,
  DatabaseError,
  Parameter,
  Statements,
} from "../database.ts";

const migrations = new URL("../../../../../migrations/", import.meta.url);

/** What the build made for PGlite's thread. */
const dataFile = new URL("../../../../gateway/dist/pglite.tar.gz", import.meta.url);

/** Later than any version. */
const newest = "V999";

/** Types that PGlite has no name for: text[], and void. */
const unnamedTypes = [1009, 2278];

/** Every type as the text that PostgreSQL sends. */
const asText = Object.fromEntries(
  [...Object.values(types), ...unnamedTypes].map((type) => [type, (text: string) => text]),
);

export interface TestDatabase extends AsyncDisposable {
  /** Disposing it leaves PGlite open for the next test. */
  readonly database: Database;
}

/** A PGlite in memory with the migrations up to the named version. */
export async function testDatabase(upTo: string = newest): Promise<TestDatabase> {
  const pglite = await PGlite.create({
    loadDataDir: new Blob([new Uint8Array(await readFile(dataFile))]),
  });
  const database = databaseOf(pglite);
  await applyMigrations(database, { upTo });
  return { database, [Symbol.asyncDispose]: () => pglite.close() };
}

/** Applies the migrations between two versions, in the order of the journal. */
export async function applyMigrations(
  database: Statements,
  { after = "", upTo = newest }: { readonly after?: string; readonly upTo?: string },
): Promise<void> {
  const journal = JSON.parse(await readFile(new URL("meta/_journal.json", migrations), "utf8"));
  for (const { tag } of journal.entries as readonly { readonly tag: string }[]) {
    const version = tag.slice(0, newest.length);
    if (version <= after || version > upTo) continue;
    const text = await readFile(new URL(`${tag}.sql`, migrations), "utf8");
    const applied = await database.script(text);
    if (!applied.ok) throw new Error(`${tag}: ${applied.error.code}`);
  }
}

/** Takes every row of the store away, and leaves the ledger of migrations. */
export async function emptyTables(database: Statements): Promise<void> {
  const { rows } = await asked(
    database,
    "select quote_ident(tablename) from pg_tables where schemaname = 'public'",
  );
  const names = rows.map(([name]) => name).join(", ");
  await asked(database, `truncate ${names} restart identity`);
}

/** What the database says to a statement that must not fail. */
export async function asked(
  database: Statements,
  sql: string,
  parameters: readonly Parameter[] = [],
): Promise<StatementResult> {
  const answer = await database.run(sql, parameters);
  if (!answer.ok) throw new Error(`the database refused: ${answer.error.code}`);
  return answer.value;
}

function databaseOf(pglite: PGlite): Database {
  const statements = statementsOf(pglite);
  return {
    kind: "pglite",
    ...statements,
    transaction: () => {
      throw new Error("the store has no use for a transaction");
    },
    listen: (channel, wake) => {
      const listening = pglite.listen(channel, wake);
      return { [Symbol.asyncDispose]: async () => (await listening)() };
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function statementsOf(pglite: PGlite): Statements {
  return {
    run: async (sql, parameters = []) => {
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
      try {
        await pglite.exec(sql);
        return ok(undefined);
      } catch (error) {
        return err(refusalOf(error));
      }
    },
  };
}

function refusalOf(error: unknown): DatabaseError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  return { kind: "refused", code };
}
