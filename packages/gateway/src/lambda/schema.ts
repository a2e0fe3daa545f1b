/** Whether a database has exactly the migrations that this program was made with. Changes nothing. */
import type { Statements } from "@gateway/control/store/database.ts";
import { pending, type MigrateRefusal } from "@gateway/control/store/migrate/migrate.ts";
import type { Migration } from "@gateway/control/store/migrate/migration.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { OpenRefusal } from "./opening.ts";

/** `files`: the program's, oldest first. */
export async function judgeSchema(
  database: Statements,
  files: readonly Migration[],
): Promise<Result<void, OpenRefusal>> {
  const missing = await pending(database, files);
  if (!missing.ok) return err(refusalOf(missing.error));
  const [first] = missing.value;
  if (first === undefined) return ok(undefined);
  const before = files[files.indexOf(first) - 1]?.version ?? "none";
  const detail = `The database is older (${before}) than this program (${files.at(-1)?.version}): the deploy step has not migrated it.`;
  return err({ code: "databaseVersion", detail });
}

function refusalOf(refusal: MigrateRefusal): OpenRefusal {
  switch (refusal.code) {
    case "newer": {
      const { database, program } = refusal;
      const detail = `The database is newer (${database}) than this program (${program}).`;
      return { code: "databaseVersion", detail };
    }
    case "changed":
      return {
        code: "databaseVersion",
        detail: `Migration ${refusal.name} is another one in the database.`,
      };
    case "gap":
      return {
        code: "databaseVersion",
        detail: `Migration ${refusal.name} is missing in the database.`,
      };
    case "brokenIndex":
      return {
        code: "databaseVersion",
        detail: `The index ${refusal.name} of the database is not valid.`,
      };
    case "failed":
    case "database":
      return { code: "unavailable", detail: refusal.error.code };
  }
}
