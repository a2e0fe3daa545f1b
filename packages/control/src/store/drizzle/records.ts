/** Query history in its tables. Taking records in is in ingest.ts. */
import { and, desc, eq, gte, lt, sql, type SQL } from "drizzle-orm";
import type { QueryRecord } from "@gateway/contract/record.ts";
import { ok } from "@gateway/core/result.ts";
import { byTime, emptyPage } from "../keyset.ts";
import {
  queryRecordConflicts,
  queryRecords,
  queryRecordTexts,
  type RecordRest,
  type RecordShared,
} from "../records.sql.ts";
import { wholeMs } from "../storable.ts";
import type {
  Page,
  PageRequest,
  RecordConflict,
  RecordFilter,
  RecordStore,
  Stored,
} from "../store.ts";
import type { Asked } from "./asked.ts";
import { figureFields } from "../written.ts";
import { dayMs, ingestBatch, recentTexts } from "./ingest.ts";
import { recordSeries } from "./recordSeries.ts";

/** History over `asked`. */
export function recordTables(asked: Asked): RecordStore {
  const texts = recentTexts();
  return {
    ingest: (batch, nowMs) => ingestBatch({ asked, texts }, batch, nowMs),
    list: (filter, page) => recordPage(asked, filter, page),
    get: (id) => recordOfId(asked, id),
    series: (request) => recordSeries(asked, request),
    known: (ids) => knownIds(asked, ids),
    conflicts: (page) => conflictPage(asked, page),
    retain: (limits) => forgetRecords(asked, limits),
  };
}

/**
 * Newest first. Without a filter by query_records_at, backwards; with one by the index that begins with the
 * field, sorting only the records of one millisecond; further fields are looked at on the way.
 */
async function recordPage(
  { db, ask }: Asked,
  filter: RecordFilter,
  { limit, cursor }: PageRequest,
): Stored<Page<QueryRecord>> {
  const after = byTime.read(cursor);
  if (after === null) return ok(emptyPage);
  const rows = await ask(
    db
      .select(whole)
      .from(queryRecords)
      .leftJoin(queryRecordTexts, eq(queryRecords.texts, queryRecordTexts.id))
      .where(
        and(
          fits(filter),
          after === undefined
            ? undefined
            : sql`(${queryRecords.createdAt}, ${queryRecords.proxyQueryId}) < (${after[0]}::bigint, ${after[1]}::text)`,
        ),
      )
      .orderBy(desc(queryRecords.createdAt), desc(queryRecords.proxyQueryId))
      .limit(limit + 1),
  );
  if (!rows.ok) return rows;
  const page = byTime.page(rows.value, limit, ({ row }) => [row.createdAt, row.proxyQueryId]);
  return ok({ ...page, items: page.items.map(recordOfRow) });
}

function fits(filter: RecordFilter): SQL | undefined {
  const columns = {
    user: queryRecords.userName,
    status: queryRecords.status,
    clusterGroup: queryRecords.clusterGroup,
    cluster: queryRecords.cluster,
    worker: queryRecords.worker,
    frontend: queryRecords.frontend,
    errorCode: queryRecords.errorCode,
  } as const;
  const equal = Object.entries(columns).map(([field, column]) => {
    const wanted = filter[field as keyof typeof columns];
    return wanted === undefined ? undefined : eq(column, wanted);
  });
  const { from, to } = filter;
  return and(
    ...equal,
    from === undefined ? undefined : gte(queryRecords.createdAt, wholeMs(from)),
    to === undefined ? undefined : lt(queryRecords.createdAt, wholeMs(to)),
  );
}

/** By the primary key. */
async function recordOfId({ db, ask }: Asked, id: string): Stored<QueryRecord | undefined> {
  const rows = await ask(
    db
      .select(whole)
      .from(queryRecords)
      .leftJoin(queryRecordTexts, eq(queryRecords.texts, queryRecordTexts.id))
      .where(eq(queryRecords.proxyQueryId, id)),
  );
  return rows.ok ? ok(rows.value.map(recordOfRow)[0]) : rows;
}

/** By the primary key; one value for all ids. */
async function knownIds({ run }: Asked, ids: readonly string[]): Stored<ReadonlySet<string>> {
  const found = await run(sql`
    select proxy_query_id from query_records
    where proxy_query_id in (select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb))`);
  return found.ok ? ok(new Set(found.value.rows.flatMap(([id]) => id ?? []))) : found;
}

/** A row and what it shares with others. */
const whole = { row: queryRecords, shared: queryRecordTexts.body };

interface WholeRow {
  readonly row: typeof queryRecords.$inferSelect;
  readonly shared: RecordShared | null;
}

/** A record is not parsed again when it is read: a newer release may have accepted more. */
function recordOfRow({ row, shared }: WholeRow): QueryRecord {
  const { proxyQueryId, userName, status, frontend, rest, figures } = row;
  const { clusterGroup, cluster, errorCode, worker } = row;
  // NULL within an array is read as no number.
  const numbers = (figures ?? []).flatMap((value, index) =>
    Number.isFinite(value) ? [[figureFields[index], value] as const] : [],
  );
  // Together they are what was taken apart.
  const parts = { ...shared, ...rest, ...Object.fromEntries(numbers) } as RecordRest;
  return {
    ...parts,
    proxyQueryId,
    user: userName,
    status,
    frontend,
    ...(clusterGroup !== null && { clusterGroup }),
    ...(cluster !== null && { cluster }),
    ...(errorCode !== null && { errorCode }),
    ...(worker !== null && { worker }),
  };
}

/** Newest first by query_record_conflicts_newest: by the first conflict of an id, which never moves. */
async function conflictPage(
  { db, ask }: Asked,
  { limit, cursor }: PageRequest,
): Stored<Page<RecordConflict>> {
  const after = byTime.read(cursor);
  if (after === null) return ok(emptyPage);
  const { firstAt, proxyQueryId } = queryRecordConflicts;
  const rows = await ask(
    db
      .select()
      .from(queryRecordConflicts)
      .where(
        after === undefined
          ? undefined
          : sql`(${firstAt}, ${proxyQueryId}) < (${after[0]}::bigint, ${after[1]}::text)`,
      )
      .orderBy(desc(firstAt), desc(proxyQueryId))
      .limit(limit + 1),
  );
  if (!rows.ok) return rows;
  const found = rows.value.map(({ contentHash: _hash, worker, ...row }) => ({
    ...row,
    worker: worker ?? undefined,
  }));
  return ok(byTime.page(found, limit, (row) => [row.firstAt, row.proxyQueryId]));
}

/**
 * Oldest first by query_records_at, up to the later of two bounds: the age, and the
 * newest record beyond those to keep, which is found by walking `keep` entries of that index. Two
 * replicas at once skip each other's rows. Conflicts go with their record.
 */
async function forgetRecords(
  { run }: Asked,
  { before, keep, chunk }: Parameters<RecordStore["retain"]>[0],
): Stored<number> {
  const deleted = await run(sql`
    with bound as (
      select * from (
        select ${wholeMs(before)}::bigint as at, '' collate "C" as id
        union all
        (select created_at, proxy_query_id from query_records
          order by created_at desc, proxy_query_id desc offset ${keep}::bigint limit 1)
      ) bounds order by at desc, id desc limit 1
    ),
    gone as (
      delete from query_records where proxy_query_id in (
        select proxy_query_id from query_records
        where (created_at, proxy_query_id) <= ((select at from bound), (select id from bound))
        order by created_at, proxy_query_id limit ${chunk}::bigint for update skip locked
      ) returning proxy_query_id
    ),
    conflicts as (
      delete from query_record_conflicts where proxy_query_id in (select proxy_query_id from gone)
    )
    select count(*) from gone`);
  if (!deleted.ok) return deleted;
  const count = Number(deleted.value.rows[0]?.[0] ?? 0);
  if (count >= chunk) return ok(count);
  const texts = await forgetTexts(run);
  return texts.ok ? ok(count) : texts;
}

/** Texts that are deleted while records wait. */
const textChunk = 10_000;
/** What is left then is deleted the next time. */
const textRoundsMax = 20;

/** Texts of days before the oldest record's: no record can refer to them any more. */
const forgotten = `day < (
  select created_at / ${dayMs} - 2 from query_records order by created_at, proxy_query_id limit 1)`;

/**
 * Deletes texts that nobody needs, and none that a late record was told to share: the lock waits for records that
 * are being taken in; the delete behind it has a snapshot of its own and sees them; and whoever comes later
 * writes the text anew. It is one statement, as the HTTP driver needs. Records wait less than a second for it.
 */
const deleteTexts = sql.raw(`do $$ begin
  perform set_config('lock_timeout', '1s', true);
  lock table query_record_texts in share row exclusive mode;
  delete from query_record_texts where id in (
    select id from query_record_texts where ${forgotten} limit ${textChunk});
exception when lock_not_available then null; end $$`);

async function forgetTexts(run: Asked["run"]): Stored<unknown> {
  for (let round = 0; round < textRoundsMax; round += 1) {
    const found = await run(sql`
      select count(*) from (select from query_record_texts where ${sql.raw(forgotten)} limit 1) t`);
    if (!found.ok || found.value.rows[0]?.[0] === "0") return found;
    const deleted = await run(deleteTexts);
    if (!deleted.ok) return deleted;
  }
  return ok(undefined);
}
