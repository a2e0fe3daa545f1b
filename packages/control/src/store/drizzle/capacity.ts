/**
 * Shared capacity in its tables. Each step is one call of a function of migrations V022 to V026, because every
 * statement inside it has to see what was committed when it got its turn.
 *
 * Renewals lock rows without taking a turn, so a step may meet one and be chosen to give way; it did
 * nothing then and is run again.
 */
import { and, count, isNull, sql, type SQL } from "drizzle-orm";
import { acquireCountMax, type NamedLease } from "@gateway/contract/capacityApi.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import { ok } from "@gateway/core/result.ts";
import type { CapacityLimits, CapacityStep, CapacityStore, CapacityTerms } from "../capacity.ts";
import { capacityWaiters } from "../capacity.sql.ts";
import type { StatementResult, Database } from "../database.ts";
import { storableJson } from "../storable.ts";
import type { Stored } from "../store.ts";
import type { Asked } from "./asked.ts";
import { json, reaperTables, type Run } from "./capacityReaper.ts";
import {
  callersOf,
  handedOf,
  steppedOf,
  type HandedJson,
  type SteppedJson,
} from "./capacityJson.ts";

/** Channel that a step notifies which gave a lease to a waiter of another process. */
const capacityChannel = "capacity_given";
/** SQLSTATEs of a statement that was rolled back in favour of another. */
const gaveWay: ReadonlySet<string> = new Set(["40P01", "40001"]);
const triesMax = 3;

export interface CapacityTablesOptions {
  readonly database: Pick<Database, "listen">;
  readonly clock: Clock;
  readonly lookMs: number;
}

/** Capacity over `asked`. */
export function capacityTables(asked: Asked, options: CapacityTablesOptions): CapacityStore {
  const { run } = tried(asked);
  return {
    limit: (limits, process, terms) => applyLimits(run, limits, { process, terms }),
    step: (step, terms) => runStep(run, step, terms),
    collect: async (process, { leaseMs }) => {
      const answer = await run(sql`select capacity_collect(${process}::text, ${leaseMs}::bigint)`);
      return answer.ok
        ? ok(handedOf(json(answer.value) as readonly HandedJson[], leaseMs))
        : answer;
    },
    renew: async ({ instance, tokenHash }, leases, { leaseMs }) => {
      const answer = await run(sql`
        select capacity_renew(${instance}::text, ${tokenHash ?? null}::text,
          ${storableJson(leases.map(renewalOf))}::jsonb, ${leaseMs}::bigint)`);
      if (!answer.ok) return answer;
      const found = json(answer.value) as readonly string[] | null;
      if (found === null) return ok("refused");
      const renewed = new Set(found);
      return ok({
        renewed: [...renewed],
        lost: leases.map(({ lease }) => lease).filter((lease) => !renewed.has(lease)),
      });
    },
    seen: async (instance) => {
      const answer = await run(sql`select capacity_seen(${instance}::text)`);
      return answer.ok ? ok(json(answer.value) as readonly string[]) : answer;
    },
    dead: async (instance) => counted(await run(sql`select capacity_dead(${instance}::text)`)),
    tick: async ({ leaseMs, graceAfterMs }) =>
      counted(await run(sql`select capacity_tick(${leaseMs}::bigint, ${graceAfterMs}::bigint)`)),
    ...reaperTables(run),
    waiting: () => waitingQueries(asked),
    watch: (wake) => watchCapacity(options, wake),
  };
}

function tried({ run }: Asked): { readonly run: Run } {
  const again = async (statement: SQL, tries: number): Stored<StatementResult> => {
    const answer = await run(statement);
    if (answer.ok || tries <= 1 || !gaveWay.has(answer.error.detail)) return answer;
    return again(statement, tries - 1);
  };
  return { run: (statement) => again(statement, triesMax) };
}

async function applyLimits(
  run: Run,
  { epoch, sequence, clusters, members, groups }: CapacityLimits,
  { process, terms }: { readonly process: string; readonly terms: CapacityTerms },
): ReturnType<CapacityStore["limit"]> {
  const scopes = [
    ...clusters.map(({ cluster, maxRunning }) => ({
      cluster,
      cluster_group: "",
      max_running: maxRunning,
    })),
    ...members.map(({ cluster, group, maxRunning, maxExecutionMs, maxRunningPerUser }) => ({
      cluster,
      cluster_group: group,
      max_running: maxRunning,
      max_execution_ms: maxExecutionMs,
      max_running_per_user: maxRunningPerUser,
    })),
  ];
  const rows = groups.map(({ group, weight, maxQueued, waitMs }) => ({
    cluster_group: group,
    weight,
    max_queued: maxQueued,
    wait_ms: waitMs,
  }));
  const { leaseMs, handOverMs } = terms;
  const limits = {
    epoch,
    sequence,
    process,
    leaseMs,
    handOverMs,
    groups: rows,
    scopes,
    users: true,
  };
  const answer = await run(sql`select capacity_limit(${JSON.stringify(limits)}::jsonb)`);
  if (!answer.ok) return answer;
  const handed = json(answer.value) as readonly HandedJson[] | null;
  return ok({ applied: handed !== null, handed: handedOf(handed ?? [], leaseMs) });
}

async function runStep(
  run: Run,
  step: CapacityStep,
  { leaseMs, handOverMs, waiterMs }: CapacityTerms,
): ReturnType<CapacityStore["step"]> {
  const callers = callersOf(step);
  const body = {
    process: step.process,
    leaseMs,
    handOverMs,
    waiterMs,
    callers: callers.rows,
    taken: namesOf(step.taken),
    missed: namesOf(step.missed),
    unheld: namesOf(step.unheld),
    leaves: step.leaves.map(({ caller, queryId }, op) => ({
      op,
      caller: callers.place(caller),
      query: queryId,
    })),
    releases: step.releases.flatMap(({ caller, leases }, op) =>
      leases.map(({ cluster, slot, lease }) => {
        return { op, caller: callers.place(caller), cluster, slot, lease };
      }),
    ),
    acquires: step.acquires.map((acquire, op) => ({
      op,
      caller: callers.place(acquire.caller),
      request: acquire.requestId,
      cluster_group: acquire.group,
      candidates: acquire.candidates,
      query: acquire.queryId,
      user_name: acquire.user,
      age: Math.round(acquire.ageMs),
      want: Math.min(acquire.count, acquireCountMax),
      waits: acquire.waits,
    })),
  };
  const answer = await run(sql`select capacity_step(${storableJson(body)}::jsonb)`);
  if (!answer.ok) return answer;
  return ok(steppedOf(json(answer.value) as SteppedJson, step, { place: callers.place, leaseMs }));
}

/** By group; a waiter that has not called for too long is none. */
async function waitingQueries({ db, ask }: Asked): Stored<ReadonlyMap<string, number>> {
  const { clusterGroup, lease, expiresAt } = capacityWaiters;
  const waits = and(isNull(lease), sql`${expiresAt} > capacity_now()`);
  const rows = await ask(
    db
      .select({ clusterGroup, waiting: count() })
      .from(capacityWaiters)
      .where(waits)
      .groupBy(clusterGroup),
  );
  if (!rows.ok) return rows;
  return ok(new Map(rows.value.map((row) => [row.clusterGroup, row.waiting])));
}

/** By notification where the driver can listen, and by the clock in any case: one may be lost. */
function watchCapacity(
  { database, clock, lookMs }: CapacityTablesOptions,
  wake: () => void,
): AsyncDisposable {
  let stopped = false;
  let timer: Disposable;
  const look = (): void => {
    timer = clock.timer(lookMs, () => {
      look();
      wake();
    });
  };
  look();
  const listening = database.listen?.(capacityChannel, () => {
    if (!stopped) wake();
  });
  return {
    [Symbol.asyncDispose]: async () => {
      stopped = true;
      timer[Symbol.dispose]();
      await listening?.[Symbol.asyncDispose]();
    },
  };
}

/** Undefined, and so left out, where there is none. */
function namesOf(list: CapacityStep["taken"]) {
  if (list.length === 0) return undefined;
  return list.map(({ instance, queryId }) => ({ instance, query: queryId }));
}

function renewalOf({ cluster, slot, lease, queryId }: NamedLease) {
  return { cluster, slot, lease, query: queryId };
}

function counted(answer: Awaited<Stored<StatementResult>>): Awaited<Stored<number>> {
  return answer.ok ? ok(Number(answer.value.rows[0]?.[0] ?? 0)) : answer;
}
