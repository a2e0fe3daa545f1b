/**
 * A random gateway without engines: groups over clusters with caps, strategies and weights, clients
 * that come, run, cancel and leave, clusters that fail and recover. Everything from one seed, on
 * virtual time, over the real capacity.
 *
 * It keeps its own books of what runs where and compares them with the caps at every grant; it
 * trusts nothing the capacity says about itself.
 */
import type { StrategyConfig } from "@gateway/contract/config/group.ts";
import { localCapacity } from "@gateway/core/capacity/local.ts";
import { candidateSource, type GroupMembers } from "@gateway/core/cluster/candidates.ts";
import { strategyOf } from "@gateway/core/cluster/strategy.ts";
import type { ErrorCode } from "@gateway/contract/error.ts";
import type { AdmitRequest, Capacity } from "@gateway/core/port/capacity.ts";
import type { Slot } from "@gateway/core/query/slot.ts";
import { seededRandom, virtualHost, type VirtualHost } from "@gateway/core/rig/virtual.ts";
import type { Policed } from "@gateway/core/query/query.ts";
import { queryOf } from "@gateway/core/route/rig/queryOf.ts";

export interface SimCluster {
  readonly name: string;
  readonly cap: number | undefined;
  usable: boolean;
}

export interface SimGroup extends GroupMembers {
  readonly name: string;
  readonly weight: number;
  readonly maxQueued: number | undefined;
  readonly waitTimeoutMs: number;
}

/** How a client's query came to its end. `left` stopped reading, `served` ran. */
export type SimEnd = "served" | "left" | ErrorCode;

/** What a client does with its admission. */
export interface SimPlan {
  readonly group: SimGroup;
  readonly user: string;
  readonly runMs: number;
  /** Cancels so long after the arrival, whether it waits or runs. */
  readonly cancelAfterMs?: number | undefined;
  /** Stops reading after the first position it is shown. */
  readonly leavesQueue?: boolean | undefined;
}

/** What became of a query's admission, and when that was decided. */
export interface SimEnded {
  readonly plan: SimPlan;
  readonly end: SimEnd;
  readonly waitedMs: number;
  readonly atMs: number;
}

export class SimFleet {
  readonly host: VirtualHost;
  readonly capacity: Capacity;
  readonly clusters: readonly SimCluster[];
  readonly groups: readonly SimGroup[];
  /** Ends of all queries, oldest first. */
  readonly ends: SimEnded[] = [];
  readonly #waiting = new Set<SimPlan>();
  readonly #running = new Map<string, number>();

  constructor(seed: number, clusters: readonly SimCluster[], groups: readonly SimGroup[]) {
    this.host = virtualHost(seed);
    this.capacity = localCapacity(this.host);
    this.clusters = clusters;
    this.groups = groups;
  }

  /** Queries that wait now. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Runs one query of a client to its end. Throws when a promise of the capacity is broken. */
  async run(plan: SimPlan): Promise<SimEnd> {
    const { clock } = this.host;
    const beganAtMs = clock.nowMs();
    const controller = new AbortController();
    using _cancel = clock.timer(plan.cancelAfterMs ?? 1e12, () => controller.abort());
    this.#waiting.add(plan);
    const admitted = await this.#admit(plan, controller.signal);
    this.#waiting.delete(plan);
    const waitedMs = clock.nowMs() - beganAtMs;
    const end = typeof admitted === "string" ? admitted : "served";
    this.ends.push({ plan, end, waitedMs, atMs: clock.nowMs() });
    if (typeof admitted !== "string") await this.#hold(plan, admitted, controller.signal);
    return end;
  }

  /** Flips the health of a cluster, as a watch would. */
  flip(cluster: SimCluster): void {
    cluster.usable = !cluster.usable;
    this.capacity.wake();
  }

  /** Everybody who waits could run nowhere. Called between events. */
  assertNobodyWaitsForNothing(): void {
    for (const { group } of this.#waiting) {
      for (const member of group.members) {
        const free = member.usable() && this.#hasRoom(group, member.cluster);
        if (free) throw new Error(`${member.cluster} has room and a query of ${group.name} waits`);
      }
    }
  }

  /** Everything came to an end and left nothing. */
  assertEmpty(): void {
    const left = this.capacity.counts().filter(({ running, queued }) => running + queued > 0);
    if (left.length > 0) throw new Error(`left in the capacity: ${JSON.stringify(left)}`);
    if (this.host.timerCount > 0) throw new Error(`${this.host.timerCount} timers left`);
    if (this.#waiting.size > 0) throw new Error(`${this.#waiting.size} queries lost`);
    if (this.host.log.bugs.length > 0) throw new Error("a bug was reported");
  }

  async #admit(plan: SimPlan, signal: AbortSignal): Promise<Slot | Exclude<SimEnd, "served">> {
    const admission = this.capacity.admit(this.#requestOf(plan), signal);
    let shown = Number.NaN;
    for (;;) {
      const step = await admission.next();
      if (step.done === true) return step.value.ok ? step.value.value : step.value.error.code;
      const { position } = step.value;
      if (position < 1 || position > this.#waiting.size) throw new Error(`position ${position}`);
      if (position === shown) throw new Error(`position ${position} was shown twice`);
      shown = position;
      if (plan.leavesQueue !== true) continue;
      // The promise of the type is that nobody looks at what a generator that was left answers.
      await admission.return(undefined as never);
      return "left";
    }
  }

  async #hold(plan: SimPlan, slot: Slot, signal: AbortSignal): Promise<void> {
    this.#count(plan.group, slot.cluster, 1);
    const cluster = this.clusters.find(({ name }) => name === slot.cluster);
    if (cluster?.usable !== true) throw new Error(`${slot.cluster} was granted while it was down`);
    await new Promise<void>((resolve) => {
      const over = this.host.clock.timer(plan.runMs, resolve);
      signal.addEventListener("abort", () => {
        over[Symbol.dispose]();
        resolve();
      });
      if (signal.aborted) resolve();
    });
    this.#count(plan.group, slot.cluster, -1);
    await slot[Symbol.asyncDispose]();
    // A second disposal must not free what somebody else holds by now.
    await slot[Symbol.asyncDispose]();
  }

  #requestOf({ group, user }: SimPlan): AdmitRequest {
    const source = candidateSource(group, new Set());
    const { weight, maxQueued, waitTimeoutMs } = group;
    return {
      query: policedOf(group.name, user),
      group: group.name,
      weight,
      maxQueued,
      waitTimeoutMs,
      candidates: source.kind === "none" ? () => [] : source.candidates,
    };
  }

  #count(group: SimGroup, cluster: string, delta: 1 | -1): void {
    for (const key of [cluster, `${group.name}/${cluster}`]) {
      this.#running.set(key, (this.#running.get(key) ?? 0) + delta);
    }
    const cap = this.clusters.find(({ name }) => name === cluster)?.cap ?? Number.POSITIVE_INFINITY;
    const whole = this.#running.get(cluster) ?? 0;
    const part = this.#running.get(`${group.name}/${cluster}`) ?? 0;
    if (whole > cap) throw new Error(`${whole} of ${cap} run on ${cluster}`);
    if (part > group.maxRunning)
      throw new Error(`${part} of ${group.maxRunning} run on ${cluster} for ${group.name}`);
  }

  #hasRoom(group: SimGroup, cluster: string): boolean {
    const cap = this.clusters.find(({ name }) => name === cluster)?.cap ?? Number.POSITIVE_INFINITY;
    const whole = this.#running.get(cluster) ?? 0;
    return whole < cap && (this.#running.get(`${group.name}/${cluster}`) ?? 0) < group.maxRunning;
  }
}

function policedOf(group: string, user: string): Policed {
  const query = queryOf({ user });
  return { ...query, group, trace: [], allowedSql: query.sql };
}

/** Chance for building fleets and plans, apart from the host's own. */
export interface Dice {
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<T>(items: readonly [T, ...T[]]): T;
}

export function diceOf(seed: number): Dice {
  const random = seededRandom(seed ^ 0x5eed);
  return {
    between: (low, high) => low + Math.floor(random() * (high - low + 1)),
    chance: (probability) => random() < probability,
    pick: (items) => items[Math.floor(random() * items.length)] ?? items[0],
  };
}

/** Up to four clusters and four groups over them, each with its own limits. */
export function randomFleet(seed: number, dice: Dice): SimFleet {
  const clusters = Array.from({ length: dice.between(1, 4) }, (_, index) => ({
    name: `c${index}`,
    cap: dice.chance(0.7) ? dice.between(1, 6) : undefined,
    usable: true,
  }));
  const groups = Array.from({ length: dice.between(1, 4) }, (_, index) => {
    const some = clusters.filter(() => dice.chance(0.7));
    const members = some.length === 0 ? clusters.slice(0, 1) : some;
    return groupOf(`g${index}`, members, {
      maxRunning: dice.between(1, 5),
      weight: dice.pick([0.5, 1, 2, 4]),
      maxQueued: dice.chance(0.4) ? dice.between(0, 12) : undefined,
      waitTimeoutMs: dice.between(1, 60) * 1_000,
      strategy: strategyOf(strategyConfigOf(members, dice)),
    });
  });
  return new SimFleet(seed, clusters, groups);
}

export function groupOf(
  name: string,
  clusters: readonly SimCluster[],
  limits: Omit<SimGroup, "name" | "members">,
): SimGroup {
  return {
    name,
    ...limits,
    members: clusters.map((cluster) => ({
      cluster: cluster.name,
      engine: "duckDb",
      clusterCap: cluster.cap,
      usable: () => cluster.usable,
      runningMax: () => Number.POSITIVE_INFINITY,
    })),
  };
}

function strategyConfigOf(members: readonly SimCluster[], dice: Dice): StrategyConfig {
  const weights = Object.fromEntries(members.map(({ name }) => [name, dice.between(0, 3)]));
  return dice.pick<StrategyConfig>([
    { type: "roundRobin" },
    { type: "leastLoaded" },
    { type: "failover" },
    { type: "engineAffinity", preference: ["duckDb"] },
    { type: "weighted", weights },
  ]);
}
