/**
 * What a server's background processes do, and a PGlite has none: the log is cut, and the room of dead rows is
 * free again. Both lie in memory here, as all of its data does; each question leaves half a kilobyte.
 */
import type { PGlite } from "@electric-sql/pglite";

/** Less is not worth the ten milliseconds. */
const logBytesMax = 1024 * 1024;
const logBytesSql =
  "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 AS bytes FROM pg_control_checkpoint()";

/** A question changes the name of the role that asks and nothing else; a fill changes every catalog. */
export type Changed = "roles" | "all";

/** Outside a transaction, as the superuser. */
export async function tidy(pglite: PGlite, changed: Changed): Promise<void> {
  if ((await logBytes(pglite)) < logBytesMax) return;
  await pglite.exec(changed === "all" ? "VACUUM" : "VACUUM pg_catalog.pg_authid");
  await pglite.exec("CHECKPOINT");
}

/** Since the last checkpoint. */
export async function logBytes(pglite: PGlite): Promise<number> {
  const { rows } = await pglite.query<{ bytes: number }>(logBytesSql);
  return rows[0]?.bytes ?? 0;
}
