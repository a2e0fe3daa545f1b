/** Where the slots of a capacity come from, and a slot that was taken there. Who waits for one is admissions.ts. */
import type { AdmitRequest, Candidate } from "../../port/capacity.ts";
import type { Slot, SlotLease } from "../../query/slot.ts";
import type { RunningCount } from "./scopes.ts";
import type { Waiter } from "./waiter.ts";

/** Where slots come from. Its methods are called within one turn; none of them calls back. */
export interface SlotSource {
  /** Running on a cluster here, over all groups. */
  load(cluster: string): number;
  /** Takes over the caps as the admission `sequence` states them. True when one of them rose. */
  hear(group: string, candidates: readonly Candidate[], sequence: number): boolean;
  /** Forgets which admission stated the caps. */
  forgetStatements(): void;
  hasRoom(request: AdmitRequest, cluster: string): boolean;
  /** Takes a slot where `hasRoom` said so in the same turn. */
  take(request: AdmitRequest, cluster: string): TakenSlot;
  counts(): readonly RunningCount[];
  /** Whether this process decides the order of the queue. */
  ordersHere(): boolean;
  /** How long a wait may still take, where this process decides the order. */
  estimateMs?(waiter: Waiter): number | undefined;
  /** A query began to wait. */
  entered?(waiter: Waiter): void;
  /** Users that had no room may have some now. */
  opened?(): void;
  /** The query no longer waits, for whatever reason. */
  left?(waiter: Waiter): void;
}

/** What a source knows of a slot it gave. */
export interface TakenSlot {
  readonly fence: number;
  readonly holder: string;
  readonly lease?: SlotLease;
  /** Gives the slot back. Called once; the caller then looks at all waiters again. */
  give(): void;
}

/** Who hears of a slot that was given back. */
export interface Granter {
  given(group: string, user: string): void;
}

/** A taken slot as the query holds it. Giving it back has an effect once. */
export class GrantedSlot implements Slot {
  readonly cluster: string;
  readonly fence: number;
  readonly holder: string;
  readonly lease?: SlotLease;
  readonly #group: string;
  readonly #user: string;
  readonly #granter: Granter;
  #taken: TakenSlot | undefined;

  /** `of`: of which group and user it is. */
  constructor(
    cluster: string,
    taken: TakenSlot,
    of: { readonly group: string; readonly user: string },
    granter: Granter,
  ) {
    this.cluster = cluster;
    this.#group = of.group;
    this.#user = of.user;
    this.fence = taken.fence;
    this.holder = taken.holder;
    if (taken.lease !== undefined) this.lease = taken.lease;
    this.#taken = taken;
    this.#granter = granter;
  }

  /** Gives the slot back; the second time nothing happens. */
  release(): void {
    const taken = this.#taken;
    if (taken === undefined) return;
    this.#taken = undefined;
    taken.give();
    this.#granter.given(this.#group, this.#user);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
  }
}
