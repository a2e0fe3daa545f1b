/** Workers that share leases over calls that a test cuts and loses, on clocks that it stops and moves. */
import type { AdmitRequest, Capacity } from "../../port/capacity.ts";
import type { Slot } from "../../query/slot.ts";
import type { LeaseResult, LeaseSource } from "../lease/leases.ts";
import { virtualHost, type VirtualHost } from "../../rig/virtual.ts";
import type { QueryId } from "../../query/query.ts";
import { err } from "../../result.ts";
import { leasedCapacity, type LeasedCapacity, type LeasedOptions } from "../leased.ts";
import { candidateOf, requestOf, type Admission } from "./admission.ts";
import { TestLeases } from "./leases.ts";

export interface FleetOptions extends Partial<LeasedOptions> {
  readonly cap?: number;
  /** Of each user. */
  readonly perUser?: number;
}

export type Call = "acquire" | "renew" | "release" | "leave";

interface WorkerParts extends LeasedOptions {
  readonly host: VirtualHost;
  readonly leases: TestLeases;
  readonly name: string;
  readonly cap: number;
  readonly perUser: number | undefined;
}

/** A fleet over the model of leases, with one cluster `c` in one group `g`. */
export function fleetOf(options: FleetOptions = {}) {
  const { cap = 4, perUser, onUnavailable = "failClosed", leaseAhead = 4 } = options;
  const host = virtualHost(1);
  // Whoever gives leases goes on while a machine is suspended.
  const outside = { ...host.clock, nowMs: () => host.clock.unixMs() };
  const leases = new TestLeases(outside, {
    cluster: { c: cap },
    group: { "g/c": cap },
    user: perUser,
  });
  let workers = 0;
  return {
    host,
    leases,
    worker: (name?: string): TestWorker => {
      workers += 1;
      const own = name ?? `worker-${workers}`;
      return new TestWorker({ host, leases, name: own, cap, perUser, onUnavailable, leaseAhead });
    },
    /** Lines about a process that stood still. */
    get stoodStill() {
      return host.log.lines.filter(({ event }) => event === "capacity.stoodStill").length;
    },
    pause: (ms: number) =>
      new Promise<void>((resolve) => {
        host.clock.timer(ms, resolve);
      }),
    advanceTicking: async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 2_000) {
        await host.advance(2_000);
        leases.tick();
      }
    },
  };
}

let queries = 0;

class TestWorker {
  readonly name: string;
  readonly source: LeaseSource;
  readonly capacity: LeasedCapacity;
  readonly calls: Call[] = [];
  readonly #parts: WorkerParts;
  readonly #inner: LeaseSource;
  #cutOff: Call | "all" | undefined;
  #lostAnswers = 0;
  #answering: { readonly done: Promise<void>; readonly letGo: () => void } | undefined;
  #offsetMs = 0;
  #wallMs = 0;

  constructor(parts: WorkerParts) {
    const { host, leases, name, onUnavailable, leaseAhead } = parts;
    this.#parts = parts;
    this.name = name;
    this.#inner = leases.source(name);
    const inner = this.#inner;
    this.source = {
      instance: name,
      acquire: (request, signal) => this.#through("acquire", () => inner.acquire(request, signal)),
      renew: (held, signal) => this.#through("renew", () => inner.renew(held, signal)),
      release: (held, signal) => this.#through("release", () => inner.release(held, signal)),
      leave: (id, signal) => this.#through("leave", () => inner.leave(id, signal)),
    };
    const clock = {
      ...host.clock,
      nowMs: () => host.clock.nowMs() + this.#offsetMs,
      unixMs: () => host.clock.unixMs() + this.#offsetMs + this.#wallMs,
    };
    const options = { onUnavailable, leaseAhead };
    this.capacity = leasedCapacity({ ...host, clock }, this.source, options);
  }

  admit(
    more: Partial<AdmitRequest> & { user?: string } = {},
    signal = new AbortController().signal,
  ) {
    queries += 1;
    const { cap, perUser: maxRunningPerUser } = this.#parts;
    const candidates = [candidateOf("c", { clusterCap: cap, groupCap: cap })];
    const request = requestOf({ candidates: () => candidates, maxRunningPerUser, ...more });
    const query = { ...request.query, id: `q-${queries}` as QueryId };
    return reading(this.capacity.admit({ ...request, query }, signal));
  }

  async slot(): Promise<Slot> {
    const result = await this.admit().done();
    if (!result.ok) throw new Error(result.error.code);
    return result.value;
  }

  /** Calls of this kind are not answered any more; none when it is left out. */
  cut(what?: Call | "all"): void {
    this.#cutOff = what;
  }

  /** So many answers are lost on their way. */
  loseAnswers(count: number): void {
    this.#lostAnswers = count;
  }

  /** Answers stay on their way from now on. */
  holdAnswers(): void {
    const held = { letGo: () => {} };
    const done = new Promise<void>((resolve) => {
      held.letGo = resolve;
    });
    this.#answering = { done, letGo: () => held.letGo() };
  }

  letAnswersGo(): void {
    this.#answering?.letGo();
    this.#answering = undefined;
  }

  /** The lease of slot 1 is free again, as after its engine was asked. */
  async giveAway(lease: string): Promise<void> {
    const { signal } = new AbortController();
    await this.#inner.release([{ cluster: "c", slot: 1, lease }], signal);
  }

  /** Its clocks go on by so much, and nothing happens in it meanwhile. */
  async freeze(ms: number): Promise<void> {
    this.#offsetMs += ms;
  }

  /** Its wall clock alone moves by so much: it was set. */
  setWall(ms: number): void {
    this.#wallMs += ms;
  }

  /** Its machine was suspended for so long, which its monotonic clock does not count. */
  suspend(ms: number): void {
    const { host, leases } = this.#parts;
    for (let passed = 0; passed < ms; passed += 2_000) {
      host.moveWall(Math.min(2_000, ms - passed));
      leases.tick();
    }
  }

  async #through<Answer>(call: Call, ask: () => LeaseResult<Answer>): LeaseResult<Answer> {
    this.calls.push(call);
    if (this.#cutOff === "all" || this.#cutOff === call) return err("unreachable");
    const answer = await ask();
    await this.#answering?.done;
    if (this.#lostAnswers === 0) return answer;
    this.#lostAnswers -= 1;
    return err("unreachable");
  }
}

function reading(admission: ReturnType<Capacity["admit"]>): Admission & { estimates: number[] } {
  const positions: number[] = [];
  const estimates: number[] = [];
  let result: Admission["result"];
  const done = (async () => {
    for (;;) {
      const step = await admission.next();
      if (step.done === true) {
        result = step.value;
        return step.value;
      }
      positions.push(step.value.position);
      if (step.value.estimateMs !== undefined) estimates.push(step.value.estimateMs);
    }
  })();
  return {
    positions,
    estimates,
    get result() {
      return result;
    },
    done: () => done,
  };
}

/** Whether the slot was told that it is lost. */
export function lossOf(slot: Slot): { lost: boolean } {
  const told = { lost: false };
  slot.lease?.whenLost(() => {
    told.lost = true;
  });
  return told;
}
