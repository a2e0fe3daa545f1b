/**
 * The leases of this process. It renews them in time, repeats each return until that is acknowledged, and
 * notices when a lease is lost. leased.ts decides who uses them.
 *
 * A lease's time counts from before its request was sent, minus a margin. So it ends here before it ends at
 * the control plane, whatever the network did. Running out does not end a query; only the word that the lease
 * is lost does. A process that stood still, by either of its clocks, asks what it still holds before it starts
 * anything.
 */
import type { GrantedLease, NamedLease } from "@gateway/contract/capacityApi.ts";
import { leasesPerCallMax } from "@gateway/contract/capacityApi.ts";
import type { Host } from "../../port/host.ts";
import type { LeaseFailure, LeaseSource } from "./leases.ts";
import { ClockLead } from "./clockLead.ts";
import { leaseMarginMs, lookEveryMs, renewEveryMs, retryMs, stoodStillMs } from "./leaseLimits.ts";
import { pause } from "../../tool/pause.ts";

/** A lease of this process. */
export interface Lease {
  readonly group: string;
  readonly cluster: string;
  readonly slot: number;
  /** Its random name. */
  readonly lease: string;
  /** `<instance>/<lease>`. */
  readonly holder: string;
  readonly grantedAtMs: number;
  readonly maxExecutionMs: number | undefined;
  /** The only user whose queries may have it, where the group has a limit for each. */
  readonly user: string | undefined;
  /** Last moment at which something may begin under it. */
  expiresAtMs: number;
  /** When it was last found valid. */
  foundValidAtMs: number;
  /** The query that runs under it; undefined while it is unused. */
  queryId: string | undefined;
  state: "held" | "returned" | "lost";
  readonly tell: Set<() => void>;
}

export interface LeaseBookParts {
  readonly host: Pick<Host, "clock" | "log" | "random">;
  readonly source: LeaseSource;
  /** A call was answered. */
  readonly reached: () => void;
  /** A call failed that was sent at `sentAtMs`. */
  readonly failed: (failure: LeaseFailure, sentAtMs: number) => void;
  /** A lease was lost; whatever ran under it has been told. */
  readonly lost: (lease: Lease) => void;
  /** The process had stood still and now knows which leases it still holds. */
  readonly settled: () => void;
}

/** One granted lease and the request that brought it. */
export interface Grant {
  readonly granted: GrantedLease;
  readonly group: string;
  /** The only user whose queries may have it. */
  readonly user?: string | undefined;
  readonly sentAtMs: number;
  /** `leadOf` the clock at that moment. */
  readonly leadMs: number;
}

export class LeaseBook {
  readonly #parts: LeaseBookParts;
  readonly #held = new Map<string, Lease>();
  readonly #lead: ClockLead;
  /** Leases granted while it was open which ones are still ours. */
  readonly #unsure = new Set<Lease>();
  readonly #stopping = new AbortController();
  #returning: Lease[] = [];
  #flushing: Promise<void> | undefined;
  #renewing: Promise<LeaseFailure | undefined> | undefined;
  #timer: Disposable | undefined;
  #lookedAtMs = 0;
  #stoodStillAtMs = Number.NEGATIVE_INFINITY;
  #renewAtMs = 0;
  /** How long a lease lasts, as far as it is known. */
  #termMs = 0;
  #asking: Promise<void> | undefined;

  constructor(parts: LeaseBookParts) {
    this.#parts = parts;
    this.#lead = new ClockLead(parts.host.clock);
  }

  get size(): number {
    return this.#held.size;
  }

  /** Set after this process stood still, while it asks what it still holds: nothing may begin before that is known. */
  get asking(): Promise<void> | undefined {
    return this.#asking;
  }

  /** The lease; undefined when the book has it already, for then somebody holds it. */
  add({ granted, group, user, sentAtMs, leadMs }: Grant): Lease | undefined {
    const { cluster, slot, lease, expiresInMs, maxExecutionMs } = granted;
    if (this.#held.has(lease)) return undefined;
    const added: Lease = {
      group,
      cluster,
      slot,
      lease,
      holder: `${this.#parts.source.instance}/${lease}`,
      grantedAtMs: this.#nowMs(),
      maxExecutionMs,
      user,
      expiresAtMs: sentAtMs + expiresInMs - leaseMarginMs,
      foundValidAtMs: Number.NEGATIVE_INFINITY,
      queryId: undefined,
      state: "held",
      tell: new Set(),
    };
    this.#held.set(lease, added);
    this.#lead.held(leadMs);
    this.#termMs = Math.max(this.#termMs, expiresInMs);
    if (this.#held.size === 1) this.#renewAtMs = this.#nowMs() + this.#renewAfterMs();
    this.#watch();
    this.look();
    return added;
  }

  valid(lease: Lease): boolean {
    return lease.state === "held" && this.#nowMs() < lease.expiresAtMs && !this.#lead.inDoubt;
  }

  /** For a lease that is not valid at the moment: the pending question whether it is still ours. */
  doubt(lease: Lease): Promise<void> | undefined {
    if (lease.state !== "held" || this.valid(lease)) return undefined;
    this.look();
    return this.#asking;
  }

  /**
   * Whether what began under the lease, when that was last found valid, began in time, as far as this process
   * knows. While it asks, the work goes on and hears of a loss like any other.
   */
  begunInTime(lease: Lease): boolean {
    this.look();
    if (lease.state !== "held") return false;
    if (this.#nowMs() >= lease.expiresAtMs) return this.#stoodStillAtMs < lease.foundValidAtMs;
    if (!this.#lead.inDoubt) return true;
    if (this.#asking === undefined) return false;
    this.#unsure.add(lease);
    return true;
  }

  /** Gives it back and repeats that until it is acknowledged. A lost lease is not given back. */
  giveBack(lease: Lease): void {
    if (lease.state !== "held") return;
    lease.state = "returned";
    this.#forget(lease);
    if (this.#stopping.signal.aborted) return;
    this.#returning.push(lease);
    this.#flushing ??= this.#flush();
  }

  /** Whoever gave the leases says that they are no longer ours. */
  lose(leases: readonly string[]): void {
    for (const id of leases) {
      const lease = this.#held.get(id);
      if (lease === undefined) continue;
      lease.state = "lost";
      this.#forget(lease);
      const { cluster, group, queryId } = lease;
      this.#parts.host.log.write("warn", "capacity.leaseLost", { cluster, group, queryId });
      for (const tell of lease.tell) tell();
      lease.tell.clear();
      this.#parts.lost(lease);
    }
  }

  /** Checks whether this process stood still; nothing else would show it. */
  look(): void {
    const nowMs = this.#nowMs();
    const stood = nowMs - this.#lookedAtMs > stoodStillMs;
    this.#lookedAtMs = nowMs;
    if (this.#held.size === 0) return;
    if (stood) this.#stoodStillAtMs = nowMs;
    if (this.#lead.noticed() || stood) this.#asking ??= this.#askWhatIsHeld();
  }

  /** Renews all at once, which also shows whether the control plane is there. Returns why that failed. */
  renew(): Promise<LeaseFailure | undefined> {
    this.#renewing ??= this.#renewAll().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  /** Waits until all returns are acknowledged, or for `deadline`; nothing is renewed after it. */
  async close(deadline: AbortSignal): Promise<void> {
    this.#stopWatching();
    const stop = (): void => this.#stopping.abort();
    deadline.addEventListener("abort", stop, { once: true });
    if (deadline.aborted) stop();
    await this.#flushing;
    stop();
    deadline.removeEventListener("abort", stop);
  }

  #nowMs(): number {
    return this.#parts.host.clock.nowMs();
  }

  #forget(lease: Lease): void {
    this.#held.delete(lease.lease);
    if (this.#held.size > 0) return;
    this.#lead.forget();
    this.#stopWatching();
  }

  #watch(): void {
    if (this.#timer !== undefined || this.#stopping.signal.aborted) return;
    this.#lookedAtMs = this.#nowMs();
    this.#timer = this.#parts.host.clock.timer(lookEveryMs, () => this.#tick());
  }

  #tick(): void {
    this.#timer = undefined;
    this.look();
    if (this.#nowMs() >= this.#renewAtMs) void this.renew();
    if (this.#held.size > 0) this.#watch();
  }

  #stopWatching(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  async #askWhatIsHeld(): Promise<void> {
    this.#parts.host.log.write("warn", "capacity.stoodStill", { leases: this.#held.size });
    const { signal } = this.#stopping;
    // If the registration ran out meanwhile it is made anew first, which takes some calls.
    for (let tries = 0; tries < 10 && !signal.aborted; tries += 1) {
      // An older question does not count: its response may be older too.
      await this.#renewing;
      const failure = await this.renew();
      if (failure !== "refused") break;
      await this.#rest();
    }
    this.#asking = undefined;
    const unsure = [...this.#unsure].map(({ lease }) => lease);
    this.#unsure.clear();
    // Nobody knows whether the lease is still ours, and another query may run in its slot.
    if (this.#lead.inDoubt) this.lose(unsure);
    this.#parts.settled();
  }

  async #renewAll(): Promise<LeaseFailure | undefined> {
    const { source } = this.#parts;
    const sentAtMs = this.#nowMs();
    this.#renewAtMs = sentAtMs + this.#renewAfterMs();
    const leadMs = this.#lead.asking();
    const named = [...this.#held.values()].map(nameOf);
    const answer = await source.renew(named, this.#stopping.signal);
    if (!answer.ok) {
      // Sooner than usual, to use the time that is left on the leases for more tries.
      this.#renewAtMs = this.#nowMs() + this.#jittered();
      this.#parts.failed(answer.error, sentAtMs);
      return answer.error;
    }
    const { renewed, lost, expiresInMs } = answer.value;
    this.#termMs = expiresInMs;
    this.#lead.answered(leadMs);
    const expiresAtMs = sentAtMs + expiresInMs - leaseMarginMs;
    for (const id of renewed) {
      const lease = this.#held.get(id);
      if (lease !== undefined) lease.expiresAtMs = Math.max(lease.expiresAtMs, expiresAtMs);
    }
    this.lose(lost);
    this.#parts.reached();
    return undefined;
  }

  async #flush(): Promise<void> {
    const { source, reached, failed } = this.#parts;
    const { signal } = this.#stopping;
    while (this.#returning.length > 0 && !signal.aborted) {
      const batch = this.#returning.splice(0, leasesPerCallMax);
      const sentAtMs = this.#nowMs();
      const answer = await source.release(batch.map(nameOf), signal);
      if (answer.ok) {
        reached();
        continue;
      }
      this.#returning = [...batch, ...this.#returning];
      failed(answer.error, sentAtMs);
      await this.#rest();
    }
    this.#flushing = undefined;
  }

  #rest(): Promise<void> {
    return pause(this.#parts.host.clock, this.#jittered(), this.#stopping.signal);
  }

  #renewAfterMs(): number {
    return Math.min(renewEveryMs, this.#termMs / 4);
  }

  #jittered(): number {
    return retryMs * (0.5 + this.#parts.host.random() / 2);
  }
}

function nameOf({ cluster, slot, lease, queryId }: Lease): NamedLease {
  return queryId === undefined ? { cluster, slot, lease } : { cluster, slot, lease, queryId };
}
