/** The worker registry in its tables. */
import { and, asc, count, eq, gte, ne, sql } from "drizzle-orm";
import { ok } from "@gateway/core/result.ts";
import { byNameAndId, emptyPage } from "../keyset.ts";
import { storableJson } from "../storable.ts";
import type {
  Page,
  PageRequest,
  Stored,
  WorkerRegistration,
  WorkerReport,
  WorkerRow,
  WorkerStore,
} from "../store.ts";
import { workerCancels, workerRegistry } from "../workers.sql.ts";
import type { Asked } from "./asked.ts";

/** The registry over `asked`. */
export function workerTables(asked: Asked): WorkerStore {
  return {
    register: (worker, nowMs) => registerInstance(asked, worker, nowMs),
    heartbeat: (report, tokenHash, nowMs) => takeReport(asked, report, { tokenHash, nowMs }),
    nameOf: (instanceId, tokenHash) => nameOfInstance(asked, instanceId, tokenHash),
    remove: (instanceId) => removeInstance(asked, instanceId),
    list: (page) => instancePage(asked, page),
    get: (instanceId) => instance(asked, instanceId),
    countAlone: (since) => aloneSince(asked, since),
    requestCancel: async ({ queryId, requestedBy, requestedAt }) => {
      const row = { queryId, requestedBy, requestedAt };
      const kept = await asked.ask(
        asked.db.insert(workerCancels).values(row).onConflictDoNothing(),
      );
      return kept.ok ? ok(undefined) : kept;
    },
    forget: (before) => forgetOld(asked, before),
  };
}

/**
 * Adds first and looks second, by worker_registry_name: when two come with one name at the same
 * moment, the one that looks last sees the other. In one statement neither would. Repeating it is
 * harmless, so a failure between the two is one of the whole.
 */
async function registerInstance(
  asked: Asked,
  worker: WorkerRegistration,
  nowMs: number,
): ReturnType<WorkerStore["register"]> {
  const { db, ask } = asked;
  const row = {
    ...worker,
    status: "starting",
    activeRevision: null,
    downloadedRevision: null,
    configSource: null,
    stale: false,
    lastError: null,
    coordination: null,
    queries: [],
    registeredAt: nowMs,
    lastSeenAt: nowMs,
  } as const;
  const added = await ask(
    db
      .insert(workerRegistry)
      .values(row)
      .onConflictDoUpdate({ target: workerRegistry.instanceId, set: row }),
  );
  if (!added.ok) return added;
  const { name, instanceId } = workerRegistry;
  const same = await ask(
    db
      .select()
      .from(workerRegistry)
      .where(and(eq(name, worker.name), ne(instanceId, worker.instanceId)))
      .orderBy(asc(instanceId)),
  );
  return same.ok ? ok({ sameName: same.value.map(workerOfRow) }) : same;
}

/** Locks the instance's row, by its key; the wishes by theirs. */
async function takeReport(
  { run }: Asked,
  report: WorkerReport,
  { tokenHash, nowMs }: { readonly tokenHash: string; readonly nowMs: number },
): ReturnType<WorkerStore["heartbeat"]> {
  const ids = report.queries.map(({ id }) => id);
  const answer = await run(sql`
    with seen as (
      update worker_registry set
        status = ${report.status}::text,
        active_revision = ${report.activeRevision ?? null}::text,
        downloaded_revision = ${report.downloadedRevision ?? null}::text,
        config_source = ${report.configSource ?? null}::text,
        stale = ${report.stale}::boolean,
        last_error = ${report.lastError ?? null}::text,
        coordination = ${report.coordination ?? null}::text,
        queries = ${storableJson(report.queries)}::jsonb,
        last_seen_at = ${nowMs}::bigint
      where instance_id = ${report.instanceId}::text and token_hash = ${tokenHash}::text
      returning 1
    )
    select (
      select coalesce(json_agg(query_id), '[]') from worker_cancels
      where query_id in (select jsonb_array_elements_text(${storableJson(ids)}::jsonb))
    ) from seen`);
  if (!answer.ok) return answer;
  const [row] = answer.value.rows;
  return ok(row === undefined ? undefined : { cancel: JSON.parse(row[0] ?? "[]") as string[] });
}

/** By the primary key. */
async function nameOfInstance(
  { db, ask }: Asked,
  id: string,
  token: string,
): Stored<string | undefined> {
  const { name, instanceId, tokenHash } = workerRegistry;
  const rows = await ask(
    db
      .select({ name })
      .from(workerRegistry)
      .where(and(eq(instanceId, id), eq(tokenHash, token))),
  );
  return rows.ok ? ok(rows.value[0]?.name) : rows;
}

/** By the primary key. */
async function removeInstance({ run }: Asked, instanceId: string): Stored<boolean> {
  const gone = await run(sql`delete from worker_registry where instance_id = ${instanceId}::text`);
  return gone.ok ? ok(gone.value.count > 0) : gone;
}

/** By worker_registry_name. */
async function instancePage(
  { db, ask }: Asked,
  { limit, cursor }: PageRequest,
): Stored<Page<WorkerRow>> {
  const after = byNameAndId.read(cursor);
  if (after === null) return ok(emptyPage);
  const { name, instanceId } = workerRegistry;
  const rows = await ask(
    db
      .select()
      .from(workerRegistry)
      .where(
        after === undefined
          ? undefined
          : sql`(${name}, ${instanceId}) > (${after[0]}::text, ${after[1]}::text)`,
      )
      .orderBy(asc(name), asc(instanceId))
      .limit(limit + 1),
  );
  if (!rows.ok) return rows;
  const found = rows.value.map(workerOfRow);
  return ok(byNameAndId.page(found, limit, (row) => [row.name, row.instanceId]));
}

/** By the primary key. */
async function instance({ db, ask }: Asked, id: string): Stored<WorkerRow | undefined> {
  const rows = await ask(db.select().from(workerRegistry).where(eq(workerRegistry.instanceId, id)));
  return rows.ok ? ok(rows.value.map(workerOfRow)[0]) : rows;
}

/** By worker_registry_last_seen. Asked once a minute, and only where a worker counts alone. */
async function aloneSince({ db, ask }: Asked, since: number): Stored<number> {
  const { coordination, lastSeenAt } = workerRegistry;
  const rows = await ask(
    db
      .select({ alone: count() })
      .from(workerRegistry)
      .where(and(eq(coordination, "local"), gte(lastSeenAt, since))),
  );
  return rows.ok ? ok(rows.value[0]?.alone ?? 0) : rows;
}

function workerOfRow(row: typeof workerRegistry.$inferSelect): WorkerRow {
  return {
    ...row,
    activeRevision: row.activeRevision ?? undefined,
    downloadedRevision: row.downloadedRevision ?? undefined,
    configSource: row.configSource ?? undefined,
    lastError: row.lastError ?? undefined,
    coordination: row.coordination ?? undefined,
  };
}

/** Instances by worker_registry_last_seen; wishes are few, and their table is read whole. */
async function forgetOld({ run }: Asked, before: number): Stored<number> {
  const gone = await run(sql`
    with instances as (
      delete from worker_registry where last_seen_at < ${before}::bigint returning 1
    ),
    wishes as (
      delete from worker_cancels where requested_at < ${before}::bigint returning 1
    )
    select (select count(*) from instances) + (select count(*) from wishes)`);
  return gone.ok ? ok(Number(gone.value.rows[0]?.[0] ?? 0)) : gone;
}
