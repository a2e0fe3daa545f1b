/** The audit log in its table. */
import { and, desc, eq, gte, lt, sql, type SQL } from "drizzle-orm";
import { ok } from "@gateway/core/result.ts";
import { auditLog } from "../audit.sql.ts";
import { byTime, emptyPage } from "../keyset.ts";
import { storableJson, wholeMs } from "../storable.ts";
import type {
  AuditEntry,
  AuditFilter,
  AuditRow,
  AuditStore,
  Page,
  PageRequest,
  Stored,
} from "../store.ts";
import type { Asked } from "./asked.ts";

/** The audit log over `asked`. */
export function auditTable(asked: Asked): AuditStore {
  return {
    append: async (entry) => {
      const added = await asked.run(auditInsert(entry, sql``));
      return added.ok ? ok(undefined) : added;
    },
    list: (filter, page) => auditPage(asked, filter, page),
    retain: (before, chunk) => forgetAudit(asked, before, chunk),
  };
}

/** Adds one row; for each row of `from`, where it stands in another step. */
export function auditInsert(
  { at, by, address, action, target, detail }: AuditEntry,
  from: SQL,
): SQL {
  return sql`
    insert into audit_log (at, by_name, address, action, target, detail)
    select ${at}::bigint, ${by}::text, ${address ?? null}::text, ${action}::text, ${target}::text,
      ${storableJson(detail)}::jsonb
    ${from}`;
}

/** Newest first by audit_log_newest; filters are looked at on the way. */
async function auditPage(
  { db, ask }: Asked,
  { by, action, target, from, to }: AuditFilter,
  { limit, cursor }: PageRequest,
): Stored<Page<AuditRow>> {
  const after = byTime.read(cursor);
  if (after === null || !isId(after?.[1])) return ok(emptyPage);
  const rows = await ask(
    db
      .select()
      .from(auditLog)
      .where(
        and(
          by === undefined ? undefined : eq(auditLog.byName, by),
          action === undefined ? undefined : eq(auditLog.action, action),
          target === undefined ? undefined : eq(auditLog.target, target),
          from === undefined ? undefined : gte(auditLog.at, wholeMs(from)),
          to === undefined ? undefined : lt(auditLog.at, wholeMs(to)),
          after === undefined
            ? undefined
            : sql`(${auditLog.at}, ${auditLog.id}) < (${after[0]}::bigint, ${after[1]}::bigint)`,
        ),
      )
      .orderBy(desc(auditLog.at), desc(auditLog.id))
      .limit(limit + 1),
  );
  if (!rows.ok) return rows;
  const found = rows.value.map(({ id, byName, address, ...row }) => ({
    ...row,
    id: String(id),
    by: byName,
    address: address ?? undefined,
  }));
  return ok(byTime.page(found, limit, ({ at, id }) => [at, id]));
}

/** Oldest first by audit_log_newest, read backwards. Two replicas at once skip each other's rows. */
async function forgetAudit({ run }: Asked, before: number, chunk: number): Stored<number> {
  const deleted = await run(sql`
    delete from audit_log where id in (
      select id from audit_log where at < ${wholeMs(before)}::bigint
      order by at, id limit ${chunk}::bigint for update skip locked
    )`);
  return deleted.ok ? ok(deleted.value.count) : deleted;
}

/** A cursor comes from outside, and what is no number would be an error of the database. */
function isId(text: string | undefined): boolean {
  return text === undefined || /^\d{1,18}$/.test(text);
}
