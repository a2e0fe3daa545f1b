/** Shared capacity in memory: the steps of the port over slots and queue, each in one turn of the event loop. */
import type {
  AcquireResponse,
  GrantedLease,
  NamedLease,
  SuspectLease,
  SuspectsResponse,
} from "@gateway/contract/capacityApi.ts";
import { mayBeAsked } from "@gateway/core/capacity/reaper/reaperCases.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type {
  AcquireStep,
  Caller,
  CapacityLimits,
  CapacityStep,
  CapacityStore,
  CapacityTerms,
  HandOver,
  Refusable,
  SteppedCapacity,
} from "../capacity.ts";
import { MemoryQueue, type Waiter } from "./capacityQueue.ts";
import { MemorySlots, type Lease } from "./capacitySlots.ts";
import { memoryReaper, type Life, type Published } from "./capacityReaper.ts";
import { stored } from "./order.ts";

/** A waiter whose call ended before its time comes again within this, or left. */
const unheldMs = 2_000;
const lostKeptMs = 600_000;
const lifeKeptMs = 86_400_000;

/** Answers whether instance and token fit a registration. */
export type Registered = (instance: string, tokenHash: string) => boolean;

/** No slot, and nobody who waits. */
export function memoryCapacity(clock: Clock, registered: Registered): CapacityStore {
  const capacity = new MemoryCapacity(clock, registered);
  return {
    limit: (limits, process, terms) => stored(capacity.limit(limits, process, terms)),
    step: (step, terms) => stored(capacity.step(step, terms)),
    // Whoever holds the calls of waiters is this process: what it was given it was told in the step.
    collect: () => stored([]),
    renew: (caller, leases, terms) => stored(capacity.renew(caller, leases, terms)),
    seen: (instance) => stored(capacity.seen(instance)),
    dead: (instance) => stored(capacity.dead(instance)),
    tick: (terms) => stored(capacity.tick(terms)),
    suspects: () => stored(capacity.suspects()),
    ...memoryReaper({
      clock,
      slots: capacity.slots,
      lives: capacity.lives,
      published: capacity.published,
      lifeOf: (lease) => capacity.holderOf(lease),
      freed: (lease, process, terms) => capacity.taken(lease, process, terms),
    }),
    waiting: () => stored(capacity.queue.sizes(clock.nowMs())),
    watch: () => ({ [Symbol.asyncDispose]: () => Promise.resolve() }),
  };
}

class MemoryCapacity {
  readonly slots = new MemorySlots();
  readonly queue = new MemoryQueue();
  readonly lives = new Map<string, Life>();
  readonly published = new Map<string, Published>();
  readonly #clock: Clock;
  readonly #registered: Registered;
  readonly #answers = new Map<string, { readonly leases: readonly Lease[]; expiresAt: number }>();
  /** Instances that send the limits of their leases to the engines. */
  readonly #limiting = new Set<string>();
  readonly #lost = new Map<string, { readonly instance: string; readonly atMs: number }>();
  #position: readonly [number, number] = [0, 0];
  #tickAt: number | undefined;
  #graceUntil = 0;

  constructor(clock: Clock, registered: Registered) {
    this.#clock = clock;
    this.#registered = registered;
  }

  limit(limits: CapacityLimits, process: string, terms: CapacityTerms) {
    const { epoch, sequence } = limits;
    const [knownEpoch, knownSequence] = this.#position;
    if (epoch < knownEpoch || (epoch === knownEpoch && sequence < knownSequence)) {
      return { applied: false, handed: [] };
    }
    this.#position = [epoch, sequence];
    this.slots.limit(limits);
    this.queue.limit(limits);
    this.#shut(this.#clock.nowMs());
    return { applied: true, handed: this.#handOver(this.slots.clusters(), process, terms) };
  }

  step(step: CapacityStep, terms: CapacityTerms): SteppedCapacity {
    const nowMs = this.#clock.nowMs();
    for (const { instance, queryId } of step.taken) {
      const waiter = this.queue.get(instance, queryId);
      if (waiter?.given !== undefined) this.queue.remove(waiter);
    }
    for (const { instance, queryId } of step.missed) {
      const given = this.queue.get(instance, queryId)?.given;
      if (given !== undefined) shorten(given, nowMs + terms.handOverMs);
    }
    for (const { instance, queryId } of step.unheld) {
      const waiter = this.queue.get(instance, queryId);
      if (waiter !== undefined) shorten(waiter, nowMs + unheldMs);
    }
    const leaves = step.leaves.map(({ caller, queryId }) => this.#leave(caller, queryId, nowMs));
    const freed = new Set<string>();
    const releases = step.releases.map(({ caller, leases }) =>
      this.#release(caller, leases, freed),
    );
    const handed = this.#handOver([...freed], step.process, terms);
    const acquires = step.acquires.map((asked) => this.#acquire(asked, step.process, terms));
    return { leaves, releases, acquires, handed };
  }

  renew(caller: Caller, leases: readonly NamedLease[], { leaseMs }: CapacityTerms) {
    if (!this.#mayspeak(caller)) return "refused" as const;
    const nowMs = this.#clock.nowMs();
    this.#sign(caller.instance, nowMs);
    const renewed: string[] = [];
    const lost: string[] = [];
    for (const named of leases) {
      const lease = this.#own(caller, named);
      (lease === undefined ? lost : renewed).push(named.lease);
      if (lease === undefined) continue;
      Object.assign(lease, { state: "held", expiresAt: nowMs + leaseMs, absentAt: undefined });
    }
    return { renewed, lost };
  }

  seen(instance: string): readonly string[] {
    this.#sign(instance, this.#clock.nowMs());
    return [...this.#lost].filter(([, lost]) => lost.instance === instance).map(([lease]) => lease);
  }

  dead(instance: string): number {
    const nowMs = this.#clock.nowMs();
    this.lives.set(instance, { seenAt: this.lives.get(instance)?.seenAt ?? nowMs, dead: true });
    for (const waiter of this.queue.all()) {
      if (waiter.instance === instance) this.queue.remove(waiter);
    }
    const leases = [...this.slots.leases()].filter(
      (lease) => lease.instance === instance && lease.state === "held",
    );
    for (const lease of leases) {
      shorten(lease, nowMs);
      Object.assign(lease, { state: "suspect", absentAt: undefined });
    }
    return leases.length;
  }

  tick({ leaseMs, graceAfterMs }: CapacityTerms): number {
    const nowMs = this.#clock.nowMs();
    const away = this.#tickAt === undefined || nowMs - this.#tickAt > graceAfterMs;
    if (away) this.#graceUntil = nowMs + leaseMs;
    this.#tickAt = nowMs;
    const leases = [...this.slots.leases()];
    for (const lease of leases) {
      const over = lease.state === "held" && lease.expiresAt < nowMs && nowMs >= this.#graceUntil;
      if (over) Object.assign(lease, { state: "suspect", absentAt: undefined });
    }
    for (const waiter of this.queue.all()) {
      const { given } = waiter;
      const gone = given === undefined ? waiter.expiresAt < nowMs : !this.#isHeld(given);
      if (gone) this.queue.remove(waiter);
    }
    for (const [key, { expiresAt }] of this.#answers) {
      if (expiresAt < nowMs) this.#answers.delete(key);
    }
    for (const [lease, { atMs }] of this.#lost) {
      if (atMs < nowMs - lostKeptMs) this.#lost.delete(lease);
    }
    const holders = new Set(leases.map(({ instance }) => instance));
    for (const [instance, { seenAt }] of this.lives) {
      if (seenAt >= nowMs - lifeKeptMs || holders.has(instance)) continue;
      this.lives.delete(instance);
      this.#limiting.delete(instance);
    }
    return [...this.slots.leases()].filter(({ state }) => state === "suspect").length;
  }

  suspects(): SuspectsResponse {
    const nowMs = this.#clock.nowMs();
    const suspects = [...this.slots.leases()]
      .filter(({ state, expiresAt }) => state === "suspect" && mayBeAsked(nowMs - expiresAt))
      .toSorted((a, b) => a.expiresAt - b.expiresAt)
      .map((lease) => {
        const { cluster, group, slot, instance, expiresAt } = lease;
        const of = { cluster, group, slot, lease: lease.lease, instance };
        return { ...of, expiredForMs: nowMs - expiresAt, ...this.holderOf(lease) };
      });
    return { suspects, listing: nowMs };
  }

  holderOf({
    instance,
    expiresAt,
    grantedAt,
  }: Lease): Pick<SuspectLease, "holder" | "silentForMs"> {
    const life = this.lives.get(instance);
    const spoke = life !== undefined && life.seenAt > expiresAt;
    const holder = life?.dead === true ? "dead" : spoke ? "alive" : "silent";
    const since = Math.max(life?.seenAt ?? 0, grantedAt);
    return { holder, silentForMs: Math.max(0, this.#clock.nowMs() - since) };
  }

  /** Takes a lease from its holder, for the next waiter. */
  taken(lease: Lease, process: string, terms: CapacityTerms): readonly HandOver[] {
    this.#lost.set(lease.lease, { instance: lease.instance, atMs: this.#clock.nowMs() });
    this.slots.free(lease);
    return this.#handOver([lease.cluster], process, terms);
  }

  #isHeld(lease: Lease): boolean {
    return this.slots.byId(lease.lease) === lease && lease.state === "held";
  }

  #mayspeak({ instance, tokenHash }: Caller): boolean {
    if (this.lives.get(instance)?.dead === true) return false;
    return tokenHash === undefined || this.#registered(instance, tokenHash);
  }

  #sign(instance: string, nowMs: number): void {
    const dead = this.lives.get(instance)?.dead ?? false;
    if (!dead) this.lives.set(instance, { seenAt: nowMs, dead });
  }

  #own({ instance }: Caller, named: NamedLease): Lease | undefined {
    const lease = this.slots.named(named);
    return lease?.instance === instance ? lease : undefined;
  }

  #leave(caller: Caller, queryId: string, nowMs: number): Refusable<boolean> {
    if (!this.#mayspeak(caller)) return "refused";
    const waiter = this.queue.get(caller.instance, queryId);
    if (waiter === undefined) return false;
    this.queue.remove(waiter);
    // It was given a lease, and nobody can say whether somebody heard of that: the engine is asked.
    if (waiter.given !== undefined) shorten(waiter.given, nowMs);
    return true;
  }

  #release(caller: Caller, leases: readonly NamedLease[], freed: Set<string>): Refusable<number> {
    if (!this.#mayspeak(caller)) return "refused";
    let count = 0;
    for (const named of leases) {
      const lease = this.#own(caller, named);
      if (lease === undefined) continue;
      this.slots.free(lease);
      freed.add(lease.cluster);
      count += 1;
    }
    return count;
  }

  #acquire(asked: AcquireStep, process: string, terms: CapacityTerms): Refusable<AcquireResponse> {
    const { caller, queryId, requestId, sendsLimits } = asked;
    if (!this.#mayspeak(caller)) return "refused";
    if (sendsLimits) this.#limiting.add(caller.instance);
    const nowMs = this.#clock.nowMs();
    const waiter = queryId === undefined ? undefined : this.queue.get(caller.instance, queryId);
    const earlier = this.#answers.get(answerKey(caller.instance, requestId));
    if (earlier !== undefined) {
      if (waiter?.given !== undefined && waiter.requestId === requestId) this.queue.remove(waiter);
      return { granted: this.#still(earlier.leases, nowMs) };
    }
    const given = waiter?.given;
    if (waiter !== undefined && given !== undefined) {
      this.queue.remove(waiter);
      if (this.slots.byId(given.lease) === given) {
        Object.assign(given, { state: "held", expiresAt: nowMs + terms.leaseMs });
        return this.#answered(caller, requestId, { leases: [given], terms, nowMs });
      }
    }
    const leases = this.#take(asked, nowMs, terms.leaseMs);
    if (leases.some(({ user }) => user !== undefined)) this.#shut(nowMs);
    if (leases.length > 0) {
      if (waiter !== undefined) this.queue.remove(waiter);
      return this.#answered(caller, requestId, { leases, terms, nowMs });
    }
    if (queryId === undefined || !asked.waits) return { granted: [] };
    const { waiterMs } = terms;
    const userFull = this.slots.roomOf(asked.group, asked.user) <= 0;
    const known = asked.candidates.filter((cluster) => this.slots.knows(cluster, asked.group));
    const waits = { ...asked, queryId, candidates: known };
    const place = this.queue.wait(waits, { process, nowMs, waiterMs, shut: userFull });
    if (place === undefined) return { granted: [], queueFull: true };
    return { granted: [], ...place, ...(userFull ? { userFull } : {}) };
  }

  #take(asked: AcquireStep, nowMs: number, forMs: number) {
    const { caller, group, candidates, count, queryId } = asked;
    const user = queryId === undefined ? undefined : asked.user;
    const leases: Lease[] = [];
    for (const cluster of candidates) {
      // Leases ahead are for nobody's query yet, and not taken where one waits.
      if (queryId === undefined && this.queue.waitsOn(cluster, nowMs)) continue;
      while (leases.length < count) {
        const holder = { ...this.#holder(caller.instance, nowMs, forMs), user };
        const lease = this.slots.take({ cluster, group }, holder);
        if (lease === undefined) break;
        leases.push(lease);
      }
    }
    return leases;
  }

  #holder(instance: string, nowMs: number, forMs: number) {
    return { instance, nowMs, forMs, sendsLimits: this.#limiting.has(instance) };
  }

  #answered(
    { instance }: Caller,
    requestId: string,
    answer: {
      readonly leases: readonly Lease[];
      readonly terms: CapacityTerms;
      readonly nowMs: number;
    },
  ): AcquireResponse {
    const { leases, terms, nowMs } = answer;
    const expiresAt = nowMs + terms.leaseMs;
    this.#answers.set(answerKey(instance, requestId), { leases, expiresAt });
    return { granted: leases.map((lease) => grantedOf(lease, terms.leaseMs)) };
  }

  #still(leases: readonly Lease[], nowMs: number): readonly GrantedLease[] {
    return leases
      .filter((lease) => this.#isHeld(lease))
      .map((lease) => grantedOf(lease, Math.max(0, lease.expiresAt - nowMs)));
  }

  #handOver(
    clusters: readonly string[],
    process: string,
    { leaseMs, handOverMs }: CapacityTerms,
  ): readonly HandOver[] {
    const nowMs = this.#clock.nowMs();
    const handed: HandOver[] = [];
    const shared = this.slots.shared();
    // What a user gave back on one cluster may make room for it on another.
    for (const cluster of new Set([...clusters, ...shared].toSorted())) {
      for (;;) {
        if (shared.length > 0) this.#shut(nowMs);
        const fits = (group: string) => this.slots.hasRoom(cluster, group);
        const waiter = this.queue.next(cluster, nowMs, fits);
        if (waiter === undefined) break;
        const forMs = waiter.heldBy === process ? leaseMs : handOverMs;
        const { user } = waiter;
        const holder = { ...this.#holder(waiter.instance, nowMs, forMs), user };
        const lease = this.slots.take({ cluster, group: waiter.group }, holder);
        if (lease === undefined) break;
        this.#give(waiter, lease, nowMs + leaseMs);
        this.queue.charge(waiter, nowMs);
        if (waiter.heldBy !== process) continue;
        const { instance, queryId } = waiter;
        handed.push({ instance, queryId, answer: { granted: [grantedOf(lease, leaseMs)] } });
      }
    }
    return handed;
  }

  #shut(nowMs: number): void {
    this.queue.shut((group, user) => this.slots.roomOf(group, user), nowMs);
  }

  #give(waiter: Waiter, lease: Lease, expiresAt: number): void {
    waiter.given = lease;
    const key = answerKey(waiter.instance, waiter.requestId);
    this.#answers.set(key, { leases: [lease], expiresAt });
  }
}

function shorten(thing: { expiresAt: number }, toMs: number): void {
  thing.expiresAt = Math.min(thing.expiresAt, toMs);
}

function grantedOf(
  { cluster, slot, lease, maxExecutionMs }: Lease,
  expiresInMs: number,
): GrantedLease {
  const limit = maxExecutionMs === undefined ? {} : { maxExecutionMs };
  return { cluster, slot, lease, expiresInMs, ...limit };
}

function answerKey(instance: string, requestId: string): string {
  return `${instance} ${requestId}`;
}
