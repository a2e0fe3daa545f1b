/**
 * Users of the admin API who have no password here: the one behind a one-time link, and those whom an identity
 * provider proved. Their hash is none that a password could have, and says who may sign on as them.
 */
import type { SignOnRefusal } from "@gateway/contract/studioApi.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { ControlDeps, ProvenAdmin } from "../../deps.ts";
import { tokenHashOf } from "../../http/secretCompare.ts";
import type { AdminRole, AdminUser, StoreUnavailable } from "../../store/store.ts";
import { userName } from "./userShapes.ts";

const local = "!local";

type Deps = Pick<ControlDeps, "store" | "clock">;

/** The admin of a link: made where there is no user at all, undefined where it is gone or no admin any more. */
export async function localAdmin(
  { store, clock }: Deps,
  name: string,
): Promise<Result<AdminUser | undefined, StoreUnavailable>> {
  const found = await store.users.get(name);
  if (!found.ok) return found;
  const there = found.value;
  if (there !== undefined) return ok(there.disabled || there.role !== "admin" ? undefined : there);
  const count = await store.users.count();
  if (!count.ok) return count;
  if (count.value > 0) return ok(undefined);
  const user = newUser({ name, role: "admin", passwordHash: local }, clock.unixMs());
  const put = await store.users.put(user, undefined);
  if (!put.ok) return put;
  return ok(put.value === "written" ? user : undefined);
}

/**
 * The user whom a provider proved, made or given today's role. A name that belongs to somebody else stays theirs,
 * and the first user of all is an admin or nobody.
 */
export async function provisioned(
  { store, clock }: Deps,
  { name, role, subject }: ProvenAdmin,
): Promise<Result<AdminUser, SignOnRefusal | "store">> {
  if (!userName.safeParse(name).success) return err("refused");
  const passwordHash = `!oidc:${tokenHashOf(subject)}`;
  const found = await store.users.get(name);
  if (!found.ok) return err("store");
  const there = found.value;
  if (there === undefined) {
    const count = await store.users.count();
    if (!count.ok) return err("store");
    // Otherwise the set-up were over, and nobody could administer.
    if (count.value === 0 && role !== "admin") return err("noRole");
    const user = newUser({ name, role, passwordHash }, clock.unixMs());
    return written(user, await store.users.put(user, undefined));
  }
  if (there.passwordHash !== passwordHash) return err("nameTaken");
  if (there.disabled) return err("refused");
  if (there.role === role) return ok(there);
  const user = { ...there, role, version: there.version + 1, updatedAt: clock.unixMs() };
  const put = written(user, await store.users.put(user, there.version));
  if (!put.ok) return put;
  const ended = await store.users.removeSessionsOf(name);
  return ended.ok ? put : err("store");
}

function written(
  user: AdminUser,
  put: Result<"written" | "moved" | "lastAdmin", StoreUnavailable>,
): Result<AdminUser, SignOnRefusal | "store"> {
  if (!put.ok) return err("store");
  return put.value === "written" ? ok(user) : err(put.value === "moved" ? "expired" : "noRole");
}

function newUser(
  one: { readonly name: string; readonly role: AdminRole; readonly passwordHash: string },
  nowMs: number,
): AdminUser {
  return { ...one, disabled: false, version: 1, createdAt: nowMs, updatedAt: nowMs };
}
