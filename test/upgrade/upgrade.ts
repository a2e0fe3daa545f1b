/**
 * An upgrade from a standalone gateway's database (V017) to the newest, while queries go on being
 * recorded. The caller brings the database and says how many records it holds.
 */
import { readFile } from "node:fs/promises";
import { systemClock } from "@gateway/gateway/host/clock.ts";
import type { Database } from "@gateway/control/store/database.ts";
import { migrate } from "@gateway/control/store/migrate/migrate.ts";
import { readMigrations, type Migration } from "@gateway/control/store/migrate/migration.ts";

const migrations = new URL("../../migrations/", import.meta.url);
const guide = new URL("../../docs/upgrade.md", import.meta.url);
/** The last version before worker mode. */
const standalone = "V017";
/** 2026-01-01, in milliseconds. */
const firstMs = 1_767_225_600_000;

export interface Recorded {
  /** Ids whose insert was acknowledged. */
  readonly ids: readonly string[];
  /** The longest time that one insert took. */
  readonly longestMs: number;
}

export async function standaloneFiles(): Promise<readonly Migration[]> {
  return (await allFiles()).filter(({ version }) => version <= standalone);
}

export async function allFiles(): Promise<readonly Migration[]> {
  const files = await readMigrations(migrations);
  if (!files.ok) throw new Error(JSON.stringify(files.error));
  return files.value;
}

/** Makes the database of a standalone gateway with so many records. */
export async function makeStandalone(database: Database, records: number): Promise<void> {
  await migrated(database, await standaloneFiles());
  await scripted(
    database,
    `insert into query_records
      (proxy_query_id, content_hash, created_at, user_name, status, cluster_group, frontend, rest)
     select 'old' || i, 'sha256:' || md5(i::text), ${firstMs} + i, 'user' || i % 50,
       case when i % 20 = 0 then 'failed' else 'finished' end, 'group' || i % 5, 'postgres',
       jsonb_build_object('tags', '{}'::jsonb, 'sql', 'select ' || i)
     from generate_series(1, ${records}) i`,
  );
  await scripted(database, "analyze query_records");
}

/** What the upgrade guide tells an operator to do before an upgrade without a pause: its own statements. */
export async function prepareBeforehand(database: Database): Promise<void> {
  const [, block = ""] = /```sql\n([\s\S]*?)```/.exec(await readFile(guide, "utf8")) ?? [];
  const statements = block.split(";").filter((statement) => statement.trim() !== "");
  if (statements.length < 2) throw new Error("the guide has no statements any more");
  // One by one: a concurrent build runs in no transaction with another statement.
  for (const statement of statements) await scripted(database, statement);
}

/** Brings the database to the newest version; answers the names of the files. */
export async function upgrade(database: Database): Promise<readonly string[]> {
  return migrated(database, await allFiles());
}

/** Inserts one record after the other, as a running gateway would, until `work` is done. */
export async function recordingDuring(
  database: Database,
  prefix: string,
  work: () => Promise<unknown>,
): Promise<Recorded> {
  const ids: string[] = [];
  let longestMs = 0;
  const working = { now: true };
  const record = async (): Promise<void> => {
    // At least one, so that a short piece of work is watched as well.
    do {
      const id = `${prefix}${ids.length}`;
      const startMs = systemClock.nowMs();
      const inserted = await database.run(
        `insert into query_records
          (proxy_query_id, content_hash, created_at, user_name, status, frontend, rest)
         values ($1, 'sha256:x', $2::bigint, 'ann', 'finished', 'postgres', '{"tags": {}}')`,
        [id, firstMs + ids.length],
      );
      if (!inserted.ok) throw new Error(inserted.error.code);
      longestMs = Math.max(longestMs, systemClock.nowMs() - startMs);
      ids.push(id);
    } while (working.now);
  };
  const watched = work().finally(() => {
    working.now = false;
  });
  await Promise.all([watched, record()]);
  return { ids, longestMs };
}

/** The number that a query answers. */
export async function numberOf(database: Database, sql: string): Promise<number> {
  const answer = await database.run(sql);
  if (!answer.ok) throw new Error(answer.error.code);
  return Number(answer.value.rows[0]?.[0]);
}

async function migrated(
  database: Database,
  files: readonly Migration[],
): Promise<readonly string[]> {
  const outcome = await migrate(database, files);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  return outcome.value.applied;
}

async function scripted(database: Database, sql: string): Promise<void> {
  const done = await database.script(sql);
  if (!done.ok) throw new Error(done.error.code);
}
