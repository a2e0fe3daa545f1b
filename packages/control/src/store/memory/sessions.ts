/** Sessions of the admin API in memory. */
import { byTime } from "../keyset.ts";
import type { AdminSession, AdminUser, UserStore } from "../store.ts";
import { pageOf, stored } from "./order.ts";

type SessionStore = Pick<
  UserStore,
  "addSession" | "session" | "sessions" | "removeSession" | "removeSessionsOf"
>;

export interface MemorySessions {
  readonly store: SessionStore;
  /** Ends those that fit; answers how many. */
  readonly end: (ended: (session: AdminSession) => boolean) => number;
}

/** Sessions of `users`, who live elsewhere. */
export function memorySessions(users: ReadonlyMap<string, AdminUser>): MemorySessions {
  const sessions = new Map<string, AdminSession>();

  function end(ended: (session: AdminSession) => boolean): number {
    const gone = [...sessions.values()].filter(ended);
    for (const { idHash } of gone) sessions.delete(idHash);
    return gone.length;
  }

  function found(idHash: string, nowMs: number, idleMs: number, seen = true) {
    const there = sessions.get(idHash);
    const user = there === undefined ? undefined : users.get(there.user);
    if (there === undefined || user === undefined) return undefined;
    if (there.expiresAt <= nowMs || nowMs - there.lastSeenAt > idleMs) return undefined;
    if (user.disabled) return undefined;
    if (!seen) return { session: there, user };
    const session = { ...there, lastSeenAt: Math.max(there.lastSeenAt, nowMs) };
    sessions.set(idHash, session);
    return { session, user };
  }

  const store: SessionStore = {
    addSession: (session) => {
      // Nobody asks for expired ones again, and logging in is what makes them more.
      end(({ expiresAt }) => expiresAt <= session.createdAt);
      if (users.has(session.user)) sessions.set(session.idHash, session);
      return stored(undefined);
    },
    session: (...asked) => stored(found(...asked)),
    sessions: (page) =>
      stored(
        pageOf(sessions.values(), page, {
          keyset: byTime,
          keyOf: ({ createdAt, idHash }) => [createdAt, idHash],
          newestFirst: true,
        }),
      ),
    removeSession: (idHash) => stored(sessions.delete(idHash)),
    removeSessionsOf: (name) => stored(end(({ user }) => user === name)),
  };
  return { store, end };
}
