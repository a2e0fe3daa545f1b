/** Questions and caps for the suites of shared capacity. */
import type { AcquireResponse, NamedLease } from "@gateway/contract/capacityApi.ts";
import { expect } from "vitest";
import type {
  AcquireStep,
  Caller,
  CapacityStep,
  CapacityStore,
  CapacityTerms,
  Refusable,
  SteppedCapacity,
} from "../capacity.ts";
import { answered } from "./samples.ts";

export const terms: CapacityTerms = {
  leaseMs: 60_000,
  handOverMs: 20_000,
  waiterMs: 15_000,
  graceAfterMs: 15_000,
};

/** A lease under these ended twenty seconds before it began. */
export const overBefore: CapacityTerms = { ...terms, leaseMs: -20_000 };

/** With these a tick gives nobody time to renew first. */
export const noGrace: CapacityTerms = { ...terms, leaseMs: 0 };

export const process1 = "process-1";
export const process2 = "process-2";

/** This process itself, which needs no registration. */
export function local(instance: string): Caller {
  return { instance, tokenHash: undefined };
}

type Caps = Readonly<Record<string, number>>;

export interface CapsSample {
  readonly clusters?: Caps;
  /** Group, cluster, cap. */
  readonly members: Readonly<Record<string, Caps>>;
  readonly weights?: Caps;
  readonly maxQueued?: number;
  readonly waitMs?: number;
  readonly maxExecutionMs?: number;
  /** Group, cap of each user. */
  readonly perUser?: Caps;
}

/** Answers whether the limits were taken. */
export async function capsOf(
  capacity: CapacityStore,
  sample: CapsSample,
  sequence = 1,
): Promise<boolean> {
  const { clusters = {}, members, weights = {}, maxQueued, waitMs = 300_000 } = sample;
  const { maxExecutionMs, perUser = {} } = sample;
  const { applied } = await answered(
    capacity.limit(
      {
        epoch: 1,
        sequence,
        clusters: Object.entries(clusters).map(([cluster, maxRunning]) => ({
          cluster,
          maxRunning,
        })),
        members: Object.entries(members).flatMap(([group, caps]) =>
          Object.entries(caps).map(([cluster, maxRunning]) => {
            const maxRunningPerUser = perUser[group];
            return { cluster, group, maxRunning, maxExecutionMs, maxRunningPerUser };
          }),
        ),
        groups: Object.keys(members).map((group) => {
          return { group, weight: weights[group] ?? 1, maxQueued, waitMs };
        }),
      },
      process1,
      terms,
    ),
  );
  return applied;
}

let requests = 0;

/** One slot of cluster `c` in group `g` for a query that may wait. */
export function acquireOf(more: Partial<AcquireStep>): AcquireStep {
  requests += 1;
  return {
    caller: local("w"),
    requestId: `request-${requests}`,
    group: "g",
    candidates: ["c"],
    queryId: `query-${requests}`,
    user: "ann",
    ageMs: 0,
    count: 1,
    waits: true,
    sendsLimits: false,
    ...more,
  };
}

export async function stepped(
  capacity: CapacityStore,
  step: Partial<CapacityStep>,
  within: CapacityTerms = terms,
): Promise<SteppedCapacity> {
  const nothing = { taken: [], missed: [], unheld: [], leaves: [], releases: [], acquires: [] };
  return answered(capacity.step({ process: process1, ...nothing, ...step }, within));
}

/** An answer that is no refusal. */
export function granted(answer: Refusable<AcquireResponse> | undefined): AcquireResponse {
  if (answer === undefined || answer === "refused") throw new Error("refused");
  return answer;
}

/** Asks once, and waits for nothing. */
export async function acquired(
  capacity: CapacityStore,
  more: Partial<AcquireStep>,
  within: CapacityTerms = terms,
): Promise<AcquireResponse> {
  const asked = acquireOf({ waits: false, ...more });
  const { acquires } = await stepped(capacity, { acquires: [asked] }, within);
  return granted(acquires[0]);
}

/** Puts a query into the queue; answers what it was told. */
export async function waitFor(
  capacity: CapacityStore,
  queryId: string,
  more: Partial<AcquireStep> = {},
): Promise<AcquireResponse> {
  const answer = await acquired(capacity, { queryId, waits: true, ...more });
  expect(answer.granted).toEqual([]);
  return answer;
}

export function leasesOf({ granted: leases }: AcquireResponse): readonly string[] {
  return leases.map(({ lease }) => lease);
}

/** The only lease of an answer. */
export function named({ granted: [first] }: AcquireResponse): NamedLease {
  if (first === undefined) throw new Error("nothing was granted");
  const { cluster, slot, lease } = first;
  return { cluster, slot, lease };
}

/** Answers how many were held. */
export async function release(
  capacity: CapacityStore,
  { granted: leases }: Pick<AcquireResponse, "granted">,
  caller: Caller = local("w"),
): Promise<number> {
  const { releases } = await stepped(capacity, { releases: [{ caller, leases }] });
  const [count] = releases;
  if (count === undefined || count === "refused") throw new Error("refused");
  return count;
}

/** Slots of a cluster that count, as the reaper's page shows them. */
export async function heldOf(capacity: CapacityStore, cluster: string): Promise<number> {
  const { token } = await answered(capacity.lock("counts", 60_000));
  await answered(capacity.publish(cluster, { token, running: 0, complete: true }));
  const { clusters } = await answered(capacity.running());
  return clusters[cluster]?.held ?? Number.NaN;
}
