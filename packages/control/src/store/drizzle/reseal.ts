/** Which keys sealed what is stored, and the same content under another key. */
import { Buffer } from "node:buffer";
import { asc, ne, sql } from "drizzle-orm";
import { ok } from "@gateway/core/result.ts";
import { configDocuments, configRevisions } from "../config.sql.ts";
import type { ConfigStore, Stored, StoredDocument, StoredRevision } from "../store.ts";
import type { Asked } from "./asked.ts";
import { sealedColumns, sealedOfRow } from "./rows.ts";

/** Each key once. Reads both tables whole, without the sealed bytes, which are kept apart from rows. */
export async function keyIdsInUse({ run }: Asked): Stored<readonly string[]> {
  const rows = await run(sql`
    select key_id collate "C" as id from config_revisions
    union
    select unnest(key_ids) from config_documents
    order by id`);
  return rows.ok ? ok(rows.value.rows.flatMap(([id]) => id ?? [])) : rows;
}

/** Two statements: what one of them misses, `resealRows` would skip, and the next call finds. */
export async function sealedByOthers(
  { db, ask }: Asked,
  keyId: string,
  limit: number,
): ReturnType<ConfigStore["sealedByOthers"]> {
  const documents = await ask(
    db
      .select()
      .from(configDocuments)
      .where(
        sql`exists (select from unnest(${configDocuments.keyIds}) id where id <> ${keyId}::text)`,
      )
      .orderBy(asc(configDocuments.kind), asc(configDocuments.name))
      .limit(limit),
  );
  if (!documents.ok) return documents;
  const revisions = await ask(
    db
      .select(sealedColumns)
      .from(configRevisions)
      .where(ne(configRevisions.keyId, keyId))
      .orderBy(asc(configRevisions.epoch), asc(configRevisions.sequence))
      .limit(limit),
  );
  if (!revisions.ok) return revisions;
  return ok({ documents: documents.value, revisions: revisions.value.map(sealedOfRow) });
}

/**
 * Locks the rows it replaces. A document must have the version and the time at which it was read: a
 * version alone does not tell, because after a new epoch versions begin again. A revision never
 * changes, so its hash is enough.
 */
export async function resealRows(
  { run }: Asked,
  rows: Parameters<ConfigStore["reseal"]>[0],
): Stored<number> {
  const documents = JSON.stringify(rows.documents.map(documentOf));
  const revisions = JSON.stringify(rows.revisions.map(revisionOf));
  const replaced = await run(sql`
    with documents as (
      update config_documents d set body = coalesce(n.body, 'null'), key_ids = n.key_ids
      from jsonb_to_recordset(${documents}::jsonb) as n(
        kind text, name text, body jsonb, version bigint, key_ids text[], updated_at bigint
      )
      where d.kind = n.kind and d.name = n.name and d.version = n.version
        and d.updated_at = n.updated_at
      returning 1
    ),
    revisions as (
      update config_revisions r set sealed = decode(n.sealed, 'hex'), key_id = n.key_id
      from jsonb_to_recordset(${revisions}::jsonb) as n(
        epoch bigint, sequence bigint, revision text, sealed text, key_id text
      )
      where r.epoch = n.epoch and r.sequence = n.sequence and r.revision = n.revision
      returning 1
    )
    select (select count(*) from documents) + (select count(*) from revisions)`);
  return replaced.ok ? ok(Number(replaced.value.rows[0]?.[0] ?? 0)) : replaced;
}

function documentOf({ kind, name, body, version, keyIds, updatedAt }: StoredDocument) {
  return { kind, name, body, version, key_ids: keyIds, updated_at: updatedAt };
}

function revisionOf({ revision, sealed, keyId }: StoredRevision) {
  const { epoch, sequence, hash } = revision;
  const hex = Buffer.from(sealed).toString("hex");
  return { epoch, sequence, revision: hash, sealed: hex, key_id: keyId };
}
