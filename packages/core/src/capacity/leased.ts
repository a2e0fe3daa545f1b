/**
 * Slots leased from the control plane, which counts for the whole fleet. This process decides nothing about
 * caps: it asks, keeps and gives back (leaseBook.ts), and says which of its own queries wait (admissions.ts).
 *
 * A waiting query is asked for by name, so the fleet has one order. While the control plane is away, each
 * process has its own. A busy process holds a few unused leases, so that the next query starts without a
 * question. It reuses a lease only while that is young, so that queries that wait in another process get
 * their turn. Where a group limits each user, a lease serves one query only: the control plane must know
 * whose each lease is.
 */
import { onDispose } from "../tool/onDispose.ts";
import type { GatewayError } from "../error.ts";
import type { AdmitRequest, Capacity, CapacityCount } from "../port/capacity.ts";
import type { Slot } from "../query/slot.ts";
import type { Host } from "../port/host.ts";
import type { LeaseFailure, LeaseSource } from "./lease/leases.ts";
import type { Queued } from "../query/event.ts";
import type { Result } from "../result.ts";
import { Admissions } from "./queue/admissions.ts";
import { LeaseAsking } from "./lease/leaseAsking.ts";
import { LeaseBook, type Lease } from "./lease/leaseBook.ts";
import { aheadMs, contendedMs } from "./lease/leaseLimits.ts";
import { leaseMetrics, type LeaseMetrics } from "./lease/leaseMetrics.ts";
import { LeasePool } from "./lease/leasePool.ts";
import { LeaseReach } from "./lease/leaseReach.ts";
import type { SlotSource, TakenSlot } from "./queue/slotSource.ts";
import { Scopes } from "./queue/scopes.ts";
import { Stopper } from "../tool/stopper.ts";
import { boundUserOf } from "./queue/waiter.ts";

export interface LeasedOptions {
  /** What happens to new queries while no leases are given. Config: `coordination.onUnavailable`. */
  readonly onUnavailable: "failClosed" | "localLimits";
  /** Most unused leases per cluster; 0 turns them off. Config: `coordination.leaseAhead`. */
  readonly leaseAhead: number;
}

export interface LeasedCapacity extends Capacity {
  /** The control plane says that these leases are no longer ours. */
  lost(leases: readonly string[]): void;
  /** Gives back what is unused; waits until all that was given back is acknowledged, or for `deadline`. */
  close(deadline: AbortSignal): Promise<void>;
}

/** Makes a capacity without any lease. Nothing is asked for before the first query. */
export function leasedCapacity(
  host: Host,
  source: LeaseSource,
  options: LeasedOptions,
): LeasedCapacity {
  return new Leased(host, source, options);
}

/** One cluster within one group. */
interface Ahead {
  lastAdmittedMs: number;
  contendedUntilMs: number;
  asking: boolean;
}

class Leased implements LeasedCapacity {
  readonly #host: Host;
  readonly #source: LeaseSource;
  readonly #options: LeasedOptions;
  readonly #metrics: LeaseMetrics;
  readonly #stopper = new Stopper();
  readonly #scopes = new Scopes();
  readonly #reach: LeaseReach;
  readonly #book: LeaseBook;
  readonly #pool: LeasePool;
  readonly #admissions: Admissions;
  readonly #asking: LeaseAsking;
  readonly #ahead = new Map<string, Map<string, Ahead>>();
  #sweep: Disposable | undefined;
  #fence = 0;
  /** Admitted without a lease since the control plane went away. */
  #unleased = 0;

  constructor(host: Host, source: LeaseSource, options: LeasedOptions) {
    this.#host = host;
    this.#source = source;
    this.#options = options;
    this.#metrics = leaseMetrics(host.metrics);
    const stopper = this.#stopper;
    this.#admissions = new Admissions(host, this.#slotSource());
    this.#reach = new LeaseReach({
      host,
      stopper,
      ask: () => this.#book.renew(),
      changed: () => this.#reachChanged(),
    });
    const failed = (failure: LeaseFailure, sentAtMs: number): void => {
      this.#metrics.failures.add(1);
      this.#reach.failed(failure, sentAtMs);
    };
    const reached = (): void => this.#reach.reached();
    this.#book = new LeaseBook({
      host,
      source,
      reached,
      failed,
      lost: (lease) => void this.#pool.drain((one) => one === lease),
      settled: () => this.#lookAgain(),
    });
    this.#pool = new LeasePool((lease) => this.#book.valid(lease));
    this.#asking = new LeaseAsking({
      host,
      source,
      stopper,
      admissions: this.#admissions,
      reach: this.#reach,
      settled: () => this.#book.asking ?? Promise.resolve(),
      reached,
      failed,
      granted: (grants) => this.#keep(grants.flatMap((grant) => this.#book.add(grant) ?? [])),
      denied: (group) => this.#metrics.denied(group).add(1),
      surplus: (group) => this.#returnUnused((lease) => lease.group === group),
    });
  }

  admitNow(request: AdmitRequest): Slot | undefined {
    return this.#admissions.admitNow(request);
  }

  admit(
    request: AdmitRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Queued, Result<Slot, GatewayError>, void> {
    return this.#admissions.admit(request, signal);
  }

  wake(): void {
    this.#admissions.wake();
  }

  counts(): readonly CapacityCount[] {
    return this.#admissions.counts();
  }

  lost(leases: readonly string[]): void {
    this.#book.lose(leases);
  }

  async close(deadline: AbortSignal): Promise<void> {
    this.#stopper.stop();
    this.#sweep?.[Symbol.dispose]();
    for (const lease of this.#pool.drain(() => true)) this.#book.giveBack(lease);
    await this.#book.close(deadline);
  }

  #slotSource(): SlotSource {
    return {
      load: (cluster) => this.#scopes.load(cluster),
      hear: (group, candidates, sequence) => {
        this.#book.look();
        return this.#scopes.hear(group, candidates, sequence);
      },
      forgetStatements: () => this.#scopes.forgetStatements(),
      hasRoom: (request, cluster) => this.#hasRoom(request, cluster),
      take: (request, cluster) => this.#take(request, cluster),
      counts: () => this.#scopes.counts(),
      ordersHere: () => this.#reach.away,
      estimateMs: ({ sinceMs, request }) =>
        Math.max(0, sinceMs + request.waitTimeoutMs - this.#host.clock.nowMs()),
      entered: () => this.#asking.askMore(),
      opened: () => this.#asking.askMore(),
      left: (waiter) => this.#asking.left(waiter),
    };
  }

  #hasRoom(request: AdmitRequest, cluster: string): boolean {
    const { group } = request;
    if (this.#book.asking !== undefined || !this.#scopes.hasRoom(group, cluster)) return false;
    return this.#pool.has({ group, cluster, user: boundUserOf(request) }) || this.#countsHere();
  }

  /** Whether queries are admitted without a lease. */
  #countsHere(): boolean {
    return this.#reach.away && this.#options.onUnavailable === "localLimits";
  }

  #take(request: AdmitRequest, cluster: string): TakenSlot {
    const { group, query } = request;
    const user = boundUserOf(request);
    this.#scopes.take(group, cluster);
    this.#fence += 1;
    const fence = this.#fence;
    const lease = this.#pool.take({ group, cluster, user });
    if (lease === undefined) {
      this.#unleased += 1;
      this.#metrics.unleased(group).add(1);
      const holder = `${this.#source.instance}/unleased-${fence.toString(36)}`;
      return { fence, holder, give: () => this.#scopes.give(group, cluster) };
    }
    lease.queryId = query.id;
    // An unused lease of a limited user would count against it elsewhere: none is held ahead, none is reused.
    if (user === undefined) this.#askAhead(group, cluster);
    return {
      fence,
      holder: lease.holder,
      lease: {
        maxExecutionMs: lease.maxExecutionMs,
        valid: () => this.#mayBegin(lease),
        doubt: () => this.#book.doubt(lease),
        stillValid: () =>
          this.#book.begunInTime(lease) || (lease.state === "held" && this.#countsHere()),
        whenLost: (tell) => toldOf(lease, tell),
      },
      give: () => {
        this.#scopes.give(group, cluster);
        lease.queryId = undefined;
        if (lease.state === "held" && this.#mayServeAgain(lease)) this.#keep([lease]);
        else this.#book.giveBack(lease);
      },
    };
  }

  #mayBegin(lease: Lease): boolean {
    if (!this.#book.valid(lease) && !(lease.state === "held" && this.#countsHere())) return false;
    lease.foundValidAtMs = this.#host.clock.nowMs();
    return true;
  }

  #mayServeAgain(lease: Lease): boolean {
    if (!this.#book.valid(lease) || this.#stopper.stopped || lease.user !== undefined) return false;
    // Nobody is there to take it back now, and queries that wait here can use it.
    if (this.#reach.away) return true;
    const { group, cluster, grantedAtMs } = lease;
    const nowMs = this.#host.clock.nowMs();
    return (
      nowMs - grantedAtMs < aheadMs &&
      nowMs >= this.#aheadOf(group, cluster).contendedUntilMs &&
      this.#pool.countOf(cluster) < this.#options.leaseAhead &&
      this.#admissions.queuedIn(group) === 0
    );
  }

  #keep(leases: readonly Lease[]): void {
    const nowMs = this.#host.clock.nowMs();
    for (const lease of leases) {
      if (lease.state === "held") this.#pool.put(lease, nowMs);
    }
    this.#sweepSoon();
  }

  /** A busy cluster gets leases before they are needed: several in one question, and none while somebody waits. */
  #askAhead(group: string, cluster: string): void {
    const ahead = this.#aheadOf(group, cluster);
    const nowMs = this.#host.clock.nowMs();
    const busy = nowMs - ahead.lastAdmittedMs <= aheadMs;
    ahead.lastAdmittedMs = nowMs;
    const { leaseAhead } = this.#options;
    const unused = this.#pool.countOf(cluster);
    if (!busy || ahead.asking || this.#reach.away || this.#stopper.stopped) return;
    if (unused > leaseAhead / 2 || nowMs < ahead.contendedUntilMs) return;
    if (this.#admissions.queuedIn(group) > 0) return;
    const count = Math.min(leaseAhead, this.#scopes.roomFor(group, cluster)) - unused;
    if (count <= 0) return;
    ahead.asking = true;
    void this.#fillAhead({ group, cluster, count }, ahead);
  }

  async #fillAhead(
    { group, cluster, count }: { group: string; cluster: string; count: number },
    ahead: Ahead,
  ): Promise<void> {
    const granted = await this.#asking.ahead(group, cluster, count);
    ahead.asking = false;
    if (granted < count) ahead.contendedUntilMs = this.#host.clock.nowMs() + contendedMs;
    this.#admissions.grantAll();
  }

  #aheadOf(group: string, cluster: string): Ahead {
    let clusters = this.#ahead.get(group);
    if (clusters === undefined) {
      clusters = new Map();
      this.#ahead.set(group, clusters);
    }
    let ahead = clusters.get(cluster);
    if (ahead === undefined) {
      ahead = {
        lastAdmittedMs: Number.NEGATIVE_INFINITY,
        contendedUntilMs: 0,
        asking: false,
      };
      clusters.set(cluster, ahead);
    }
    return ahead;
  }

  #returnUnused(fits: (lease: Lease, sinceMs: number) => boolean): void {
    if (this.#reach.away) return;
    for (const lease of this.#pool.drain(fits)) this.#book.giveBack(lease);
  }

  #sweepSoon(): void {
    if (this.#sweep !== undefined || this.#pool.size === 0) return;
    if (this.#stopper.stopped) return;
    this.#sweep = this.#host.clock.timer(aheadMs / 2, () => {
      this.#sweep = undefined;
      const nowMs = this.#host.clock.nowMs();
      this.#returnUnused((_lease, sinceMs) => nowMs - sinceMs >= aheadMs);
      this.#sweepSoon();
    });
  }

  #reachChanged(): void {
    if (this.#reach.away) {
      this.#admissions.tellOwnOrder();
      this.#admissions.grantAll();
      return;
    }
    const admitted = this.#unleased;
    this.#unleased = 0;
    if (admitted > 0) this.#host.log.write("warn", "capacity.unleased", { admitted });
    this.#lookAgain();
  }

  #lookAgain(): void {
    this.#admissions.grantAll();
    this.#asking.askMore();
  }
}

function toldOf(lease: Lease, tell: () => void): Disposable {
  if (lease.state === "lost") tell();
  else lease.tell.add(tell);
  return onDispose(() => void lease.tell.delete(tell));
}
