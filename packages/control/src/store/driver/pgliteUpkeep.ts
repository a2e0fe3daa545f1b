/**
 * What a PostgreSQL server does in the background and PGlite, which has no processes, does not: it
 * checkpoints, so that the log of writes stays short, and vacuums, so that room is used again.
 *
 * Both block the database's thread, so a look comes a second after work, and what it finds is done in a
 * moment in which nobody waits for a turn, one piece at a time. Only a log that has grown for long
 * not put off any more. A database that nobody uses is not looked at.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Connection } from "./connection.ts";

const lookMs = 1_000;
/** What 32 MB of log changed is written in less than a tenth of a second. */
const logBytesDue = 32 * 1024 * 1024;
/** From this size on it is done even if somebody waits for a turn. */
const logBytesMax = 128 * 1024 * 1024;
/** Between two looks at the tables. */
const tablesMs = 60_000;
/** As PostgreSQL's own: so many dead rows, and this part of the living ones; but large tables not so late. */
const deadMin = 50;
const deadPart = 0.2;
const deadMax = 100_000;
/** A file is written anew when less than half of it is in use, and it is worth the while. */
const rewriteBytesMin = 64 * 1024 * 1024;
const usedPartMin = 0.5;

/**
 * How PGlite is started: a log that is short after each checkpoint, and little memory, all of which it touches
 * at its start: few pages kept beside the system's own, and room for the few connections that one process
 * without children can have.
 */
export const upkeepParameters: readonly string[] = [
  "min_wal_size=32MB",
  "max_wal_size=128MB",
  "shared_buffers=4MB",
  "max_connections=8",
  "max_wal_senders=0",
];

export interface UpkeepParts {
  readonly clock: Pick<Clock, "timer" | "nowMs">;
  /** Nobody has or waits for a turn. */
  readonly idle: () => boolean;
  /** Runs in a turn, if there is one to have. */
  readonly inTurn: (work: (connection: Connection) => Promise<void>) => Promise<void>;
}

export class PgliteUpkeep implements Disposable {
  readonly #parts: UpkeepParts;
  #planned: Disposable | undefined;
  #looking = false;
  /** When the tables may be looked at again, and whether anything was run since they were. */
  #tablesAtMs = 0;
  #tablesDue = false;
  #ended = false;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
  }

  /** Something was run. */
  worked(): void {
    if (this.#looking) return;
    this.#tablesDue = true;
    this.#plan(lookMs);
  }

  /** No turn is taken any more; one that was taken goes on. */
  [Symbol.dispose](): void {
    this.#ended = true;
    this.#planned?.[Symbol.dispose]();
  }

  #plan(ms: number): void {
    if (this.#ended) return;
    this.#planned ??= this.#parts.clock.timer(ms, () => {
      this.#planned = undefined;
      void this.#look();
    });
  }

  async #look(): Promise<void> {
    const { idle, inTurn, clock } = this.#parts;
    this.#looking = true;
    const wasIdle = idle();
    let again = !wasIdle;
    await inTurn(async (connection) => {
      const logBytes = await numberOf(connection, sinceCheckpoint);
      if (logBytes >= (wasIdle ? logBytesDue : logBytesMax)) {
        await connection.script("checkpoint");
        again = true;
      } else if (wasIdle && clock.nowMs() >= this.#tablesAtMs) {
        again = await vacuumOne(connection);
        this.#tablesDue = again;
        if (!again) this.#tablesAtMs = clock.nowMs() + tablesMs;
      }
    });
    this.#looking = false;
    // Work that was put off must not wait for the next statement, which may come much later.
    if (again) this.#plan(lookMs);
    else if (this.#tablesDue) this.#plan(Math.max(lookMs, this.#tablesAtMs - clock.nowMs()));
  }
}

const sinceCheckpoint =
  "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) from pg_control_checkpoint()";

/** The statistics of what was just run come with the next transaction otherwise. */
const flushStatistics = "select pg_stat_force_next_flush()";

const mostDead = `
  select format('%I.%I', s.schemaname, s.relname), c.oid
  from pg_stat_user_tables s join pg_class c on c.oid = s.relid
  where s.n_dead_tup > least(${deadMin} + ${deadPart} * s.n_live_tup, ${deadMax})
  order by s.n_dead_tup desc limit 1`;

/** Rows as the vacuum counted them, times the average width of a sample. */
const usedOf = (table: string): string => `
  select c.reltuples * coalesce(28 + (select avg(pg_column_size(t.*)) from
    (select * from ${table} limit 1000) t), 0) / nullif(pg_relation_size(c.oid), 0)
  from pg_class c where c.oid = '${table}'::regclass and pg_relation_size(c.oid) >= ${rewriteBytesMin}`;

/** Vacuums the table that needs it most; false when none does. */
async function vacuumOne(connection: Connection): Promise<boolean> {
  await connection.run(flushStatistics, []);
  const found = await connection.run(mostDead, []);
  const table = found.ok ? found.value.rows[0]?.[0] : undefined;
  if (typeof table !== "string") return false;
  const vacuumed = await connection.script(`vacuum ${table}`);
  if (!vacuumed.ok) return false;
  const used = await connection.run(usedOf(table), []);
  const part = used.ok ? used.value.rows[0]?.[0] : undefined;
  // Beside a row at its end a file never becomes shorter, and the newest rows stand there.
  if (typeof part === "string" && Number(part) < usedPartMin) {
    await connection.script(`vacuum full ${table}`);
  }
  return true;
}

async function numberOf(connection: Connection, sql: string): Promise<number> {
  const answer = await connection.run(sql, []);
  return Number((answer.ok ? answer.value.rows[0]?.[0] : undefined) ?? 0);
}
