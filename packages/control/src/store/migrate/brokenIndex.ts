/**
 * Indexes that were made beforehand and not to their end: a concurrent build that failed leaves one behind
 * which nobody reads and every insert writes. `IF NOT EXISTS` would take it for a good one.
 */
import { ok, type Result } from "@gateway/core/result.ts";
import type { DatabaseError, Statements } from "../database.ts";
import type { Migration } from "./migration.ts";

const made = /\bcreate\s+(?:unique\s+)?index\s+if\s+not\s+exists\s+"?(\w+)"?/gi;

/** The first index that one of these files would find and that is not valid, also while it is still being built. */
export async function brokenIndex(
  database: Statements,
  files: readonly Migration[],
): Promise<Result<string | undefined, DatabaseError>> {
  const names = files
    .filter(({ outside }) => !outside)
    .flatMap(({ parts }) => parts.flatMap((part) => [...part.matchAll(made)]))
    .map(([, name = ""]) => name);
  if (names.length === 0) return ok(undefined);
  const found = await database.run(
    `select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
     where not i.indisvalid and pg_table_is_visible(c.oid)
       and c.relname in (select jsonb_array_elements_text($1::jsonb))
     order by c.relname limit 1`,
    [JSON.stringify(names)],
  );
  return found.ok ? ok(found.value.rows[0]?.[0] ?? undefined) : found;
}
