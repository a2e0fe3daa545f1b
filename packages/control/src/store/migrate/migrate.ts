/**
 * Brings a database up to the program: each file once, in the order of the journal, whoever else
 * tries at the same time.
 *
 * **A file** runs in one transaction, which first takes a transaction-scoped advisory lock and then
 * looks at the ledger again: of two replicas the second one waits, and finds the file applied. The
 * ledger's row commits with the file or not at all. No lock is waited for longer than a moment, for
 * everybody who comes to the same table queues behind a waiting ALTER TABLE; the file is rolled back
 * and tried again instead.
 *
 * **A file whose first line is `-- outside a transaction`** (for CREATE INDEX CONCURRENTLY) runs part
 * by part on other connections, while a transaction that does nothing else holds the lock. A
 * concurrent build waits for every older snapshot, so that transaction keeps none, and those who
 * wait for the lock give theirs up with each try. The ledger's row is written by it at the end. When
 * the process ends on the way, the lock ends with its connection, no row is written, and the next
 * run begins the file anew; when only the lock's connection breaks, another replica may begin while
 * the last part still runs. So each part of such a file must stand being run twice, also at once:
 * `if not exists`, and a `drop index concurrently if exists` before a build that may have left an
 * invalid index behind. PGlite has one connection; there the parts run without the lock, under the
 * same condition.
 *
 * Drizzle's own tool runs every file in one transaction and so can not apply one of the second kind.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Database, DatabaseError, Statements } from "../database.ts";
import { brokenIndex } from "./brokenIndex.ts";
import {
  enterLedger,
  judgeLedger,
  nameInLedger,
  prepareLedger,
  readLedger,
  type LedgerRefusal,
} from "./ledger.ts";
import type { Migration } from "./migration.ts";

/**
 * `brokenIndex`: one that was made beforehand is not valid; nothing was applied.
 * `failed`: a file did not run to its end; nothing of it is kept unless it runs outside a transaction.
 * `database`: the ledger could not be read or written, or the lock not be had.
 */
export type MigrateRefusal =
  | LedgerRefusal
  | { readonly code: "brokenIndex"; readonly name: string }
  | { readonly code: "failed"; readonly name: string; readonly error: DatabaseError }
  | { readonly code: "database"; readonly error: DatabaseError };

export interface Migrated {
  /** Names of the files that this call applied, in order. */
  readonly applied: readonly string[];
}

/** "gateway" as a number: every program that migrates this database takes the same lock. */
const lockKey = "29099075147620729";

/** The files that `migrate` would apply, oldest first. Writes nothing and takes no lock. */
export async function pending(
  database: Statements,
  files: readonly Migration[],
): Promise<Result<readonly Migration[], MigrateRefusal>> {
  const applied = await readLedger(database);
  return applied.ok
    ? judgeLedger(applied.value, files)
    : err({ code: "database", error: applied.error });
}

/** Applies what is missing. What was applied before a refusal stays applied. */
export async function migrate(
  database: Database,
  files: readonly Migration[],
): Promise<Result<Migrated, MigrateRefusal>> {
  const prepared = await prepare(database, files);
  if (!prepared.ok) return prepared;
  const applied: string[] = [];
  for (const file of prepared.value) {
    const done = file.outside
      ? await applyOutside(database, files, file)
      : await applyInside(database, files, file);
    if (!done.ok) return done;
    if (done.value) applied.push(file.name);
  }
  return ok({ applied });
}

/** Makes the ledger, names what Drizzle's tool applied, and answers what is to do. */
async function prepare(
  database: Database,
  files: readonly Migration[],
): Promise<Result<readonly Migration[], MigrateRefusal>> {
  // Before anything is written: an older program must leave a newer database as it is.
  const judged = await pending(database, files);
  if (!judged.ok) return judged;
  const broken = await brokenIndex(database, judged.value);
  if (!broken.ok) return err({ code: "database", error: broken.error });
  if (broken.value !== undefined) return err({ code: "brokenIndex", name: broken.value });
  return locked(database, async (statements) => {
    const made = await prepareLedger(statements);
    if (!made.ok) return err({ code: "database", error: made.error });
    const applied = await readLedger(statements);
    if (!applied.ok) return err({ code: "database", error: applied.error });
    const nameless = new Set(
      applied.value.flatMap(({ hash, name }) => (name === undefined ? [hash] : [])),
    );
    for (const file of files) {
      const named = nameless.has(file.hash) ? await nameInLedger(statements, file) : ok(undefined);
      if (!named.ok) return err({ code: "database", error: named.error });
    }
    return judgeLedger(applied.value, files);
  });
}

/** Whether it was applied here; another replica may have been faster. */
function applyInside(
  database: Database,
  files: readonly Migration[],
  file: Migration,
): Promise<Result<boolean, MigrateRefusal>> {
  return locked(database, async (statements) => {
    const missing = await stillMissing(statements, files, file);
    if (!missing.ok || !missing.value) return missing;
    for (const part of file.parts) {
      const ran = await statements.script(part);
      if (!ran.ok) return failed(file, ran.error);
    }
    const entered = await enterLedger(statements, file);
    return entered.ok ? ok(true) : failed(file, entered.error);
  });
}

async function applyOutside(
  database: Database,
  files: readonly Migration[],
  file: Migration,
): Promise<Result<boolean, MigrateRefusal>> {
  const runParts = async (): Promise<Result<boolean, MigrateRefusal>> => {
    for (const part of file.parts) {
      const ran = await database.script(part);
      if (!ran.ok) return failed(file, ran.error);
    }
    return ok(true);
  };
  const alone = database.kind === "pglite";
  const early = alone ? await runParts() : ok(true);
  if (!early.ok) return early;
  return locked(database, async (statements) => {
    const missing = await stillMissing(statements, files, file);
    if (!missing.ok || !missing.value) return missing;
    // The driver leaves the last portal open, and with it a snapshot that a concurrent build would
    // wait for; the simple protocol closes both.
    const freed = await statements.script("select 1");
    if (!freed.ok) return failed(file, freed.error);
    const ran = alone ? ok(true) : await runParts();
    if (!ran.ok) return ran;
    const entered = await enterLedger(statements, file);
    return entered.ok ? ok(true) : failed(file, entered.error);
  });
}

async function stillMissing(
  statements: Statements,
  files: readonly Migration[],
  file: Migration,
): Promise<Result<boolean, MigrateRefusal>> {
  const judged = await pending(statements, files);
  return judged.ok ? ok(judged.value.some(({ hash }) => hash === file.hash)) : judged;
}

/** A transaction that holds the lock from its beginning to its end; tried again while others hold it. */
async function locked<Value>(
  database: Database,
  work: (statements: Statements) => Promise<Result<Value, MigrateRefusal>>,
): Promise<Result<Value, MigrateRefusal>> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await lockedOnce(database, work);
    const waited =
      !outcome.ok && "error" in outcome.error && outcome.error.error.code === notLocked;
    if (!waited || tries >= lockTriesMax) return outcome;
    // Everybody who queued behind us goes first. The database keeps the time: it is the one asked.
    const paused = await database.script("select pg_sleep(0.5)");
    if (!paused.ok) return err({ code: "database", error: paused.error });
  }
}

async function lockedOnce<Value>(
  database: Database,
  work: (statements: Statements) => Promise<Result<Value, MigrateRefusal>>,
): Promise<Result<Value, MigrateRefusal>> {
  const outcome = await database.transaction<Value, MigrateRefusal>(async (statements) => {
    for (const sql of lockSql) {
      const ran = await statements.script(sql);
      if (!ran.ok) return err({ code: "database", error: ran.error });
    }
    return work(statements);
  });
  if (outcome.ok) return outcome;
  const { error } = outcome;
  return err("kind" in error ? { code: "database", error } : error);
}

/** Longest wait for any lock, the advisory one included. */
const lockWait = "2s";
/** Between 30 minutes and two hours, for another replica may build an index meanwhile. */
const lockTriesMax = 3_600;
/** SQLSTATE of a lock that was not had in time. */
const notLocked = "55P03";

/** Building an index, and holding the lock meanwhile, take their time. */
const lockSql = [
  "set local statement_timeout = 0",
  "set local idle_in_transaction_session_timeout = 0",
  `set local lock_timeout = '${lockWait}'`,
  `select pg_advisory_xact_lock(${lockKey})`,
];

function failed(
  { name }: Migration,
  error: DatabaseError,
): { readonly ok: false; readonly error: MigrateRefusal } {
  return { ok: false, error: { code: "failed", name, error } };
}
