/** Shared capacity of one process over its store: the limits of the configuration, combined statements, held calls, the reaper's table. */
import type {
  AcquireResponse,
  AcquireRequest,
  ObservedResponse,
  ObservedRequest,
  PublishRunning,
} from "@gateway/contract/capacityApi.ts";
import { revisionText, type Revision } from "@gateway/contract/revision.ts";
import { reaperVerdict } from "@gateway/core/capacity/reaper/reaperCases.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { ControlDeps } from "../../deps.ts";
import type { Caller, CapacityTerms, HandOver, Refusable } from "../../store/capacity.ts";
import type { Stored, StoreUnavailable } from "../../store/store.ts";
import { CapacityBatch } from "./capacityBatch.ts";
import { CapacityHolds } from "./capacityHolds.ts";
import { limitsOf } from "./capacityLimits.ts";
import type { Answered, SharedCapacity, CapacityRefusal, SlotName } from "./capacityPort.ts";
import { pollMs, waitersMax } from "../limits.ts";
import { workerApiFamilies } from "../metrics.ts";

/** `workerApi.capacity` of the gateway's file. */
export interface CapacitySettings {
  readonly leaseMs: number;
  /** Silence after which a holder is taken for dead. */
  readonly orphanKillMs: number;
}

const settingsDefault: CapacitySettings = { leaseMs: 60_000, orphanKillMs: 60_000 };
const handOverMs = 20_000;
const waiterMs = 15_000;
const graceAfterMs = 15_000;
/** How often the reaper's tick is written while somebody asks anything. */
const tickEveryMs = 2_000;
/** The facts may change while a verdict is made. After so many tries the reaper is told to wait; it asks again anyway. */
const verdictTriesMax = 3;
const processBytes = 8;

export type CapacityDeps = Pick<
  ControlDeps,
  "store" | "config" | "clock" | "log" | "metrics" | "randomBytes" | "host" | "stopping"
>;

/** One per process, for workers' calls and its own queries alike. */
export function sharedCapacity(
  deps: CapacityDeps,
  settings: CapacitySettings = settingsDefault,
): SharedCapacity {
  return new StoredCapacity(deps, settings);
}

class StoredCapacity implements SharedCapacity {
  readonly #deps: CapacityDeps;
  readonly #orphanKillMs: number;
  readonly #terms: CapacityTerms;
  /** Names this process to the store. */
  readonly #process: string;
  readonly #batch: CapacityBatch;
  readonly #holds: CapacityHolds;
  #watch: AsyncDisposable | undefined;
  #collecting = false;
  #polling = false;
  #tickedAt = Number.NEGATIVE_INFINITY;
  /** Revision whose limits the store has, or is being given. */
  #limited: Revision | undefined;
  #limiting: Promise<Result<void, StoreUnavailable>> = Promise.resolve(ok(undefined));

  constructor(deps: CapacityDeps, { leaseMs, orphanKillMs }: CapacitySettings) {
    this.#deps = deps;
    this.#orphanKillMs = orphanKillMs;
    this.#terms = { leaseMs, handOverMs, waiterMs, graceAfterMs };
    this.#process = Buffer.from(deps.randomBytes(processBytes)).toString("hex");
    this.#holds = new CapacityHolds(deps.clock, deps.stopping);
    this.#batch = new CapacityBatch({
      store: deps.store.capacity,
      process: this.#process,
      terms: this.#terms,
      log: deps.log,
      stepped: (handed) => {
        this.#give(handed);
        this.#tick();
      },
    });
    const following = deps.config.onChange(() => this.#aside(this.#limits()));
    const stop = () => {
      following[Symbol.dispose]();
      if (this.#watch !== undefined) this.#aside(this.#watch[Symbol.asyncDispose]());
    };
    deps.stopping.addEventListener("abort", stop, { once: true });
  }

  async acquire(
    caller: Caller,
    asking: Omit<AcquireRequest, "instanceId">,
    signal: AbortSignal,
  ): Answered<AcquireResponse> {
    const { waitMs, queryId, user = "", ageMs = 0, sendsLimits = false, ...asked } = asking;
    const limited = await this.#limits();
    if (!limited.ok) return limited;
    if (this.#batch.full || this.#holds.size >= waitersMax) return err({ code: "busy" });
    const waits = queryId !== undefined;
    const step = { ...asked, caller, queryId, user, ageMs, sendsLimits, waits };
    const waiter = queryId === undefined ? undefined : { instance: caller.instance, queryId };
    if (waiter !== undefined) this.#holds.expect(waiter);
    return new Promise((resolve) => {
      this.#batch.acquire(step, (outcome) => {
        const answer = this.#heard(outcome);
        const early = waiter === undefined ? undefined : this.#holds.expected(waiter);
        if (waiter === undefined || !answer.ok || !mayWait(answer.value)) return resolve(answer);
        if (early !== undefined) {
          this.#batch.taken(waiter);
          return resolve(ok(early));
        }
        if (signal.aborted) this.#batch.unheld(waiter);
        if (waitMs === 0 || signal.aborted || this.#deps.stopping.aborted) return resolve(answer);
        this.#holds.hold({
          waiter,
          waitMs,
          signal,
          left: () => this.#batch.unheld(waiter),
          end: (given) => resolve(ok(given ?? answer.value)),
        });
        this.#listen();
      });
    });
  }

  async renew(
    ...[caller, leases]: Parameters<SharedCapacity["renew"]>
  ): ReturnType<SharedCapacity["renew"]> {
    const renewed = await this.#deps.store.capacity.renew(caller, leases, this.#terms);
    this.#tick();
    const answer = this.#heard(renewed);
    if (!answer.ok) return answer;
    this.#ignored(answer.value.lost.length);
    return ok({ ...answer.value, expiresInMs: this.#terms.leaseMs });
  }

  async release(
    ...[caller, leases]: Parameters<SharedCapacity["release"]>
  ): ReturnType<SharedCapacity["release"]> {
    if (this.#batch.full) return err({ code: "busy" });
    return new Promise((resolve) => {
      this.#batch.release(caller, leases, (outcome) => {
        const answer = this.#heard(outcome);
        if (!answer.ok) return resolve(answer);
        this.#ignored(leases.length - answer.value);
        resolve(ok({ released: answer.value }));
      });
    });
  }

  async leave(...[caller, queryId]: Parameters<SharedCapacity["leave"]>): Answered<void> {
    if (this.#batch.full) return err({ code: "busy" });
    return new Promise((resolve) => {
      this.#batch.leave(caller, queryId, (outcome) => {
        const answer = this.#heard(outcome);
        // Not before: the store has only now confirmed that the caller may say so.
        if (answer.ok) this.#holds.leave({ instance: caller.instance, queryId });
        resolve(answer.ok ? ok(undefined) : answer);
      });
    });
  }

  async seen(instance: string): Stored<readonly string[]> {
    this.#tick();
    return this.#deps.store.capacity.seen(instance);
  }

  async dead(instance: string): Stored<number> {
    return this.#deps.store.capacity.dead(instance);
  }

  async suspects(): ReturnType<SharedCapacity["suspects"]> {
    const ticked = await this.#tickNow();
    if (!ticked.ok) return ticked;
    return this.#deps.store.capacity.suspects();
  }

  async observed(report: Omit<ObservedRequest, "instanceId">): Stored<ObservedResponse> {
    for (let tries = 0; tries < verdictTriesMax; tries += 1) {
      const answer = await this.#judge(report);
      if (!answer.ok || answer.value !== "moved")
        return answer as Awaited<Stored<ObservedResponse>>;
    }
    return ok({ fenced: true, advice: "wait" });
  }

  async freeByHand(name: SlotName): Stored<boolean> {
    const context = { process: this.#process, terms: this.#terms };
    const freed = await this.#deps.store.capacity.freeByHand(name, context);
    if (!freed.ok) return freed;
    if (freed.value === undefined) return ok(false);
    this.#give(freed.value);
    const { cluster, slot } = name;
    this.#deps.log.write("warn", "capacity.slotFreed", { cluster, slot, seen: "byHand" });
    return ok(true);
  }

  lock(instance: string, ttlSecs: number): ReturnType<SharedCapacity["lock"]> {
    return this.#deps.store.capacity.lock(instance, ttlSecs * 1_000);
  }

  keepLock(instance: string, token: number): ReturnType<SharedCapacity["keepLock"]> {
    return this.#deps.store.capacity.keepLock(instance, token);
  }

  unlock(instance: string, token: number): Stored<boolean> {
    return this.#deps.store.capacity.unlock(instance, token);
  }

  async publish(cluster: string, count: Omit<PublishRunning, "instanceId">): Stored<boolean> {
    const { capacity } = this.#deps.store;
    const written = await capacity.publish(cluster, count);
    if (!written.ok || !written.value || !this.#isCluster(cluster)) return written;
    const shown = await capacity.running();
    const held = shown.ok ? shown.value.clusters[cluster]?.held : undefined;
    if (held === undefined || !count.complete) return written;
    const labels = { cluster_name: cluster };
    this.#deps.metrics.gauge(workerApiFamilies.difference, labels).set(count.running - held);
    return written;
  }

  running(): ReturnType<SharedCapacity["running"]> {
    return this.#deps.store.capacity.running();
  }

  async #judge(
    report: Omit<ObservedRequest, "instanceId">,
  ): Promise<Result<ObservedResponse | "moved", StoreUnavailable>> {
    const { capacity } = this.#deps.store;
    const read = await capacity.readSuspect(report);
    if (!read.ok) return read;
    const suspect = read.value;
    if (suspect.kind !== "suspect") {
      return ok({ fenced: suspect.kind !== "fenced", advice: "unknown" });
    }
    const { seen, delayMs, listing } = report;
    const verdict = reaperVerdict(suspect.facts, { seen, delayMs, listing }, this.#orphanKillMs);
    const answer = { fenced: true, advice: verdict.advice };
    if (verdict.advice !== "freed" && verdict.absent === "stays") return ok(answer);
    const settled = await capacity.settle(report, verdict, {
      version: suspect.version,
      listing,
      process: this.#process,
      terms: this.#terms,
    });
    if (!settled.ok) return settled;
    if (settled.value.kind === "fenced") return ok({ fenced: false, advice: "unknown" });
    if (settled.value.kind === "moved") return ok("moved");
    this.#give(settled.value.handed);
    if (verdict.advice === "freed") {
      const { cluster, slot } = report;
      this.#deps.log.write("warn", "capacity.slotFreed", { cluster, slot, seen });
    }
    return ok(answer);
  }

  /** Gives the store the caps of the served configuration, once per revision. */
  #limits(): Promise<Result<void, StoreUnavailable>> {
    const built = this.#deps.config.current();
    if (built === undefined || this.#limited === built.revision) return this.#limiting;
    this.#limited = built.revision;
    const before = this.#limiting;
    this.#limiting = (async () => {
      await before;
      const limits = limitsOf(built);
      const applied = await this.#deps.store.capacity.limit(limits, this.#process, this.#terms);
      if (applied.ok) {
        this.#give(applied.value.handed);
        return ok(undefined);
      }
      // The next call tries again.
      if (this.#limited === built.revision) this.#limited = undefined;
      const revision = revisionText(built.revision);
      this.#deps.log.write("warn", "capacity.limitsFailed", { revision, ...applied.error });
      return applied;
    })();
    return this.#limiting;
  }

  #give(handed: readonly HandOver[]): void {
    for (const { instance, queryId, answer } of handed) {
      const waiter = { instance, queryId };
      const heard = this.#holds.give(waiter, answer);
      if (heard === "told") this.#batch.taken(waiter);
      if (heard === "absent") this.#batch.missed(waiter);
    }
  }

  /** Looks for leases that other processes hand to our waiters, from the first held call on. */
  #listen(): void {
    if (this.#deps.host === "function") return this.#poll();
    this.#watch ??= this.#deps.store.capacity.watch(() => this.#aside(this.#collect()));
  }

  /** A function gets no notifications, so it polls, and only while calls are held: no timer may outlive them. */
  #poll(): void {
    if (this.#polling) return;
    this.#polling = true;
    this.#deps.clock.timer(pollMs, () => {
      this.#polling = false;
      if (this.#holds.size === 0) return;
      this.#aside(this.#collect());
      this.#poll();
    });
  }

  async #collect(): Promise<void> {
    if (this.#collecting || this.#holds.size === 0) return;
    this.#collecting = true;
    try {
      const handed = await this.#deps.store.capacity.collect(this.#process, this.#terms);
      if (handed.ok) this.#give(handed.value);
    } finally {
      this.#collecting = false;
    }
  }

  /** The reaper ticks along with any call, so it needs no timer and also ticks in functions. */
  #tick(): void {
    if (this.#deps.clock.nowMs() - this.#tickedAt >= tickEveryMs) this.#aside(this.#tickNow());
  }

  async #tickNow(): Promise<Result<void, StoreUnavailable>> {
    this.#tickedAt = this.#deps.clock.nowMs();
    const ticked = await this.#deps.store.capacity.tick(this.#terms);
    if (!ticked.ok) return ticked;
    this.#deps.metrics.gauge(workerApiFamilies.suspects, {}).set(ticked.value);
    return ok(undefined);
  }

  /** Runs work that nobody waits for. A bug in it is logged and does not end the process. */
  #aside(work: PromiseLike<unknown>): void {
    work.then(undefined, (bug: unknown) => this.#deps.log.bug(bug));
  }

  #heard<Value>(
    outcome: Result<Refusable<Value>, StoreUnavailable>,
  ): Result<Value, CapacityRefusal> {
    if (!outcome.ok) return outcome;
    if (outcome.value !== "refused") return ok(outcome.value);
    this.#ignored(1);
    return err({ code: "refused" });
  }

  #ignored(count: number): void {
    if (count > 0) this.#deps.metrics.counter(workerApiFamilies.ignored, {}).add(count);
  }

  #isCluster(cluster: string): boolean {
    return Object.hasOwn(this.#deps.config.current()?.body.clusters ?? {}, cluster);
  }
}

function mayWait({ granted, queueFull }: AcquireResponse): boolean {
  return granted.length === 0 && queueFull !== true;
}
