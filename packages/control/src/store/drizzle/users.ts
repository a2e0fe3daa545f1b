/** Users of the admin API in their table. Sessions are in sessions.ts. */
import { asc, count, eq, sql, type SQL } from "drizzle-orm";
import { ok } from "@gateway/core/result.ts";
import { byName, emptyPage } from "../keyset.ts";
import {
  setupFreshMs,
  type AdminUser,
  type Page,
  type PageRequest,
  type Stored,
  type UserStore,
} from "../store.ts";
import { adminUsers } from "../users.sql.ts";
import type { Asked } from "./asked.ts";
import { sessionTable } from "./sessions.ts";

/** Users, sessions and the set-up token over `asked`. */
export function userTables(asked: Asked): UserStore {
  return {
    ...sessionTable(asked),
    count: () => countUsers(asked),
    list: (page) => userPage(asked, page),
    get: (name) => userOfName(asked, name),
    put: (user, expected) =>
      expected === undefined ? addUser(asked, user) : changeUser(asked, user, expected),
    remove: (name, expected) => removeUser(asked, name, expected),
    offerSetup: (tokenHash, nowMs) => offerSetup(asked, tokenHash, nowMs),
    redeemSetup: (tokenHash, user) => redeemSetup(asked, tokenHash, user),
  };
}

/** The whole table, which is small. */
async function countUsers({ db, ask }: Asked): Stored<number> {
  const rows = await ask(db.select({ users: count() }).from(adminUsers));
  return rows.ok ? ok(rows.value[0]?.users ?? 0) : rows;
}

/** By the primary key. */
async function userPage(
  { db, ask }: Asked,
  { limit, cursor }: PageRequest,
): Stored<Page<AdminUser>> {
  const after = byName.read(cursor);
  if (after === null) return ok(emptyPage);
  const rows = await ask(
    db
      .select()
      .from(adminUsers)
      .where(after === undefined ? undefined : sql`${adminUsers.name} > ${after[0]}::text`)
      .orderBy(asc(adminUsers.name))
      .limit(limit + 1),
  );
  return rows.ok ? ok(byName.page(rows.value, limit, ({ name }) => [name])) : rows;
}

/** By the primary key. */
async function userOfName({ db, ask }: Asked, name: string): Stored<AdminUser | undefined> {
  const rows = await ask(db.select().from(adminUsers).where(eq(adminUsers.name, name)));
  return rows.ok ? ok(rows.value[0]) : rows;
}

/** The primary key lets one of several writers in. */
async function addUser({ run }: Asked, user: AdminUser): Stored<"written" | "moved"> {
  const added = await run(sql`
    insert into admin_users
      (name, role, password_hash, disabled, version, created_at, updated_at)
    values (${valuesOf(user)}) on conflict (name) do nothing returning 1`);
  return added.ok ? ok(added.value.rows.length === 1 ? "written" : "moved") : added;
}

/**
 * The enabled admins, each locked, in the order of names so that two of these can not lock each other
 * out. A row that another statement changed is read again once its lock is ours, so whoever is still
 * in the answer is an admin now: two admins who remove each other at once do not both succeed.
 */
const lockedAdmins = sql`
  select name from admin_users where role = 'admin' and not disabled order by name for update`;

/** True once every lock is held. Without it the changed row would be locked first, out of order. */
const allLocked = sql`(select count(*) from admins) >= 0`;

/** Locks the admins and the user. Writes over the expected version, unless no admin were left. */
async function changeUser(
  { run }: Asked,
  user: AdminUser,
  expected: number,
): Stored<"written" | "moved" | "lastAdmin"> {
  const stays = user.role === "admin" && !user.disabled;
  const answer = await run(sql`
    with admins as materialized (${lockedAdmins}),
    written as (
      update admin_users set
        role = ${user.role}::text, password_hash = ${user.passwordHash}::text,
        disabled = ${user.disabled}::boolean, version = ${user.version}::bigint,
        created_at = ${user.createdAt}::bigint, updated_at = ${user.updatedAt}::bigint
      where ${allLocked} and name = ${user.name}::text and version = ${expected}::bigint
        and (${stays}::boolean or role <> 'admin' or disabled
          or exists (select from admins where name <> ${user.name}::text))
      returning 1
    )
    select (select count(*) from written), ${isLastAdmin(user.name, expected)}`);
  if (!answer.ok) return answer;
  const [written, last] = answer.value.rows[0] ?? [];
  if (written === "1") return ok("written");
  return ok(last === "t" && !stays ? "lastAdmin" : "moved");
}

/** Locks as `changeUser` does. Sessions go with the user, by their foreign key. */
async function removeUser(
  { run }: Asked,
  name: string,
  expected: number,
): Stored<"removed" | "moved" | "missing" | "lastAdmin"> {
  const answer = await run(sql`
    with admins as materialized (${lockedAdmins}),
    removed as (
      delete from admin_users
      where ${allLocked} and name = ${name}::text and version = ${expected}::bigint
        and (role <> 'admin' or disabled
          or exists (select from admins where name <> ${name}::text))
      returning 1
    )
    select (select count(*) from removed), ${isLastAdmin(name, expected)},
      exists (select from admin_users where name = ${name}::text)`);
  if (!answer.ok) return answer;
  const [removed, last, there] = answer.value.rows[0] ?? [];
  if (removed === "1") return ok("removed");
  if (there !== "t") return ok("missing");
  return ok(last === "t" ? "lastAdmin" : "moved");
}

/** Whether the expected version is of the one admin that `admins` holds. */
function isLastAdmin(name: string, expected: number): SQL {
  return sql`(
    exists (select from admin_users where name = ${name}::text and version = ${expected}::bigint)
    and exists (select from admins where name = ${name}::text)
    and not exists (select from admins where name <> ${name}::text)
  )`;
}

/** The primary key of the one row keeps a second token out. */
async function offerSetup({ run }: Asked, tokenHash: string, nowMs: number): Stored<boolean> {
  const offered = await run(sql`
    insert into admin_setup (only_row, token_hash, created_at)
    select true, ${tokenHash}::text, ${nowMs}::bigint
    where not exists (select from admin_users)
    on conflict (only_row) do update
      set token_hash = excluded.token_hash, created_at = excluded.created_at
      where admin_setup.created_at <= excluded.created_at - ${setupFreshMs}::bigint
    returning 1`);
  return offered.ok ? ok(offered.value.rows.length === 1) : offered;
}

/** Locks the token's row by deleting it: whoever comes second finds none. */
async function redeemSetup({ run }: Asked, tokenHash: string, user: AdminUser): Stored<boolean> {
  const redeemed = await run(sql`
    with token as (
      delete from admin_setup
      where token_hash = ${tokenHash}::text and not exists (select from admin_users)
      returning 1
    )
    insert into admin_users
      (name, role, password_hash, disabled, version, created_at, updated_at)
    select ${valuesOf(user)} from token on conflict (name) do nothing returning 1`);
  return redeemed.ok ? ok(redeemed.value.rows.length === 1) : redeemed;
}

/** In the order of the column lists above. */
function valuesOf(user: AdminUser): SQL {
  return sql`${user.name}::text, ${user.role}::text, ${user.passwordHash}::text,
    ${user.disabled}::boolean, ${user.version}::bigint, ${user.createdAt}::bigint,
    ${user.updatedAt}::bigint`;
}
