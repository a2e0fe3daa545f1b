/** Sessions end with their time, their user, or on request, and never come back. */
import { expect } from "vitest";
import type { Check } from "../store.suite.ts";
import { allPages, answered, firstPage, sessionOf, startMs, userOf } from "../rig/samples.ts";

/** Longer than any session of these tests is left alone, except where idling is the point. */
const idleMs = 10_000;

export function sessionSuite(check: Check): void {
  check("answers a session with its user, and marks it seen", async ({ users }) => {
    await answered(users.put(userOf("ann"), undefined));
    await answered(users.addSession(sessionOf("h1", "ann")));
    const seen = {
      session: sessionOf("h1", "ann", { lastSeenAt: startMs + 9 }),
      user: userOf("ann"),
    };
    expect(await answered(users.session("h1", startMs + 9, idleMs))).toEqual(seen);
    // A replica whose clock is behind does not move it back.
    expect(await answered(users.session("h1", startMs + 1, idleMs))).toEqual(seen);
    expect(await answered(users.session("h2", startMs, idleMs))).toBeUndefined();
  });

  check("answers a session that is only looked after as it was", async ({ users }) => {
    await answered(users.put(userOf("ann"), undefined));
    await answered(users.addSession(sessionOf("h1", "ann")));
    const looked = await answered(users.session("h1", startMs + 9, idleMs, false));
    expect(looked).toEqual({ session: sessionOf("h1", "ann"), user: userOf("ann") });
    expect(await answered(users.session("h1", startMs + 16, 15, false))).toBeUndefined();
    expect(await answered(users.session("h1", startMs + 15, 15))).toBeDefined();
  });

  check("answers no session that expired or whose user is disabled or gone", async ({ users }) => {
    await answered(users.put(userOf("root"), undefined));
    await answered(users.put(userOf("ann"), undefined));
    await answered(users.addSession(sessionOf("h1", "ann")));
    expect(await answered(users.session("h1", startMs + 999, idleMs))).toBeDefined();
    expect(await answered(users.session("h1", startMs + 1_000, idleMs))).toBeUndefined();
    await answered(users.put(userOf("ann", { disabled: true, version: 2 }), 1));
    expect(await answered(users.session("h1", startMs, idleMs))).toBeUndefined();
    await answered(users.put(userOf("ann", { version: 3 }), 2));
    expect(await answered(users.session("h1", startMs, idleMs))).toBeDefined();
    await answered(users.remove("ann", 3));
    expect(await answered(users.session("h1", startMs, idleMs))).toBeUndefined();
  });

  check("answers no session that was left alone for too long", async ({ users }) => {
    await answered(users.put(userOf("ann"), undefined));
    await answered(users.addSession(sessionOf("h1", "ann")));
    expect(await answered(users.session("h1", startMs + 5, 5))).toBeDefined();
    expect(await answered(users.session("h1", startMs + 10, 5))).toBeDefined();
    expect(await answered(users.session("h1", startMs + 16, 5))).toBeUndefined();
    // An idle session is over, and asking for it did not count as being seen.
    expect(await answered(users.session("h1", startMs + 16, 5))).toBeUndefined();
  });

  check("gives a user who was made anew none of the old sessions", async ({ users }) => {
    await answered(users.put(userOf("root"), undefined));
    await answered(users.put(userOf("ann"), undefined));
    await answered(users.addSession(sessionOf("h1", "ann")));
    await answered(users.remove("ann", 1));
    await answered(users.put(userOf("ann"), undefined));
    expect(await answered(users.session("h1", startMs, idleMs))).toBeUndefined();
    // Logged in with the answer of before the removal: there is nobody to have this session.
    await answered(users.addSession(sessionOf("h2", "nobody")));
    expect((await answered(users.sessions(firstPage))).items).toEqual([]);
  });

  check("ends one session, or all of a user", async ({ users }) => {
    await answered(users.put(userOf("ann"), undefined));
    await answered(users.put(userOf("bob"), undefined));
    for (const id of ["h1", "h2", "h3"]) await answered(users.addSession(sessionOf(id, "ann")));
    await answered(users.addSession(sessionOf("h4", "bob")));
    expect(await answered(users.removeSession("h1"))).toBe(true);
    expect(await answered(users.removeSession("h1"))).toBe(false);
    expect(await answered(users.removeSessionsOf("ann"))).toBe(2);
    expect(await answered(users.session("h2", startMs, idleMs))).toBeUndefined();
    expect(await answered(users.session("h4", startMs, idleMs))).toBeDefined();
  });

  check(
    "lists sessions newest first in pages, and drops expired ones in time",
    async ({ users }) => {
      await answered(users.put(userOf("ann"), undefined));
      for (const index of [0, 1, 2, 3, 4]) {
        const createdAt = startMs + Math.floor(index / 2);
        await answered(users.addSession(sessionOf(`h${index}`, "ann", { createdAt })));
      }
      const rows = await allPages((page) => users.sessions(page), 2);
      expect(rows.map(({ idHash }) => idHash)).toEqual(["h4", "h3", "h2", "h1", "h0"]);
      const later = { createdAt: startMs + 5_000, expiresAt: startMs + 6_000 };
      await answered(users.addSession(sessionOf("late", "ann", later)));
      expect((await answered(users.sessions(firstPage))).items).toHaveLength(1);
    },
  );
}
