/**
 * The one statement that changes the configuration.
 *
 * Whoever moves the head row writes; everything else of the statement hangs on that row. A second
 * writer waits at it, finds it moved, and writes nothing.
 */
import { sql, type SQL } from "drizzle-orm";
import type { Revision } from "@gateway/contract/revision.ts";
import { ok } from "@gateway/core/result.ts";
import { assertChange } from "../change.ts";
import type { ConfigChange, Stored } from "../store.ts";
import type { Asked } from "./asked.ts";
import { auditInsert } from "./audit.ts";
import { configChannel } from "./watch.ts";

/**
 * Locks the head row, and with that orders all commits. Documents are those of the expected head: its
 * row did not move between our snapshot and our lock, so no other commit lies between them.
 */
export async function commitChange(
  { run }: Asked,
  change: ConfigChange,
): Stored<"committed" | "moved"> {
  assertChange(change);
  const { next, puts, deletes } = change;
  const { epoch, sequence, hash } = next.revision;
  const names = deletes.map(({ kind, name }) => ({ kind, name }));
  const answer = await run(sql`
    with head as (${movedHead(change.expected, next.revision)}),
    gone as (
      delete from config_documents d
      using head, jsonb_to_recordset(${JSON.stringify(names)}::jsonb) as n(kind text, name text)
      where d.kind = n.kind and d.name = n.name
    ),
    written as (
      insert into config_documents (kind, name, body, version, key_ids, updated_at, updated_by)
      select n.kind, n.name, coalesce(n.body, 'null'), n.version, n.key_ids, n.updated_at, n.updated_by
      from head, jsonb_to_recordset(${JSON.stringify(puts.map(putOf))}::jsonb) as n(
        kind text, name text, body jsonb, version bigint, key_ids text[], updated_at bigint, updated_by text
      )
      on conflict (kind, name) do update set
        body = excluded.body, version = excluded.version, key_ids = excluded.key_ids,
        updated_at = excluded.updated_at, updated_by = excluded.updated_by
    ),
    revised as (
      insert into config_revisions
        (epoch, sequence, revision, schema_version, sealed, key_id, created_at, created_by, summary)
      select ${epoch}::bigint, ${sequence}::bigint, ${hash}::text, ${next.schemaVersion}::int,
        ${next.sealed}::bytea, ${next.keyId}::text, ${next.createdAt}::bigint,
        ${next.createdBy}::text, ${next.summary}::text
      from head
    ),
    audited as (${auditInsert(change.audit, sql`from head`)})
    select pg_notify(${configChannel}, head.sequence::text) from head`);
  if (!answer.ok) return answer;
  return ok(answer.value.rows.length === 1 ? "committed" : "moved");
}

/** Answers the row when it was as expected. `expected` undefined: when there was none. */
function movedHead(expected: Revision | undefined, next: Revision): SQL {
  const { epoch, sequence, hash } = next;
  if (expected === undefined) {
    return sql`
      insert into config_head (only_row, epoch, sequence, revision)
      values (true, ${epoch}::bigint, ${sequence}::bigint, ${hash}::text)
      on conflict (only_row) do nothing
      returning sequence`;
  }
  return sql`
    update config_head
    set epoch = ${epoch}::bigint, sequence = ${sequence}::bigint, revision = ${hash}::text
    where epoch = ${expected.epoch}::bigint and sequence = ${expected.sequence}::bigint
      and revision = ${expected.hash}::text
    returning sequence`;
}

/** Keys are the columns of the record set. */
function putOf({
  kind,
  name,
  body,
  version,
  keyIds,
  updatedAt,
  updatedBy,
}: ConfigChange["puts"][number]) {
  return {
    kind,
    name,
    body,
    version,
    key_ids: keyIds,
    updated_at: updatedAt,
    updated_by: updatedBy,
  };
}
