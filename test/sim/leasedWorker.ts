/**
 * A simulated worker: the real leased capacity and the real reaper on a host that can be frozen, thawed,
 * suspended and killed, over a network that loses, repeats and delays, before a simulated engine.
 */
import { leasedCapacity, type LeasedCapacity } from "@gateway/core/capacity/leased.ts";
import { reap } from "@gateway/core/capacity/reaper/reaper.ts";
import { candidateOf, requestOf } from "@gateway/core/capacity/rig/admission.ts";
import { gatewayError } from "@gateway/core/error.ts";
import type { Backend } from "@gateway/core/port/backend.ts";
import type { Slot } from "@gateway/core/query/slot.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { LeaseResult, LeaseSource, ReaperLink } from "@gateway/core/capacity/lease/leases.ts";
import type { VirtualHost } from "@gateway/core/rig/virtual.ts";
import type { QueryId } from "@gateway/core/query/query.ts";
import { planeOf } from "@gateway/core/run/rig/plane.ts";
import { err } from "@gateway/core/result.ts";
import { Generations, type Generation } from "@gateway/core/snapshot/generation.ts";
import type { Dice } from "./fleet.ts";
import type { SimControl } from "./leasedControl.ts";
import type { LeasedEngine } from "./leasedEngine.ts";

export interface LeasedWorkerParts {
  readonly host: VirtualHost;
  readonly dice: Dice;
  readonly control: SimControl;
  readonly engine: LeasedEngine;
  readonly network: SimNetwork;
  readonly onUnavailable: "failClosed" | "localLimits";
  /** Planted: writes its statement without a look at its lease. */
  readonly careless: boolean;
  /** Planted: its wall clock stands still with the other one. */
  readonly oneClock: boolean;
}

/** One query of a client, which may give up. */
export interface Plan {
  readonly group: string;
  readonly user: string;
  /** From the slot to the statement: work of its own. */
  readonly beginsAfterMs: number;
  readonly runMs: number;
  readonly leavesAfterMs: number;
}

/** How messages to the control plane fare. */
export interface SimNetwork {
  /** Nobody answers; calls are refused at once. */
  down: boolean;
  /** Share of messages that are lost, each way. */
  lost: number;
  /** Share of requests that arrive twice, the second time late. */
  repeated: number;
}

const callMsMax = 5_000;
const lateMsMax = 20_000;
/** What was written arrives within this, or never: the contract of the wait before asking. */
const submissionMsMax = 9_000;

let names = 0;

export class LeasedWorker {
  readonly name: string;
  readonly capacity: LeasedCapacity;
  readonly #parts: LeasedWorkerParts;
  readonly #host: Host;
  readonly #stopping = new AbortController();
  readonly #reaping: Promise<void>;
  #dead = false;
  #frozen: (() => void)[] | undefined;
  /** Since when its machine is suspended, and for how long it was in all: its monotonic clock counts neither. */
  #suspendedAtMs: number | undefined;
  #suspendedMs = 0;
  #wallMovedMs = 0;
  #queries = 0;
  #poised = 0;
  /** This worker alone reaches nobody. */
  cut = false;
  /** This worker alone reaches no engine to ask it what runs; its own statements get there. */
  blind = false;
  /** Queries that have not ended; those of a killed worker never do. */
  open = 0;

  constructor(parts: LeasedWorkerParts) {
    names += 1;
    this.name = `worker-${names}`;
    this.#parts = parts;
    const { host, oneClock } = parts;
    const hiddenMs = () => (oneClock ? this.#hiddenMs() : 0);
    const clock = {
      nowMs: () => this.#nowMs(),
      unixMs: () => host.clock.unixMs() + this.#wallMovedMs - hiddenMs(),
      timer: (ms: number, fire: () => void) => this.#timer(ms, fire),
    };
    this.#host = { ...host, clock };
    const source = this.#source(parts.control.source(this.name));
    const { onUnavailable } = parts;
    this.capacity = leasedCapacity(this.#host, source, { onUnavailable, leaseAhead: 4 });
    const link = this.#link(parts.control.link(this.name));
    const generations = generationsOver(parts.engine, () => this.blind);
    this.#reaping = reap({ host: this.#host, link, generations }, this.#stopping.signal);
  }

  get dead(): boolean {
    return this.#dead;
  }

  /** It has a slot and did not write yet, which is the worst moment to stand still. */
  get poised(): boolean {
    return this.#poised > 0 && this.#frozen === undefined;
  }

  kill(): void {
    this.#dead = true;
    this.open = 0;
  }

  freeze(): void {
    this.#frozen ??= [];
  }

  /** As its whole machine: the monotonic clock and the timers stand still, the wall clock goes on. */
  suspend(): void {
    if (this.#frozen !== undefined) return;
    this.freeze();
    this.#suspendedAtMs = this.#parts.host.clock.nowMs();
  }

  /** What fell due meanwhile happens now, in its order; after a suspension the rest of each timer is still to come. */
  thaw(): void {
    const due = this.#frozen ?? [];
    this.#suspendedMs = this.#hiddenMs();
    this.#suspendedAtMs = undefined;
    this.#frozen = undefined;
    for (const fire of due) if (!this.#dead) fire();
  }

  /** Somebody sets its wall clock, which needs a machine that runs. */
  setWall(ms: number): void {
    if (this.#suspendedAtMs === undefined) this.#wallMovedMs += ms;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#reaping;
    await this.capacity.close(AbortSignal.abort());
  }

  /** Nothing is asked of one that is dead or stands still. */
  async run(plan: Plan): Promise<void> {
    if (this.#dead || this.#frozen !== undefined) return;
    this.open += 1;
    this.#queries += 1;
    const id = `${this.name}-q${this.#queries}` as QueryId;
    const leaving = new AbortController();
    using _leave = this.#timer(plan.leavesAfterMs, () => leaving.abort());
    const { caps } = this.#parts.control;
    const candidates = () =>
      Object.keys(caps.cluster).map((cluster) =>
        candidateOf(cluster, {
          clusterCap: caps.cluster[cluster],
          groupCap: caps.group[`${plan.group}/${cluster}`] ?? 0,
        }),
      );
    const request = requestOf({
      group: plan.group,
      user: plan.user,
      waitTimeoutMs: 60_000,
      maxRunningPerUser: caps.user,
      candidates,
    });
    const query = { ...request.query, id };
    const admission = this.capacity.admit({ ...request, query }, leaving.signal);
    let step = await admission.next();
    while (step.done !== true) step = await admission.next();
    if (step.value.ok) await this.#execute(step.value.value, plan, id);
    this.open -= 1;
  }

  /** Writes, waits for the engine's first answer, then for its end. A slot lost on the way ends the statement. */
  async #execute(slot: Slot, plan: Plan, id: QueryId): Promise<void> {
    const { engine, dice, careless } = this.#parts;
    this.#poised += 1;
    await this.#pause(plan.beginsAfterMs);
    this.#poised -= 1;
    if (careless || slot.lease === undefined || slot.lease.valid()) {
      const tag = `gateway/${slot.holder}/${id}`;
      const place = { cluster: slot.cluster, group: plan.group, user: plan.user };
      const arrivesMs = dice.chance(0.03) ? dice.between(0, submissionMsMax) : dice.between(0, 30);
      engine.send({ tag, ...place, runMs: plan.runMs, arrivesMs });
      using _lost = slot.lease?.whenLost(() => engine.end(tag)) ?? noWatch;
      await this.#hears(tag, "begun");
      if (!careless && slot.lease?.stillValid() === false) engine.end(tag);
      await this.#hears(tag, "over");
    }
    await slot[Symbol.asyncDispose]();
  }

  /** The engine's word takes a while, and does not reach a frozen process. */
  #hears(tag: string, state: "begun" | "over"): Promise<void> {
    const { engine, dice } = this.#parts;
    return new Promise((resolve) => {
      engine.when(tag, state, () => this.#timer(dice.between(1, 50), resolve));
    });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timer(ms, resolve);
    });
  }

  /** What its monotonic clock does not count. */
  #hiddenMs(): number {
    const { clock } = this.#parts.host;
    const sinceMs = this.#suspendedAtMs === undefined ? 0 : clock.nowMs() - this.#suspendedAtMs;
    return this.#suspendedMs + sinceMs;
  }

  #nowMs(): number {
    return this.#parts.host.clock.nowMs() - this.#hiddenMs();
  }

  #timer(ms: number, fire: () => void): Disposable {
    const { clock } = this.#parts.host;
    const dueMs = this.#nowMs() + ms;
    let disposed = false;
    const due = (): void => {
      if (disposed || this.#dead) return;
      const restMs = dueMs - this.#nowMs();
      if (this.#frozen !== undefined) this.#frozen.push(due);
      else if (restMs > 0) timer = clock.timer(restMs, due);
      else fire();
    };
    let timer = clock.timer(ms, due);
    return {
      [Symbol.dispose]: () => {
        disposed = true;
        timer[Symbol.dispose]();
      },
    };
  }

  /** A call over the network; its answer reaches a process that lives and is not frozen. */
  async #over<Answer>(ask: () => LeaseResult<Answer>, heldMs = 0): LeaseResult<Answer> {
    const { dice, network, host } = this.#parts;
    if (this.#dead) return new Promise(() => {});
    await this.#pause(dice.between(1, 20));
    if (network.down || this.cut) return err("unreachable");
    if (dice.chance(network.repeated)) {
      host.clock.timer(dice.between(0, lateMsMax), () => {
        if (!network.down) void ask();
      });
    }
    if (dice.chance(network.lost)) {
      await this.#pause(callMsMax + heldMs);
      return err("unreachable");
    }
    const answer = await ask();
    const lost = dice.chance(network.lost);
    await this.#pause(lost ? callMsMax : dice.between(1, 20));
    return lost ? err("unreachable") : answer;
  }

  #source(inner: LeaseSource): LeaseSource {
    return {
      instance: inner.instance,
      acquire: (request, signal) =>
        this.#over(() => inner.acquire(request, signal), request.waitMs),
      renew: (held, signal) => this.#over(() => inner.renew(held, signal)),
      release: (held, signal) => this.#over(() => inner.release(held, signal)),
      leave: (id, signal) => this.#over(() => inner.leave(id, signal)),
    };
  }

  #link(inner: ReaperLink): ReaperLink {
    return {
      lock: (ttl, signal) => this.#over(() => inner.lock(ttl, signal)),
      keepLock: (token, signal) => this.#over(() => inner.keepLock(token, signal)),
      unlock: (token, signal) => inner.unlock(token, signal),
      suspects: (signal) => this.#over(() => inner.suspects(signal)),
      observed: (report, signal) => this.#over(() => inner.observed(report, signal)),
      publish: (cluster, count, signal) => inner.publish(cluster, count, signal),
    };
  }
}

const unreachable = err(gatewayError("cluster.connectFailed"));

const noWatch: Disposable = { [Symbol.dispose]: () => {} };

function generationsOver(engine: LeasedEngine, isBlind: () => boolean): Generations {
  const { active } = planeOf({ clusters: { any: async function* () {} } }).generations;
  const [plain] = active?.backends() ?? [];
  if (active === undefined || plain === undefined) throw new Error("no generation");
  const backends = engine.clusters.map((cluster): Backend => ({
    ...plain,
    cluster,
    running: async () => (isBlind() ? unreachable : engine.list(cluster)),
    end: async (tag) => (isBlind() ? unreachable : engine.endLater(tag)),
  }));
  const generation: Generation = { ...active, backends: () => backends };
  const generations = new Generations();
  void generations.swap(generation);
  return generations;
}
