/**
 * What a database says about the migrations it has, and the judgement of that.
 *
 * `drizzle.__drizzle_migrations` is Drizzle's own table, with Drizzle's own rows, so that
 * `drizzle-kit migrate` and our runner agree. It knows files by hash and time only; the table
 * `drizzle.migration_names` beside it knows their names, so that a program that is older than the
 * database can say which version it met.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { StatementResult, DatabaseError, Statements } from "../database.ts";
import type { Migration } from "./migration.ts";

/** One applied file. `name` is undefined when Drizzle's tool applied it and no runner saw it yet. */
export interface Applied {
  readonly hash: string;
  readonly when: number;
  readonly name: string | undefined;
}

/**
 * Why a database is not touched. `newer`: it has files this program does not know; the older program
 * must not write to it. `changed`: an applied file was edited. `gap`: a file is missing in the
 * database though a later one is there.
 */
export type LedgerRefusal =
  | { readonly code: "newer"; readonly database: string; readonly program: string }
  | { readonly code: "changed"; readonly name: string }
  | { readonly code: "gap"; readonly name: string };

/** What a database is called whose newest file nobody named. */
const unnamed = "unknown";

const makeLedger = [
  "create schema if not exists drizzle",
  `create table if not exists drizzle.__drizzle_migrations (
    id serial primary key, hash text not null, created_at bigint)`,
  `create table if not exists drizzle.migration_names (
    hash text primary key, name text not null, applied_at timestamptz not null default now())`,
];

/**
 * Which of the two tables are there. It reads the catalog instead of asking `to_regclass`, which
 * answers from a cache that does not notice what others did while this transaction waited for a lock;
 * reading the catalog brings that cache up to date for what follows.
 */
const presentSql = `select c.relname from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'drizzle' and c.relname in ('__drizzle_migrations', 'migration_names')`;

/** Makes the two tables. Under the lock: PostgreSQL's "if not exists" fails when two do it at once. */
export async function prepareLedger(statements: Statements): Promise<Result<void, DatabaseError>> {
  const present = await statements.run(presentSql);
  if (!present.ok) return present;
  if (present.value.rows.length === 2) return ok(undefined);
  for (const sql of makeLedger) {
    const made = await statements.run(sql);
    if (!made.ok) return made;
  }
  return ok(undefined);
}

/** What is applied, oldest first; empty for a database without the tables. Writes nothing. */
export async function readLedger(
  statements: Statements,
): Promise<Result<readonly Applied[], DatabaseError>> {
  const present = await statements.run(presentSql);
  if (!present.ok) return present;
  const tables = present.value.rows.map(([table]) => table);
  if (!tables.includes("__drizzle_migrations")) return ok([]);
  const named = tables.includes("migration_names");
  const names = named ? "n.name" : "null::text";
  const join = named ? "left join drizzle.migration_names n on n.hash = m.hash" : "";
  const read = await statements.run(
    `select m.hash, m.created_at, ${names} from drizzle.__drizzle_migrations m ${join}
     order by m.created_at, m.id`,
  );
  return read.ok ? ok(appliedOf(read.value)) : read;
}

/** Writes down one applied file, in the transaction that applied it where there is one. */
export async function enterLedger(
  statements: Statements,
  { hash, when, name }: Migration,
): Promise<Result<void, DatabaseError>> {
  const entered = await statements.run(
    "insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2::bigint)",
    [hash, when],
  );
  return entered.ok ? nameInLedger(statements, { hash, name }) : entered;
}

/** Names a file that is applied already; Drizzle's tool leaves no names. */
export async function nameInLedger(
  statements: Statements,
  { hash, name }: Pick<Migration, "hash" | "name">,
): Promise<Result<void, DatabaseError>> {
  const named = await statements.run(
    `insert into drizzle.migration_names (hash, name) values ($1, $2)
     on conflict (hash) do nothing`,
    [hash, name],
  );
  return named.ok ? ok(undefined) : named;
}

/** The files that are to be applied, oldest first. */
export function judgeLedger(
  applied: readonly Applied[],
  files: readonly Migration[],
): Result<readonly Migration[], LedgerRefusal> {
  const hashes = new Set(files.map(({ hash }) => hash));
  const foreign = applied.filter(({ hash }) => !hashes.has(hash));
  const changed = files.find(({ when }) => foreign.some((row) => row.when === when));
  if (changed !== undefined) return err({ code: "changed", name: changed.name });
  const newest = foreign.at(-1);
  if (newest !== undefined) {
    const program = files.at(-1)?.version ?? "none";
    return err({ code: "newer", database: versionOf(newest.name), program });
  }
  const present = new Set(applied.map(({ hash }) => hash));
  const pending = files.filter(({ hash }) => !present.has(hash));
  const last = files.findLast(({ hash }) => present.has(hash));
  const gap = pending.find(({ when }) => last !== undefined && when < last.when);
  return gap === undefined ? ok(pending) : err({ code: "gap", name: gap.name });
}

function versionOf(name: string | undefined): string {
  return name?.split("__", 1)[0] ?? unnamed;
}

function appliedOf({ rows }: StatementResult): readonly Applied[] {
  return rows.map(([hash, when, name]) => ({
    hash: hash ?? "",
    when: Number(when ?? 0),
    name: name ?? undefined,
  }));
}
