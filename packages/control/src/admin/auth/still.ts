/**
 * Whether somebody who was let in a while ago still may: for answers that go on. It does not count as being seen,
 * so that a page which is only open does not keep its session.
 */
import type { ControlDeps } from "../../deps.ts";
import type { AdminRole } from "../../store/store.ts";
import { allows, type Admin } from "./admin.ts";
import { sessionIdleMs } from "./cookie.ts";

/** `unknown`: the database does not answer. */
export type Standing = "ok" | "signedOut" | "role" | "unknown";

/** `needed`: the least role of the answer. Another role than before is `role` too: what may be seen depends on it. */
export async function standingOf(
  { store, clock }: Pick<ControlDeps, "store" | "clock">,
  { name, role, sessionHash }: Admin,
  needed: AdminRole,
): Promise<Standing> {
  if (sessionHash === undefined) {
    const found = await store.users.get(name);
    if (!found.ok) return "unknown";
    return standing(found.value?.disabled === false ? found.value.role : undefined);
  }
  const found = await store.users.session(sessionHash, clock.unixMs(), sessionIdleMs, false);
  return found.ok ? standing(found.value?.user.role) : "unknown";

  function standing(now: AdminRole | undefined): Standing {
    if (now === undefined) return "signedOut";
    return now === role && allows(now, needed) ? "ok" : "role";
  }
}
