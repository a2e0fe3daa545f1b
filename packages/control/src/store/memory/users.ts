/** Users of the admin API, their sessions and the set-up token in memory. */
import { byName } from "../keyset.ts";
import { setupFreshMs, type AdminUser, type UserStore } from "../store.ts";
import { pageOf, stored } from "./order.ts";
import { memorySessions } from "./sessions.ts";

/** What a change of one user found. */
type Put = "written" | "moved" | "lastAdmin";
type Removed = "removed" | "moved" | "missing" | "lastAdmin";

/** Users, sessions and the set-up token of one store. */
export function memoryUsers(): UserStore {
  const users = new Map<string, AdminUser>();
  const sessions = memorySessions(users);
  let setup: { readonly tokenHash: string; readonly at: number } | undefined;

  function put(user: AdminUser, expected: number | undefined): Put {
    const there = users.get(user.name);
    if (there?.version !== expected) return "moved";
    if (there !== undefined && !enabledAdmin(user) && lastAdmin(users, there)) return "lastAdmin";
    users.set(user.name, user);
    return "written";
  }

  function remove(name: string, expected: number): Removed {
    const there = users.get(name);
    if (there === undefined) return "missing";
    if (there.version !== expected) return "moved";
    if (lastAdmin(users, there)) return "lastAdmin";
    users.delete(name);
    // Or a new user of this name would find himself logged in with them.
    sessions.end(({ user }) => user === name);
    return "removed";
  }

  return {
    ...sessions.store,
    count: () => stored(users.size),
    list: (page) =>
      stored(
        pageOf(users.values(), page, {
          keyset: byName,
          keyOf: ({ name }) => [name],
          newestFirst: false,
        }),
      ),
    get: (name) => stored(users.get(name)),
    put: (user, expected) => stored(put(user, expected)),
    remove: (name, expected) => stored(remove(name, expected)),
    offerSetup: (tokenHash, nowMs) => {
      const fresh = setup !== undefined && setup.at > nowMs - setupFreshMs;
      if (users.size > 0 || fresh) return stored(false);
      setup = { tokenHash, at: nowMs };
      return stored(true);
    },
    redeemSetup: (tokenHash, user) => {
      if (users.size > 0 || setup?.tokenHash !== tokenHash) return stored(false);
      setup = undefined;
      users.set(user.name, user);
      return stored(true);
    },
  };
}

/** True for the one user without whom nobody could administer. */
function lastAdmin(users: ReadonlyMap<string, AdminUser>, user: AdminUser): boolean {
  if (!enabledAdmin(user)) return false;
  return ![...users.values()].some((other) => other.name !== user.name && enabledAdmin(other));
}

function enabledAdmin({ role, disabled }: AdminUser): boolean {
  return role === "admin" && !disabled;
}
