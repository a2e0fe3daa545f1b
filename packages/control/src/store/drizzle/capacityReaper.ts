/** What the process that asks the engines says to the database: its lock, what it saw, what runs. */
import { sql, type SQL } from "drizzle-orm";
import {
  reconcileLock,
  type RunningResponse,
  type SuspectLease,
  type SuspectsResponse,
  type SweepLockResponse,
} from "@gateway/contract/capacityApi.ts";
import { submissionMsMax, type ReaperVerdict } from "@gateway/core/capacity/reaper/reaperCases.ts";
import { ok } from "@gateway/core/result.ts";
import type { CapacityStore, Settled, SuspectName } from "../capacity.ts";
import type { StatementResult } from "../database.ts";
import type { Stored } from "../store.ts";
import { handedOf, type HandedJson } from "./capacityJson.ts";

/** Runs a statement, and again when it had to give way to another. */
export type Run = (statement: SQL) => Stored<StatementResult>;

type ReaperTables = Pick<
  CapacityStore,
  | "suspects"
  | "readSuspect"
  | "settle"
  | "freeByHand"
  | "lock"
  | "keepLock"
  | "unlock"
  | "publish"
  | "running"
>;

/** The reaper's part of the store. */
export function reaperTables(run: Run): ReaperTables {
  return {
    suspects: () => suspectLeases(run),
    readSuspect: (name) => readSuspect(run, name),
    settle: (name, verdict, context) => settleSuspect(run, name, { ...verdict, ...context }),
    freeByHand: (name, context) => freeByHand(run, name, context),
    lock: (instance, ttlMs) => takeLock(run, instance, ttlMs),
    keepLock: async (instance, token) => {
      const kept = await run(sql`
        update sweep_locks set expires_at = capacity_now() + ttl_ms
        where name = ${reconcileLock}::text and instance = ${instance}::text and token = ${token}::bigint
        returning token, ttl_ms`);
      return kept.ok ? ok(lockOf(kept.value, true)) : kept;
    },
    unlock: async (instance, token) => {
      const freed = await run(sql`
        update sweep_locks set expires_at = 0
        where name = ${reconcileLock}::text and instance = ${instance}::text and token = ${token}::bigint`);
      return freed.ok ? ok(freed.value.count > 0) : freed;
    },
    publish: async (cluster, { token, running, complete }) => {
      const written = await run(sql`
        insert into capacity_running (cluster, running, complete, at)
        select ${cluster}::text, ${running}::int, ${complete}::boolean, capacity_now() from sweep_locks
        where name = ${reconcileLock}::text and token = ${token}::bigint
        on conflict (cluster) do update set
          running = excluded.running, complete = excluded.complete, at = excluded.at`);
      return written.ok ? ok(written.value.count > 0) : written;
    },
    running: () => publishedRunning(run),
  };
}

/** The only cell of the only row. */
export function json({ rows }: StatementResult): unknown {
  return JSON.parse(rows[0]?.[0] ?? "null");
}

/** The suspects that may be asked about now. Reads all rows of the table: there are few. */
async function suspectLeases(run: Run): Stored<SuspectsResponse> {
  const answer = await run(sql`
    select now.ms, n.cluster, n.cluster_group, s.slot, s.lease, s.instance, now.ms - s.expires_at,
      ${holderCells}
    from (select capacity_now() as ms) now left join (
      capacity_slots s join capacity_scopes n on n.id = s.scope and s.state = 'suspect'
    ) on now.ms - s.expires_at >= ${submissionMsMax}::bigint
    left join capacity_instances i on i.instance = s.instance
    order by s.expires_at, s.scope, s.slot limit 10000`);
  if (!answer.ok) return answer;
  const { rows } = answer.value;
  const suspects = rows
    .filter(([, cluster]) => cluster !== null)
    .map((cells): SuspectLease => {
      const [, cluster, group, slot, lease, instance, expiredForMs, holder, silentForMs] = cells;
      return {
        cluster: cluster ?? "",
        group: group ?? "",
        slot: Number(slot),
        lease: lease ?? "",
        instance: instance ?? "",
        expiredForMs: Number(expiredForMs),
        holder: holderOf(holder),
        silentForMs: Number(silentForMs),
      };
    });
  return ok({ suspects, listing: Number(rows[0]?.[0]) });
}

/** A holder that never reported counts as silent from the grant on. */
const holderCells = sql.raw(`
  case when i.dead then 'dead' when i.seen_at > s.expires_at then 'alive' else 'silent' end,
  greatest(0, now.ms - greatest(coalesce(i.seen_at, 0), s.granted_at))`);

function holderOf(cell: string | null | undefined): SuspectLease["holder"] {
  return cell === "dead" || cell === "alive" ? cell : "silent";
}

/** By the primary key, within the scopes of the cluster. */
async function readSuspect(
  run: Run,
  { token, cluster, slot, lease }: SuspectName,
): ReturnType<CapacityStore["readSuspect"]> {
  const answer = await run(sql`
    select l.token is not null, s.lease is not null, now.ms - s.expires_at, ${holderCells},
      s.max_execution_ms, now.ms - s.absent_at, now.ms - s.heard_at, now.ms, capacity_version(s)
    from (select capacity_now() as ms) now
    left join sweep_locks l on l.name = ${reconcileLock}::text and l.token = ${token}::bigint
    left join (
      capacity_scopes n join capacity_slots s on s.scope = n.id and s.state = 'suspect'
    ) on n.cluster = ${cluster}::text and n.cluster_group <> '' and s.slot = ${slot}::int
      and s.lease = ${lease}::text
    left join capacity_instances i on i.instance = s.instance`);
  if (!answer.ok) return answer;
  const [cells = []] = answer.value.rows;
  const [fence, found, expiredForMs, holder, silentForMs, ...more] = cells;
  const [limitMs, absentForMs, heardForMs, nowMs, version] = more;
  if (fence !== "t") return ok({ kind: "fenced" });
  if (found !== "t") return ok({ kind: "unknown" });
  const facts = {
    expiredForMs: Number(expiredForMs),
    holder: holderOf(holder),
    silentForMs: Number(silentForMs),
    maxExecutionMs: numberOf(limitMs),
    absentForMs: numberOf(absentForMs),
    heardForMs: numberOf(heardForMs),
    nowMs: Number(nowMs),
  };
  return ok({ kind: "suspect", facts, version: version ?? "" });
}

function numberOf(cell: string | null | undefined): number | undefined {
  return cell === null || cell === undefined ? undefined : Number(cell);
}

/** Decided outside, from facts that carry `version`; the function compares it under its turn. */
async function settleSuspect(
  run: Run,
  name: SuspectName,
  decided: ReaperVerdict & Parameters<CapacityStore["settle"]>[2],
): Stored<Settled> {
  const { advice, absent, version, listing, process, terms } = decided;
  const { leaseMs, handOverMs } = terms;
  const heard = listing === undefined ? {} : { listing: Math.round(listing) };
  const what = { ...name, name: reconcileLock, advice, absent, version, process, ...heard };
  const answer = await run(
    sql`select capacity_settle(${JSON.stringify({ ...what, leaseMs, handOverMs })}::jsonb)`,
  );
  if (!answer.ok) return answer;
  const settled = json(answer.value) as
    | { readonly kind: "fenced" | "moved" }
    | { readonly kind: "settled"; readonly handed: readonly HandedJson[] };
  if (settled.kind !== "settled") return ok({ kind: settled.kind });
  return ok({ kind: "settled", handed: handedOf(settled.handed, leaseMs) });
}

/** Without a fence: whoever is asked for it knows what the engine runs. */
async function freeByHand(
  run: Run,
  name: Omit<SuspectName, "token">,
  { process, terms }: Parameters<CapacityStore["freeByHand"]>[1],
): ReturnType<CapacityStore["freeByHand"]> {
  const { leaseMs, handOverMs } = terms;
  const what = JSON.stringify({ ...name, process, leaseMs, handOverMs });
  const answer = await run(sql`select capacity_free_by_hand(${what}::jsonb)`);
  if (!answer.ok) return answer;
  const handed = json(answer.value) as readonly HandedJson[] | null;
  return ok(handed === null ? undefined : handedOf(handed, leaseMs));
}

/** Inserting or moving the row takes the lock; everybody else is told whose fence holds. */
async function takeLock(run: Run, instance: string, ttlMs: number): Stored<SweepLockResponse> {
  const answer = await run(sql`
    insert into sweep_locks as l (name, instance, token, ttl_ms, expires_at)
    values (${reconcileLock}::text, ${instance}::text, 1, ${ttlMs}::bigint, capacity_now() + ${ttlMs}::bigint)
    on conflict (name) do update set
      token = case when l.instance = excluded.instance and l.expires_at > capacity_now()
        then l.token else l.token + 1 end,
      instance = excluded.instance, ttl_ms = excluded.ttl_ms, expires_at = excluded.expires_at
    where l.instance = excluded.instance or l.expires_at <= capacity_now()
    returning token, ttl_ms`);
  if (!answer.ok) return answer;
  if (answer.value.rows.length > 0) return ok(lockOf(answer.value, true));
  const other = await run(sql`
    select token, greatest(0, expires_at - capacity_now()) from sweep_locks
    where name = ${reconcileLock}::text`);
  return other.ok ? ok(lockOf(other.value, false)) : other;
}

function lockOf({ rows }: StatementResult, acquired: boolean): SweepLockResponse {
  const [row] = rows;
  if (row === undefined) return { acquired: false, token: 0, expiresInMs: 0 };
  return { acquired, token: Number(row[0]), expiresInMs: Number(row[1]) };
}

async function publishedRunning(run: Run): ReturnType<CapacityStore["running"]> {
  const answer = await run(sql`
    select r.cluster, r.running, r.complete, greatest(0, capacity_now() - r.at), (
      select count(*) from capacity_slots s join capacity_scopes n on n.id = s.scope
      where n.cluster = r.cluster and n.cluster_group <> '' and s.state <> 'free')
    from capacity_running r order by r.cluster`);
  if (!answer.ok) return answer;
  const clusters: Record<string, RunningResponse["clusters"][string]> = {};
  for (const [cluster, running, complete, asOfMsAgo, held] of answer.value.rows) {
    clusters[cluster ?? ""] = {
      running: Number(running),
      complete: complete === "t",
      held: Number(held),
      asOfMsAgo: Number(asOfMsAgo),
    };
  }
  return ok({ clusters });
}
