/** Takes records in: one statement for a new batch, and one more for records that were there already. */
import { hash } from "node:crypto";
import { sql } from "drizzle-orm";
import { err, ok } from "@gateway/core/result.ts";
import { storableJson, storableText } from "../storable.ts";
import type { IncomingRecord, Ingested, Stored } from "../store.ts";
import { figureFields, partsOf, restOf } from "../written.ts";
import type { Asked } from "./asked.ts";

export interface IngestParts {
  readonly asked: Asked;
  readonly texts: RecentTexts;
}

/** How often a batch is asked again because somebody else inserted one of its ids at that moment. */
const roundsMax = 5;

/** What one statement found. Ids. */
interface Verdict {
  readonly accepted: number;
  readonly duplicates: number;
  readonly conflicts: readonly string[];
  /** Somebody inserted them after this statement's snapshot was taken: the next one sees them. */
  readonly unseen: readonly string[];
}

/** First record per id wins. An id that the batch repeats is judged in the order it was sent. */
export async function ingestBatch(
  { asked, texts }: IngestParts,
  batch: readonly IncomingRecord[],
  nowMs: number,
): Stored<Ingested> {
  let accepted = 0;
  let duplicates = 0;
  const conflicts = new Set<string>();
  for (const part of withoutRepeats(batch, texts)) {
    const kept = await keepNew(asked, part);
    if (!kept.ok) return kept;
    let rest = kept.value === "all" ? [] : without(part, kept.value);
    accepted += part.length - rest.length;
    for (let round = 0; rest.length > 0; round += 1) {
      if (round === roundsMax) return err({ code: "unavailable", detail: "contended" });
      const verdict = await judgeRest(asked, rest, nowMs);
      if (!verdict.ok) return verdict;
      accepted += verdict.value.accepted;
      duplicates += verdict.value.duplicates;
      for (const id of verdict.value.conflicts) conflicts.add(id);
      const unseen = new Set(verdict.value.unseen);
      rest = rest.filter(({ id }) => unseen.has(id));
    }
  }
  return ok({ accepted, duplicates, conflicts: [...conflicts] });
}

/** Almost always the whole batch; a further part for each time an id comes again. */
function withoutRepeats(
  batch: readonly IncomingRecord[],
  texts: RecentTexts,
): readonly (readonly RecordRow[])[] {
  const rows = batch.map((incoming) => rowOf(incoming, texts));
  if (new Set(rows.map(({ id }) => id)).size === rows.length) return rows.length > 0 ? [rows] : [];
  const parts: RecordRow[][] = [];
  const seen = new Map<string, number>();
  for (const row of rows) {
    const turn = seen.get(row.id) ?? 0;
    seen.set(row.id, turn + 1);
    (parts[turn] ??= []).push(row);
  }
  return parts;
}

function without(rows: readonly RecordRow[], ids: ReadonlySet<string>): readonly RecordRow[] {
  return rows.filter(({ id }) => !ids.has(id));
}

/** How a batch is read: one value, and a column for each that is filtered. */
const columns = sql.raw(`id text, hash text, created_at bigint, user_name text, status text,
  cluster_group text, cluster text, frontend text, error_code text, worker text, rest jsonb,
  figures double precision[], texts uuid`);

/** Keeps the shared texts of a batch, before the records in the same statement, so that no record lacks its text. */
const textColumns = sql.raw("id uuid, day integer, body jsonb");

/**
 * Inserts what is new, in the order of ids, so that two batches with the same ones wait for each other
 * and can not lock each other out. Answers the ids; of a whole batch, which is the usual case, the
 * database says only that it is whole.
 */
async function keepNew(
  { run }: Asked,
  batch: readonly RecordRow[],
): Stored<ReadonlySet<string> | "all"> {
  const answer = await run(sql`
    with texts as (
      insert into query_record_texts (id, day, body)
      select id, day, body from jsonb_to_recordset(${textsOf(batch)}::jsonb) as t(${textColumns})
      order by id on conflict (id) do nothing
    ),
    kept as (
      insert into query_records (proxy_query_id, content_hash, created_at, user_name, status,
        cluster_group, cluster, frontend, error_code, worker, rest, figures, texts)
      select id, hash, created_at, user_name, status, cluster_group, cluster, frontend, error_code,
        worker, rest, figures, texts
      from jsonb_to_recordset(${jsonOf(batch)}::jsonb) as r(${columns})
      order by id collate "C"
      on conflict (proxy_query_id) do nothing
      returning proxy_query_id
    )
    select case when count(*) < ${batch.length}::bigint then json_agg(proxy_query_id) end,
      count(*) from kept`);
  if (!answer.ok) return answer;
  const [ids, count] = answer.value.rows[0] ?? [];
  return ok(Number(count) === batch.length ? "all" : new Set(idsOf(ids)));
}

/**
 * Judges records that were there already, by the primary key, and inserts those deleted since. A repeat of the
 * newest different record is its sender's retry and counts once.
 */
async function judgeRest(
  { run }: Asked,
  batch: readonly RecordRow[],
  nowMs: number,
): Stored<Verdict> {
  const rows = judgedJsonOf(batch);
  const answer = await run(sql`
    with incoming as materialized (
      select * from jsonb_to_recordset(${rows}::jsonb) as r(${columns}, whole_hash text, record jsonb)
    ),
    texts as (
      insert into query_record_texts (id, day, body)
      select id, day, body from jsonb_to_recordset(${textsOf(batch)}::jsonb) as t(${textColumns})
      order by id on conflict (id) do nothing
    ),
    kept as (
      insert into query_records (proxy_query_id, content_hash, created_at, user_name, status,
        cluster_group, cluster, frontend, error_code, worker, rest, figures, texts)
      select id, hash, created_at, user_name, status, cluster_group, cluster, frontend, error_code,
        worker, rest, figures, texts
      from incoming order by id collate "C"
      on conflict (proxy_query_id) do nothing
      returning proxy_query_id
    ),
    others as (
      select i.*, q.content_hash in (i.hash, i.whole_hash) as same
      from incoming i join query_records q on q.proxy_query_id = i.id
      where i.id not in (select proxy_query_id from kept)
    ),
    conflicts as (
      insert into query_record_conflicts as c
        (proxy_query_id, content_hash, worker, record, count, first_at, last_at)
      select id, whole_hash, worker, ${wholeRecord}, 1, ${nowMs}::bigint, ${nowMs}::bigint
      from others where not same order by id collate "C"
      on conflict (proxy_query_id) do update set
        content_hash = excluded.content_hash, worker = excluded.worker, record = excluded.record,
        count = c.count + (c.content_hash <> excluded.content_hash)::int,
        last_at = greatest(c.last_at, excluded.last_at)
    )
    select
      (select count(*) from kept),
      (select count(*) from others where same),
      (select coalesce(json_agg(id), '[]') from others where not same),
      (select coalesce(json_agg(id), '[]') from incoming
        where id not in (select proxy_query_id from kept) and id not in (select id from others))`);
  if (!answer.ok) return answer;
  const [accepted, duplicates, conflicts, unseen] = answer.value.rows[0] ?? [];
  return ok({
    accepted: Number(accepted ?? 0),
    duplicates: Number(duplicates ?? 0),
    conflicts: idsOf(conflicts),
    unseen: idsOf(unseen),
  });
}

function idsOf(cell: string | null | undefined): readonly string[] {
  return JSON.parse(cell ?? "[]") as readonly string[];
}

/** A record as the statements read it. */
interface RecordRow {
  readonly id: string;
  /** An object with the keys of `columns`. */
  readonly json: string;
  /** An object with the keys of `textColumns`; undefined where the record shares nothing. */
  readonly text: { readonly id: string; readonly json: string } | undefined;
  readonly incoming: IncomingRecord;
}

/** Ids are compared, so theirs is what the database will hold. */
function rowOf(incoming: IncomingRecord, texts: RecentTexts): RecordRow {
  const { record, contentHash } = incoming;
  const { rest, shared } = partsOf(incoming);
  const id = storableText(record.proxyQueryId);
  const textId = texts.idOf(shared, record.createdAt);
  const cells = storableJson({
    id,
    hash: shortHash(contentHash),
    created_at: Math.floor(record.createdAt),
    user_name: record.user,
    status: record.status,
    cluster_group: record.clusterGroup,
    cluster: record.cluster,
    frontend: record.frontend,
    error_code: record.errorCode,
    worker: record.worker,
    figures: figureFields.map((field) => record[field] ?? null),
    texts: textId,
  });
  const own = textId !== undefined ? rest : [rest, shared].filter((part) => part !== "").join(",");
  return {
    id,
    json: [cells.slice(0, -1), `,"rest":{`, own, "}}"].join(""),
    text: textId === undefined ? undefined : textOf(textId, shared, record.createdAt),
    incoming,
  };
}

function textOf(id: string, shared: string, createdAt: number): RecordRow["text"] {
  return { id, json: `{"id":"${id}","day":${dayOf(createdAt)},"body":{${shared}}}` };
}

/** 128 bits of it: nobody finds two records for them, and a row is 50 bytes shorter. */
function shortHash(contentHash: string): string {
  const hex = /^sha256:([0-9a-f]{32})[0-9a-f]{32}$/.exec(contentHash)?.[1];
  return hex === undefined ? contentHash : Buffer.from(hex, "hex").toString("base64url");
}

function jsonOf(rows: readonly RecordRow[]): string {
  return `[${rows.map(({ json }) => json).join(",")}]`;
}

/** With what a conflict is judged by and keeps, and the hash as older releases wrote it. */
function judgedJsonOf(rows: readonly RecordRow[]): string {
  const judged = rows.map(({ json, incoming }) =>
    [
      json.slice(0, -1),
      `,"whole_hash":${storableJson(incoming.contentHash)},"record":{`,
      restOf(incoming),
      "}}",
    ].join(""),
  );
  return `[${judged.join(",")}]`;
}

/** Each once. */
function textsOf(rows: readonly RecordRow[]): string {
  const byId = new Map(
    rows.flatMap(({ text }) => (text === undefined ? [] : [[text.id, text.json]])),
  );
  return `[${[...byId.values()].join(",")}]`;
}

/** The shared parts, for the few records that are kept whole. */
const wholeRecord = sql.raw(`record || jsonb_strip_nulls(jsonb_build_object(
  'proxyQueryId', id, 'user', user_name, 'status', status, 'clusterGroup', cluster_group,
  'cluster', cluster, 'frontend', frontend, 'errorCode', error_code, 'worker', worker))`);

// ---------------------------------------------------------------- texts that come again, kept once a day

export const dayMs = 86_400_000;

/** Texts that one process remembers as seen; twice as many for a while. */
const seenMax = 10_000;

export interface RecentTexts {
  /** The id under which a record of that time shares this text; undefined for a text that came only once so far. */
  idOf(shared: string, createdAt: number): string | undefined;
}

/** Two generations, so that forgetting is dropping the older one. */
export function recentTexts(): RecentTexts {
  let newer = new Set<string>();
  let older = new Set<string>();
  return {
    idOf: (shared, createdAt) => {
      const id = hash("sha256", `${dayOf(createdAt)}:${shared}`, "hex").slice(0, 32);
      if (newer.has(id)) return id;
      const known = older.has(id);
      newer.add(id);
      if (newer.size >= seenMax) [older, newer] = [newer, new Set()];
      return known ? id : undefined;
    },
  };
}

function dayOf(createdAt: number): number {
  return Math.floor(createdAt / dayMs);
}
