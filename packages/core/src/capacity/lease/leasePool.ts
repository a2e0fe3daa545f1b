/** Leases that nobody uses at the moment, by group and cluster. The newest is used first, so that surplus ones grow old and go back. */
import type { Lease } from "./leaseBook.ts";

interface Unused {
  readonly lease: Lease;
  readonly sinceMs: number;
}

/** What a lease must match. Whose the query is matters only where the group has a limit for each user. */
export interface LeaseKey {
  readonly group: string;
  readonly cluster: string;
  readonly user: string | undefined;
}

export class LeasePool {
  readonly #groups = new Map<string, Map<string, Unused[]>>();
  readonly #valid: (lease: Lease) => boolean;
  #size = 0;

  /** `valid` says whether something may still begin under a lease. */
  constructor(valid: (lease: Lease) => boolean) {
    this.#valid = valid;
  }

  get size(): number {
    return this.#size;
  }

  has(key: LeaseKey): boolean {
    return this.#unused(key.group, key.cluster)?.some(this.#fits(key)) ?? false;
  }

  /** Of all groups. */
  countOf(cluster: string): number {
    let count = 0;
    for (const clusters of this.#groups.values()) count += clusters.get(cluster)?.length ?? 0;
    return count;
  }

  put(lease: Lease, nowMs: number): void {
    let clusters = this.#groups.get(lease.group);
    if (clusters === undefined) {
      clusters = new Map();
      this.#groups.set(lease.group, clusters);
    }
    const unused = clusters.get(lease.cluster);
    if (unused === undefined) clusters.set(lease.cluster, [{ lease, sinceMs: nowMs }]);
    else unused.push({ lease, sinceMs: nowMs });
    this.#size += 1;
  }

  /** The newest that is valid. */
  take(key: LeaseKey): Lease | undefined {
    const unused = this.#unused(key.group, key.cluster);
    const index = unused?.findLastIndex(this.#fits(key)) ?? -1;
    const [taken] = index < 0 ? [] : (unused?.splice(index, 1) ?? []);
    if (taken === undefined) return undefined;
    this.#size -= 1;
    return taken.lease;
  }

  /** Takes out all that `fits`. */
  drain(fits: (lease: Lease, sinceMs: number) => boolean): readonly Lease[] {
    const drained: Lease[] = [];
    for (const clusters of this.#groups.values()) {
      for (const [cluster, unused] of clusters) {
        const kept = unused.filter(({ lease, sinceMs }) => !fits(lease, sinceMs));
        if (kept.length === unused.length) continue;
        drained.push(...unused.filter((one) => !kept.includes(one)).map(({ lease }) => lease));
        if (kept.length === 0) clusters.delete(cluster);
        else clusters.set(cluster, kept);
      }
    }
    this.#size -= drained.length;
    return drained;
  }

  #fits({ user }: LeaseKey): (unused: Unused) => boolean {
    return ({ lease }) => lease.user === user && this.#valid(lease);
  }

  #unused(group: string, cluster: string): Unused[] | undefined {
    return this.#groups.get(group)?.get(cluster);
  }
}
