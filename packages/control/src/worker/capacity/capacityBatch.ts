/**
 * Combines what is asked about capacity at the same moment into one statement, with one in flight:
 * while the database works on one, the next collects. It knows no held calls and no HTTP.
 */
import type { AcquireResponse, NamedLease } from "@gateway/contract/capacityApi.ts";
import type { Log } from "@gateway/core/port/log.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type {
  AcquireStep,
  Caller,
  CapacityStep,
  CapacityStore,
  CapacityTerms,
  HandOver,
  Refusable,
  SteppedCapacity,
  WaiterName,
} from "../../store/capacity.ts";
import type { StoreUnavailable } from "../../store/store.ts";
import { capacityOpsMax, stepAcquiresMax, stepOpsMax } from "../limits.ts";

type Outcome<Value> = Result<Value, StoreUnavailable>;
/** Called in the turn of the event loop in which the answer is known. */
export type Settle<Value> = (outcome: Outcome<Value>) => void;

export interface BatchParts {
  readonly store: Pick<CapacityStore, "step">;
  readonly process: string;
  readonly terms: CapacityTerms;
  readonly log: Log;
  /** After each step, once its askers were answered. */
  readonly stepped: (handed: readonly HandOver[]) => void;
}

interface Pending<Op, Value> {
  readonly op: Op;
  readonly settle: Settle<Value>;
}

type Release = CapacityStep["releases"][number];
type Leave = CapacityStep["leaves"][number];

export class CapacityBatch {
  readonly #parts: BatchParts;
  #acquires: Pending<AcquireStep, Refusable<AcquireResponse>>[] = [];
  #releases: Pending<Release, Refusable<number>>[] = [];
  #leaves: Pending<Leave, Refusable<boolean>>[] = [];
  #taken: WaiterName[] = [];
  #missed: WaiterName[] = [];
  #unheld: WaiterName[] = [];
  #running = false;

  constructor(parts: BatchParts) {
    this.#parts = parts;
  }

  /** True when a further call is to be told to come again. */
  get full(): boolean {
    return this.#acquires.length + this.#releases.length + this.#leaves.length >= capacityOpsMax;
  }

  acquire(op: AcquireStep, settle: Settle<Refusable<AcquireResponse>>): void {
    this.#acquires.push({ op, settle });
    this.#start();
  }

  release(caller: Caller, leases: readonly NamedLease[], settle: Settle<Refusable<number>>): void {
    this.#releases.push({ op: { caller, leases }, settle });
    this.#start();
  }

  leave(caller: Caller, queryId: string, settle: Settle<Refusable<boolean>>): void {
    this.#leaves.push({ op: { caller, queryId }, settle });
    this.#start();
  }

  /** A waiter was told of its lease. */
  taken(waiter: WaiterName): void {
    this.#taken.push(waiter);
    this.#start();
  }

  /** A waiter could not be told of its lease. */
  missed(waiter: WaiterName): void {
    this.#missed.push(waiter);
    this.#start();
  }

  /** The call of a waiter ended before its time. */
  unheld(waiter: WaiterName): void {
    this.#unheld.push(waiter);
    this.#start();
  }

  #start(): void {
    if (this.#running) return;
    this.#running = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    // Takes along what else is asked in this turn.
    await Promise.resolve();
    while (this.#hasWork()) await this.#runOne();
    this.#running = false;
  }

  #hasWork(): boolean {
    const notes = this.#taken.length + this.#missed.length + this.#unheld.length;
    return this.#acquires.length + this.#releases.length + this.#leaves.length + notes > 0;
  }

  async #runOne(): Promise<void> {
    const acquires = this.#nextAcquires();
    const releases = this.#releases.splice(0, stepOpsMax);
    const leaves = this.#leaves.splice(0, stepOpsMax);
    const step: CapacityStep = {
      process: this.#parts.process,
      taken: this.#taken.splice(0, stepOpsMax),
      missed: this.#missed.splice(0, stepOpsMax),
      unheld: this.#unheld.splice(0, stepOpsMax),
      leaves: leaves.map(({ op }) => op),
      releases: releases.map(({ op }) => op),
      acquires: acquires.map(({ op }) => op),
    };
    const outcome = await this.#step(step);
    settleAll(leaves, outcome, ({ leaves: answers }) => answers);
    settleAll(releases, outcome, ({ releases: answers }) => answers);
    settleAll(acquires, outcome, ({ acquires: answers }) => answers);
    this.#parts.stepped(outcome.ok ? outcome.value.handed : []);
  }

  async #step(step: CapacityStep): Promise<Outcome<SteppedCapacity>> {
    const { store, terms, log } = this.#parts;
    try {
      return await store.step(step, terms);
    } catch (bug) {
      // Everybody behind it waits for this loop to go on.
      log.bug(bug);
      return err({ code: "unavailable", detail: "internal.bug" });
    }
  }

  /** A step holds a question once; a repeat goes into a later step and finds the answer. */
  #nextAcquires(): Pending<AcquireStep, Refusable<AcquireResponse>>[] {
    const next: Pending<AcquireStep, Refusable<AcquireResponse>>[] = [];
    const later: typeof next = [];
    const asked = new Set<string>();
    for (const pending of this.#acquires) {
      const { caller, requestId } = pending.op;
      const question = `${caller.instance} ${requestId}`;
      const fits = next.length < stepAcquiresMax && !asked.has(question);
      (fits ? next : later).push(pending);
      if (fits) asked.add(question);
    }
    this.#acquires = later;
    return next;
  }
}

function settleAll<Value>(
  pending: readonly Pending<unknown, Value>[],
  outcome: Outcome<SteppedCapacity>,
  answersOf: (stepped: SteppedCapacity) => readonly Value[],
): void {
  if (!outcome.ok) {
    for (const { settle } of pending) settle(outcome);
    return;
  }
  const answers = answersOf(outcome.value);
  for (const [at, { settle }] of pending.entries()) {
    const answer = answers[at];
    if (answer === undefined) throw new RangeError("a step without an answer");
    settle(ok(answer));
  }
}
