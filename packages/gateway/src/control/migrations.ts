/** The migrations that travel with the bundle, applied or only looked at. Answers lines for the operator. */
import type { Database, DatabaseError } from "@gateway/control/store/database.ts";
import { migrate, pending, type MigrateRefusal } from "@gateway/control/store/migrate/migrate.ts";
import { readMigrations, type Migration } from "@gateway/control/store/migrate/migration.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";

/** Brings the database up; answers the names of the files that were applied. */
export async function migrateDatabase(
  database: Database,
  bundle: URL,
): Promise<Result<readonly string[], string>> {
  const files = await migrationsIn(bundle);
  if (!files.ok) return files;
  const migrated = await migrate(database, files.value);
  return migrated.ok ? ok(migrated.value.applied) : err(refusalText(migrated.error));
}

/** Refuses a database that is older or newer than this program. */
export async function checkDatabase(
  database: Database,
  bundle: URL,
): Promise<Result<void, string>> {
  const files = await migrationsIn(bundle);
  if (!files.ok) return files;
  const missing = await pending(database, files.value);
  if (!missing.ok) return err(refusalText(missing.error));
  if (missing.value.length === 0) return ok(undefined);
  const names = missing.value.map(({ name }) => name).join(", ");
  return err(`the database lacks ${names}; run \`gateway migrate\` first`);
}

async function migrationsIn(bundle: URL): Promise<Result<readonly Migration[], string>> {
  const files = await readMigrations(new URL("migrations/", bundle));
  if (files.ok) return files;
  const { error } = files;
  const reason = error.code === "missing" ? `${error.name}.sql is missing` : error.detail;
  return err(`the migrations of this program can not be read (${reason})`);
}

function refusalText(refusal: MigrateRefusal): string {
  switch (refusal.code) {
    case "newer":
      return `the database is at ${refusal.database}, newer than this program, which knows ${refusal.program}`;
    case "changed":
      return `${refusal.name} was applied and is not what it was then`;
    case "gap":
      return `${refusal.name} is missing in the database, though a later one is there`;
    case "brokenIndex":
      return `the index ${refusal.name} is not valid: its build failed or still runs; when none runs, \`DROP INDEX ${refusal.name}\` and try again`;
    case "failed":
      return `${refusal.name} failed (${databaseText(refusal.error)})`;
    case "database":
      return `the database is not available (${databaseText(refusal.error)})`;
  }
}

function databaseText({ kind, code }: DatabaseError): string {
  return kind === "refused" ? `SQLSTATE ${code}` : code;
}
