/**
 * The slots of shared capacity in memory: which leases there are, and whether there is room for one
 * more. It knows no waiters.
 *
 * A lease stands in its group's scope; the cluster's own holds what those of its groups hold together.
 */
import { randomUUID } from "node:crypto";
import type { NamedLease } from "@gateway/contract/capacityApi.ts";
import type { CapacityLimits } from "../capacity.ts";

export interface Lease {
  readonly cluster: string;
  readonly group: string;
  readonly slot: number;
  readonly lease: string;
  readonly instance: string;
  readonly grantedAt: number;
  readonly maxExecutionMs: number | undefined;
  /** Whose it is, where the group has a limit for each user. */
  readonly user: string | undefined;
  state: "held" | "suspect";
  expiresAt: number;
  absentAt: number | undefined;
  /** The newest listing that was heard for it. */
  heardAt: number | undefined;
}

interface Scope {
  readonly cluster: string;
  readonly group: string;
  maxRunning: number;
  maxExecutionMs: number | undefined;
  maxRunningPerUser: number | undefined;
  /** By slot. */
  readonly leases: Map<number, Lease>;
}

/** Who takes a slot, when and for how long. */
interface Holder {
  readonly instance: string;
  readonly nowMs: number;
  readonly forMs: number;
  readonly sendsLimits: boolean;
  /** Undefined for leases ahead. */
  readonly user: string | undefined;
}

export class MemorySlots {
  readonly #scopes = new Map<string, Scope>();
  readonly #clusterMax = new Map<string, number>();
  readonly #leases = new Map<string, Lease>();

  limit({ clusters, members }: CapacityLimits): void {
    this.#clusterMax.clear();
    for (const { cluster, maxRunning } of clusters) this.#clusterMax.set(cluster, maxRunning);
    // A scope that is no longer named grants nothing; its leases run to their end.
    for (const scope of this.#scopes.values()) {
      scope.maxRunning = 0;
      scope.maxRunningPerUser = undefined;
    }
    for (const { cluster, group, ...own } of members) {
      const key = scopeKey(cluster, group);
      const scope = this.#scopes.get(key);
      if (scope === undefined) this.#scopes.set(key, { cluster, group, ...own, leases: new Map() });
      else Object.assign(scope, own);
    }
  }

  /** How many more slots of the group the user may hold, on all clusters together; infinity without a limit. */
  roomOf(group: string, user: string): number {
    const scopes = [...this.#scopes.values()].filter((scope) => scope.group === group);
    const most = scopes.find(({ maxRunningPerUser }) => maxRunningPerUser !== undefined);
    if (most?.maxRunningPerUser === undefined) return Number.POSITIVE_INFINITY;
    const leases = scopes.flatMap((scope) => [...scope.leases.values()]);
    return most.maxRunningPerUser - leases.filter((lease) => lease.user === user).length;
  }

  /** Clusters of the groups that limit their users. */
  shared(): readonly string[] {
    return [...this.#scopes.values()]
      .filter(({ maxRunningPerUser }) => maxRunningPerUser !== undefined)
      .map(({ cluster }) => cluster);
  }

  knows(cluster: string, group: string): boolean {
    return this.#scopes.has(scopeKey(cluster, group));
  }

  clusters(): readonly string[] {
    return [...new Set([...this.#scopes.values()].map(({ cluster }) => cluster))];
  }

  leases(): Iterable<Lease> {
    return this.#leases.values();
  }

  heldOn(cluster: string): number {
    let held = 0;
    for (const scope of this.#scopes.values()) {
      if (scope.cluster === cluster) held += scope.leases.size;
    }
    return held;
  }

  hasRoom(cluster: string, group: string): boolean {
    const scope = this.#scopes.get(scopeKey(cluster, group));
    if (scope === undefined || scope.leases.size >= scope.maxRunning) return false;
    return this.heldOn(cluster) < (this.#clusterMax.get(cluster) ?? Number.POSITIVE_INFINITY);
  }

  /** Undefined without room. */
  take(
    place: { readonly cluster: string; readonly group: string },
    holder: Holder,
  ): Lease | undefined {
    const { cluster, group } = place;
    const scope = this.#scopes.get(scopeKey(cluster, group));
    if (scope === undefined || !this.hasRoom(cluster, group)) return undefined;
    const { instance, nowMs, forMs, sendsLimits, user } = holder;
    const limited = scope.maxRunningPerUser !== undefined;
    // A lease for nobody's query would be somebody's, uncounted.
    if (limited && (user === undefined || this.roomOf(group, user) <= 0)) return undefined;
    let slot = 0;
    while (scope.leases.has(slot)) slot += 1;
    const lease: Lease = {
      cluster,
      group,
      slot,
      lease: randomUUID().replaceAll("-", ""),
      instance,
      grantedAt: nowMs,
      maxExecutionMs: sendsLimits ? scope.maxExecutionMs : undefined,
      user: limited ? user : undefined,
      state: "held",
      expiresAt: nowMs + forMs,
      absentAt: undefined,
      heardAt: undefined,
    };
    scope.leases.set(slot, lease);
    this.#leases.set(lease.lease, lease);
    return lease;
  }

  /** The lease with this name, of whoever it is. */
  named({
    cluster,
    slot,
    lease,
  }: Pick<NamedLease, "cluster" | "slot" | "lease">): Lease | undefined {
    const found = this.#leases.get(lease);
    return found?.cluster === cluster && found.slot === slot ? found : undefined;
  }

  byId(lease: string): Lease | undefined {
    return this.#leases.get(lease);
  }

  free({ cluster, group, slot, lease }: Lease): void {
    this.#leases.delete(lease);
    this.#scopes.get(scopeKey(cluster, group))?.leases.delete(slot);
  }
}

function scopeKey(cluster: string, group: string): string {
  return JSON.stringify([cluster, group]);
}
