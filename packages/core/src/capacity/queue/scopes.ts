/**
 * The two scopes a slot is held in: the cluster, and the cluster within the group. Counts and caps
 * only; who waits is not its subject.
 *
 * A cap is what the most recently admitted query said it is. Waiting queries of an older configuration
 * state their caps again and again; without this rule they would overrun a lowered cap, and a raised one
 * would let every newcomer pass them. Scopes stay for the life of the process, so that the gauge of an idle
 * cluster reads zero; there are no more of them than names in configurations.
 */
import type { Candidate } from "../../port/capacity.ts";

interface Scope {
  running: number;
  cap: number;
  /** Sequence of the admission that stated the cap. */
  statedBy: number;
}

/** Both scopes of a slot. */
interface Pair {
  readonly group: string;
  readonly cluster: string;
  readonly whole: Scope;
  readonly part: Scope;
}

/** Running queries of one cluster within one group. */
export interface RunningCount {
  readonly group: string;
  readonly cluster: string;
  readonly running: number;
}

export class Scopes {
  readonly #clusters = new Map<string, Scope>();
  readonly #groups = new Map<string, Map<string, Scope>>();
  /** The pair that was looked up last: a query is heard, taken and given back by the same. */
  #last: Pair | undefined;

  /** Running on a cluster, over all groups. */
  load(cluster: string): number {
    return this.#clusters.get(cluster)?.running ?? 0;
  }

  /** Takes over the caps as the admission `sequence` states them. True when one of them rose. */
  hear(group: string, candidates: readonly Candidate[], sequence: number): boolean {
    let rose = false;
    for (const { cluster, clusterCap, groupCap } of candidates) {
      const { whole, part } = this.#pair(group, cluster);
      if (state(whole, clusterCap ?? Number.POSITIVE_INFINITY, sequence)) rose = true;
      if (state(part, groupCap, sequence)) rose = true;
    }
    return rose;
  }

  /** Forgets which admission stated the caps: the next one counts. */
  forgetStatements(): void {
    for (const scope of this.#clusters.values()) scope.statedBy = 0;
    for (const group of this.#groups.values()) {
      for (const scope of group.values()) scope.statedBy = 0;
    }
  }

  /** Whether one more may run. Never true before somebody stated the caps. */
  hasRoom(group: string, cluster: string): boolean {
    return this.roomFor(group, cluster) > 0;
  }

  /** How many more may run. */
  roomFor(group: string, cluster: string): number {
    const known = this.#known(group, cluster);
    const whole = known?.whole ?? this.#clusters.get(cluster);
    const part = known?.part ?? this.#groups.get(group)?.get(cluster);
    if (whole === undefined || part === undefined) return 0;
    return Math.max(0, Math.min(whole.cap - whole.running, part.cap - part.running));
  }

  /** Counts a query in both scopes. The caller has asked `hasRoom` in the same turn. */
  take(group: string, cluster: string): void {
    const { whole, part } = this.#pair(group, cluster);
    whole.running += 1;
    part.running += 1;
  }

  /** Takes the query out of both counts. Once per `take`. */
  give(group: string, cluster: string): void {
    const { whole, part } = this.#pair(group, cluster);
    whole.running -= 1;
    part.running -= 1;
  }

  /** Every scope within a group, idle ones too. */
  counts(): readonly RunningCount[] {
    return [...this.#groups].flatMap(([group, clusters]) =>
      [...clusters].map(([cluster, { running }]) => ({ group, cluster, running })),
    );
  }

  #known(group: string, cluster: string): Pair | undefined {
    const last = this.#last;
    return last?.group === group && last.cluster === cluster ? last : undefined;
  }

  #pair(group: string, cluster: string): Pair {
    const known = this.#known(group, cluster);
    if (known !== undefined) return known;
    const whole = scopeIn(this.#clusters, cluster);
    let clusters = this.#groups.get(group);
    if (clusters === undefined) {
      clusters = new Map();
      this.#groups.set(group, clusters);
    }
    const pair = { group, cluster, whole, part: scopeIn(clusters, cluster) };
    this.#last = pair;
    return pair;
  }
}

function scopeIn(scopes: Map<string, Scope>, name: string): Scope {
  let scope = scopes.get(name);
  if (scope === undefined) {
    scope = { running: 0, cap: 0, statedBy: 0 };
    scopes.set(name, scope);
  }
  return scope;
}

function state(scope: Scope, cap: number, sequence: number): boolean {
  if (sequence < scope.statedBy) return false;
  const rose = cap > scope.cap;
  scope.cap = cap;
  scope.statedBy = sequence;
  return rose;
}
