/**
 * Slots of the whole fleet, as the store keeps them: who runs, who waits, who asks the engines.
 *
 * A slot is a row. A lease holds one in the cluster's scope within the group, and one in the cluster's
 * own where that has a cap; all or none. Nothing is counted, so nothing can drift: there is no way to
 * admit a query beyond the rows. A row whose lease ran out is free again only by `release` or `settle`.
 * Where a group limits its users the rows say whose they are, and those of a user are counted when it asks.
 *
 * Every call is one atomic step on the clock of the database. `instance` and lease must both fit a row
 * for a call to touch it, so that late, repeated and foreign calls touch nothing.
 */
import type {
  AcquireResponse,
  NamedLease,
  RunningResponse,
  SuspectsResponse,
  SweepLockResponse,
} from "@gateway/contract/capacityApi.ts";
import type { ReaperVerdict, SuspectFacts } from "@gateway/core/capacity/reaper/reaperCases.ts";
import type { Stored } from "./store.ts";

/** How long things last, in milliseconds. */
export interface CapacityTerms {
  readonly leaseMs: number;
  /** Life of a lease that was handed to a waiter and not yet confirmed. */
  readonly handOverMs: number;
  /** Life of a waiter after its last call. */
  readonly waiterMs: number;
  /** Silence of the reaper's tick after which one lease time passes before anything becomes suspect. */
  readonly graceAfterMs: number;
}

/** Place of the configuration that limits come from; an older one changes nothing. */
export interface CapacityLimits {
  readonly epoch: number;
  readonly sequence: number;
  readonly clusters: readonly { readonly cluster: string; readonly maxRunning: number }[];
  readonly members: readonly {
    readonly cluster: string;
    readonly group: string;
    readonly maxRunning: number;
    readonly maxExecutionMs: number | undefined;
    /** Of one user in the group, on all its clusters together; the same for each of them. */
    readonly maxRunningPerUser: number | undefined;
  }[];
  readonly groups: readonly {
    readonly group: string;
    readonly weight: number;
    readonly maxQueued: number | undefined;
    readonly waitMs: number;
  }[];
}

/** Who speaks. Without `tokenHash` it is this process itself; otherwise both must fit a registration. */
export interface Caller {
  readonly instance: string;
  readonly tokenHash: string | undefined;
}

export interface AcquireStep {
  readonly caller: Caller;
  readonly requestId: string;
  readonly group: string;
  readonly candidates: readonly string[];
  /** Undefined for leases ahead, which never wait. */
  readonly queryId: string | undefined;
  readonly user: string;
  readonly ageMs: number;
  readonly count: number;
  /** False leaves no waiter behind. */
  readonly waits: boolean;
  /** The caller sends the limits of its leases to the engines. From then on its slots remember theirs. */
  readonly sendsLimits: boolean;
}

export interface WaiterName {
  readonly instance: string;
  readonly queryId: string;
}

/** Everything that waited at one moment, as one step: in the order of the fields. */
export interface CapacityStep {
  /** Names the process that holds the calls of waiters. */
  readonly process: string;
  /** Waiters that were told of their lease. */
  readonly taken: readonly WaiterName[];
  /** Waiters that could not be told of it: the lease ends soon unless they ask for it. */
  readonly missed: readonly WaiterName[];
  /** Waiters whose call ended early: they are soon forgotten unless they ask again. */
  readonly unheld: readonly WaiterName[];
  readonly leaves: readonly { readonly caller: Caller; readonly queryId: string }[];
  readonly releases: readonly { readonly caller: Caller; readonly leases: readonly NamedLease[] }[];
  readonly acquires: readonly AcquireStep[];
}

/** `refused`: instance and token fit no registration. */
export type Refusable<Value> = Value | "refused";

/** A lease that was given to a waiter whose call this process held. */
export interface HandOver extends WaiterName {
  readonly answer: AcquireResponse;
}

/** Answers in the order of the step's lists. */
export interface SteppedCapacity {
  /** Whether there was such a waiter. */
  readonly leaves: readonly Refusable<boolean>[];
  /** How many of the leases were held. */
  readonly releases: readonly Refusable<number>[];
  readonly acquires: readonly Refusable<AcquireResponse>[];
  readonly handed: readonly HandOver[];
}

export interface Renewed {
  readonly renewed: readonly string[];
  readonly lost: readonly string[];
}

/** The suspect that a sighting is about, and the fence it was made under. */
export interface SuspectName {
  readonly token: number;
  readonly cluster: string;
  readonly slot: number;
  readonly lease: string;
}

export type SuspectRead =
  | { readonly kind: "fenced" }
  | { readonly kind: "unknown" }
  | {
      readonly kind: "suspect";
      readonly facts: SuspectFacts;
      /** Changes with whatever the facts rest on. */
      readonly version: string;
    };

export type Settled =
  | { readonly kind: "fenced" }
  /** The facts are others by now, and nothing was written. */
  | { readonly kind: "moved" }
  | { readonly kind: "settled"; readonly handed: readonly HandOver[] };

export interface SettleContext {
  readonly version: string;
  readonly listing: number | undefined;
  readonly process: string;
  readonly terms: CapacityTerms;
}

export interface CapacityStore {
  /** Makes rows as the limits say; false when newer limits hold already. Freed room goes to waiters. */
  limit(
    limits: CapacityLimits,
    process: string,
    terms: CapacityTerms,
  ): Stored<{ readonly applied: boolean; readonly handed: readonly HandOver[] }>;
  step(step: CapacityStep, terms: CapacityTerms): Stored<SteppedCapacity>;
  /** Leases that were handed by others to waiters of this process, and not yet `taken`. Confirms them. */
  collect(process: string, terms: CapacityTerms): Stored<readonly HandOver[]>;
  /** A suspect lease that its holder still names goes on. */
  renew(
    caller: Caller,
    leases: readonly NamedLease[],
    terms: CapacityTerms,
  ): Stored<Refusable<Renewed>>;
  /** A sign of life. Answers the leases that were taken from the instance. */
  seen(instance: string): Stored<readonly string[]>;
  /** Its end is proven: its leases are suspect from now on, its waiters gone. Answers how many leases. */
  dead(instance: string): Stored<number>;
  /** Marks what ran out as suspect, unless the tick was away for long; forgets what is over. Answers the number of suspects. */
  tick(terms: CapacityTerms): Stored<number>;
  /** The suspects whose engine may be asked now, and the moment that names a listing made from now on. */
  suspects(): Stored<SuspectsResponse>;
  readSuspect(name: SuspectName): Stored<SuspectRead>;
  /** Does what the verdict says if the facts still have `version`. The verdict rests on `listing`. */
  settle(name: SuspectName, verdict: ReaperVerdict, context: SettleContext): Stored<Settled>;
  /** Frees a suspect on somebody's word, under no fence; undefined when there is no such suspect. */
  freeByHand(
    name: Omit<SuspectName, "token">,
    context: Pick<SettleContext, "process" | "terms">,
  ): Stored<readonly HandOver[] | undefined>;
  /** Takes the reaper's lock, or keeps it for the instance that has it. */
  lock(instance: string, ttlMs: number): Stored<SweepLockResponse>;
  /** For as long again, while nobody else has it. */
  keepLock(instance: string, token: number): Stored<SweepLockResponse>;
  unlock(instance: string, token: number): Stored<boolean>;
  /** False when `token` is not the lock's. */
  publish(
    cluster: string,
    count: { readonly token: number; readonly running: number; readonly complete: boolean },
  ): Stored<boolean>;
  running(): Stored<RunningResponse>;
  /** Queries that wait, by group. */
  waiting(): Stored<ReadonlyMap<string, number>>;
  /** Calls `wake` soon after a lease was handed to a waiter of another process. Spurious calls are allowed. */
  watch(wake: () => void): AsyncDisposable;
}
