/** Sessions of the admin API in their table. */
import { and, desc, eq, gt, gte, sql, type SQL } from "drizzle-orm";
import { ok } from "@gateway/core/result.ts";
import { byTime, emptyPage } from "../keyset.ts";
import type { AdminSession, Page, PageRequest, Stored, UserStore } from "../store.ts";
import { adminSessions, adminUsers } from "../users.sql.ts";
import type { Asked } from "./asked.ts";

type SessionStore = Pick<
  UserStore,
  "addSession" | "session" | "sessions" | "removeSession" | "removeSessionsOf"
>;

/** Sessions over `asked`. */
export function sessionTable(asked: Asked): SessionStore {
  return {
    addSession: (session) => addSession(asked, session),
    session: (idHash, nowMs, idleMs, seen = true) =>
      (seen ? seenSession : knownSession)(asked, idHash, { nowMs, idleMs }),
    sessions: (page) => sessionPage(asked, page),
    removeSession: async (idHash) => {
      const gone = await asked.run(sql`delete from admin_sessions where id_hash = ${idHash}::text`);
      return gone.ok ? ok(gone.value.count > 0) : gone;
    },
    removeSessionsOf: async (user) => {
      const gone = await asked.run(sql`delete from admin_sessions where user_name = ${user}::text`);
      return gone.ok ? ok(gone.value.count) : gone;
    },
  };
}

const sessionColumns = {
  idHash: adminSessions.idHash,
  user: adminSessions.userName,
  createdAt: adminSessions.createdAt,
  lastSeenAt: adminSessions.lastSeenAt,
  expiresAt: adminSessions.expiresAt,
  address: adminSessions.address,
};

/**
 * Adds nothing when the user is gone. Drops expired sessions by admin_sessions_expiry: nobody asks for
 * them again, and logging in is what makes them more.
 */
async function addSession({ run }: Asked, session: AdminSession): Stored<void> {
  const added = await run(sql`
    with expired as (
      delete from admin_sessions where expires_at <= ${session.createdAt}::bigint
    )
    insert into admin_sessions
      (id_hash, user_name, created_at, last_seen_at, expires_at, address)
    select ${session.idHash}::text, name, ${session.createdAt}::bigint,
      ${session.lastSeenAt}::bigint, ${session.expiresAt}::bigint, ${session.address}::text
    from admin_users where name = ${session.user}::text`);
  return added.ok ? ok(undefined) : added;
}

interface SessionTimes {
  readonly nowMs: number;
  readonly idleMs: number;
}

/** Locks the session's row, by its key, and marks it seen; the user is read by its own. */
async function seenSession(
  { db, ask }: Asked,
  id: string,
  { nowMs, idleMs }: SessionTimes,
): ReturnType<UserStore["session"]> {
  const rows = await ask(
    db
      .update(adminSessions)
      .set({ lastSeenAt: sql`greatest(${adminSessions.lastSeenAt}, ${nowMs}::bigint)` })
      .from(adminUsers)
      .where(isAlive(id, { nowMs, idleMs }))
      .returning({ session: sessionColumns, user: adminUsers }),
  );
  return rows.ok ? ok(rows.value[0]) : rows;
}

/** The same, and writes nothing. */
async function knownSession(
  { db, ask }: Asked,
  id: string,
  times: SessionTimes,
): ReturnType<UserStore["session"]> {
  const rows = await ask(
    db
      .select({ session: sessionColumns, user: adminUsers })
      .from(adminSessions)
      .innerJoin(adminUsers, eq(adminSessions.userName, adminUsers.name))
      .where(isAlive(id, times)),
  );
  return rows.ok ? ok(rows.value[0]) : rows;
}

function isAlive(id: string, { nowMs, idleMs }: SessionTimes): SQL | undefined {
  return and(
    eq(adminSessions.idHash, id),
    eq(adminSessions.userName, adminUsers.name),
    gt(adminSessions.expiresAt, nowMs),
    gte(adminSessions.lastSeenAt, nowMs - idleMs),
    sql`not ${adminUsers.disabled}`,
  );
}

/** Newest first. The table is small: it is read whole and sorted. */
async function sessionPage(
  { db, ask }: Asked,
  { limit, cursor }: PageRequest,
): Stored<Page<AdminSession>> {
  const after = byTime.read(cursor);
  if (after === null) return ok(emptyPage);
  const { createdAt, idHash } = adminSessions;
  const rows = await ask(
    db
      .select(sessionColumns)
      .from(adminSessions)
      .where(
        after === undefined
          ? undefined
          : sql`(${createdAt}, ${idHash}) < (${after[0]}::bigint, ${after[1]}::text)`,
      )
      .orderBy(desc(createdAt), desc(idHash))
      .limit(limit + 1),
  );
  return rows.ok ? ok(byTime.page(rows.value, limit, (row) => [row.createdAt, row.idHash])) : rows;
}
