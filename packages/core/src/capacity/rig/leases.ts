/**
 * Whoever gives leases, for tests: a small model of the control plane over its slots, on a virtual
 * clock, without a network. It decides suspects by the real table of cases (reaperCases.ts).
 *
 * `Flaws` plant a mistake each, so that a test that should find it can be shown to.
 */
import type {
  AcquireResponse,
  GrantedLease,
  ObservedResponse,
  SuspectLease,
} from "@gateway/contract/capacityApi.ts";
import type { Clock } from "../../port/clock.ts";
import type { LeaseSource, ReaperLink } from "../lease/leases.ts";
import { ok } from "../../result.ts";
import { reaperVerdict } from "../reaper/reaperCases.ts";

export interface Flaws {
  /** Frees what ran out without asking the engine. */
  readonly freesUnasked?: boolean;
  /** Takes every running out to be of a dead worker's, at once. */
  readonly freesRunning?: boolean;
  /** One listing without it is enough, however late a statement shows. */
  readonly believesOneListing?: boolean;
  /** A release of a lease that is not held any more frees whatever its holder has in that cluster. */
  readonly releasesByInstance?: boolean;
  /** The same question asked again is another question. */
  readonly forgetsQuestions?: boolean;
  /** Grants one more than the cap. */
  readonly countsFromZero?: boolean;
  /** Grants a user one more than its cap. */
  readonly countsUsersFromZero?: boolean;
}

export interface TestCaps {
  /** Over all groups; undefined means none. */
  readonly cluster: Readonly<Record<string, number>>;
  /** Of each cluster within each group, `group/cluster`. */
  readonly group: Readonly<Record<string, number>>;
  /** Of each user of every group; undefined means none. */
  readonly user?: number | undefined;
}

export const testLeaseMs = 60_000;
const waiterMs = 15_000;
const handOverMs = 20_000;
const sweepLockMs = 15_000;

interface Held {
  readonly lease: string;
  readonly user: string | undefined;
  readonly instance: string;
  readonly cluster: string;
  readonly group: string;
  readonly slot: number;
  expiresAtMs: number;
  suspect: boolean;
  absentSinceMs: number | undefined;
  heardAtMs: number | undefined;
}

interface Waiting {
  readonly instance: string;
  readonly queryId: string;
  readonly user: string | undefined;
  group: string;
  candidates: readonly string[];
  sinceMs: number;
  expiresAtMs: number;
  /** Granted, and told to nobody yet. */
  handed: Held | undefined;
  wake: (() => void) | undefined;
}

export class TestLeases {
  readonly caps: TestCaps;
  readonly #clock: Clock;
  readonly #flaws: Flaws;
  readonly #orphanKillMs: number;
  readonly #held = new Map<string, Held>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #answers = new Map<string, readonly Held[]>();
  readonly #spokeAtMs = new Map<string, number>();
  readonly #dead = new Set<string>();
  #sequence = 0;
  #tickedAtMs: number;
  #graceUntilMs = 0;
  #lock = { token: 0, instance: "", untilMs: 0 };
  /** Answers nothing of what is asked while it is frozen or down. */
  acquires = 0;

  constructor(
    clock: Clock,
    caps: TestCaps,
    { flaws = {}, orphanKillMs = 60_000 }: { flaws?: Flaws; orphanKillMs?: number } = {},
  ) {
    this.#clock = clock;
    this.caps = caps;
    this.#flaws = flaws;
    this.#orphanKillMs = orphanKillMs;
    this.#tickedAtMs = clock.nowMs();
  }

  /** Leases that count. */
  get taken(): number {
    return this.#held.size;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  leasesOf(instance: string): readonly Held[] {
    return [...this.#held.values()].filter((held) => held.instance === instance);
  }

  /** Its end is proven, by a successor. */
  proveDead(instance: string): void {
    this.#dead.add(instance);
    for (const held of this.leasesOf(instance)) this.#suspect(held);
  }

  /** What the sweep does every other second. */
  tick(): void {
    const nowMs = this.#clock.nowMs();
    // After a stand-still those who live renew first.
    if (nowMs - this.#tickedAtMs > 15_000) this.#graceUntilMs = nowMs + testLeaseMs;
    this.#tickedAtMs = nowMs;
    for (const [id, waiting] of this.#waiting) {
      if (waiting.expiresAtMs <= nowMs) this.#forget(id, waiting);
    }
    if (nowMs >= this.#graceUntilMs) {
      for (const held of this.#held.values()) {
        if (held.expiresAtMs <= nowMs && !held.suspect) this.#suspect(held);
      }
    }
    this.#handOver();
  }

  source(instance: string): LeaseSource {
    return {
      instance,
      acquire: async (request) => ok(await this.#acquire(instance, request)),
      renew: async (leases) => {
        this.#spoke(instance);
        const renewed: string[] = [];
        const lost: string[] = [];
        for (const { lease } of leases) {
          const held = this.#held.get(lease);
          if (held?.instance !== instance) lost.push(lease);
          else {
            held.suspect = false;
            held.absentSinceMs = undefined;
            held.expiresAtMs = this.#clock.nowMs() + testLeaseMs;
            renewed.push(lease);
          }
        }
        return ok({ renewed, lost, expiresInMs: testLeaseMs });
      },
      release: async (leases) => {
        this.#spoke(instance);
        let released = 0;
        for (const { lease, cluster } of leases) {
          const held = this.#held.get(lease) ?? this.#flawed(instance, cluster);
          if (held?.instance !== instance) continue;
          this.#held.delete(held.lease);
          released += 1;
        }
        this.#handOver();
        return ok({ released });
      },
      leave: async (queryId) => {
        this.#spoke(instance);
        const waiting = this.#waiting.get(queryId);
        if (waiting?.instance === instance) this.#forget(queryId, waiting);
        this.#handOver();
        return ok(undefined);
      },
    };
  }

  link(instance: string): ReaperLink {
    return {
      lock: async (ttlSecs) => {
        this.#spoke(instance);
        const nowMs = this.#clock.nowMs();
        const free = this.#lock.untilMs <= nowMs || this.#lock.instance === instance;
        if (free) {
          const token = this.#lock.token + 1;
          this.#lock = { token, instance, untilMs: nowMs + ttlSecs * 1_000 };
        }
        return ok({ acquired: free, token: this.#lock.token, expiresInMs: sweepLockMs });
      },
      keepLock: async (token) => {
        this.#spoke(instance);
        const kept = token === this.#lock.token;
        if (kept) this.#lock.untilMs = this.#clock.nowMs() + sweepLockMs;
        return ok({ acquired: kept, token: this.#lock.token, expiresInMs: sweepLockMs });
      },
      unlock: async (token) => {
        if (token === this.#lock.token) this.#lock.untilMs = 0;
        return ok(undefined);
      },
      suspects: async () => ok({ suspects: this.#suspects(), listing: this.#clock.nowMs() }),
      observed: async (report) => ok(this.#observed(report)),
      publish: async () => ok(undefined),
    };
  }

  async #acquire(
    instance: string,
    request: Parameters<LeaseSource["acquire"]>[0],
  ): Promise<AcquireResponse> {
    this.#spoke(instance);
    this.acquires += 1;
    const { requestId, group, candidates, queryId, count, waitMs, ageMs = 0, user } = request;
    const known = this.#flaws.forgetsQuestions === true ? undefined : this.#answers.get(requestId);
    if (known !== undefined) return { granted: this.#granted(known) };
    const nowMs = this.#clock.nowMs();
    if (queryId === undefined) {
      const wanted = [...this.#waiting.values()].some(
        (one) =>
          one.handed === undefined && one.candidates.some((name) => candidates.includes(name)),
      );
      const held: Held[] = [];
      for (let more = wanted ? 0 : count; more > 0; more -= 1) {
        const one = this.#take({ instance, group, candidates, user: undefined });
        if (one !== undefined) held.push(one);
      }
      if (held.length > 0) this.#answers.set(requestId, held);
      return { granted: this.#granted(held) };
    }
    const waiting = this.#waiting.get(queryId) ?? {
      instance,
      queryId,
      user,
      group,
      candidates,
      sinceMs: nowMs - ageMs,
      expiresAtMs: 0,
      handed: undefined,
      wake: undefined,
    };
    Object.assign(waiting, { group, candidates, expiresAtMs: nowMs + waiterMs + waitMs });
    this.#waiting.set(queryId, waiting);
    this.#handOver();
    if (waiting.handed === undefined && waitMs > 0) await this.#hold(waiting, waitMs);
    // Somebody else may have been answered for the same query, or it left.
    if (this.#waiting.get(queryId) !== waiting) return { granted: [] };
    const { handed } = waiting;
    if (handed === undefined) {
      const userFull = !this.#userHasRoom(waiting);
      return { granted: [], position: this.#positionOf(waiting), userFull };
    }
    this.#waiting.delete(queryId);
    handed.expiresAtMs = this.#clock.nowMs() + testLeaseMs;
    this.#answers.set(requestId, [handed]);
    return { granted: this.#granted([handed]) };
  }

  async #hold(waiting: Waiting, waitMs: number): Promise<void> {
    waiting.wake?.();
    await new Promise<void>((resolve) => {
      const timer = this.#clock.timer(waitMs, resolve);
      waiting.wake = () => {
        timer[Symbol.dispose]();
        resolve();
      };
    });
    waiting.wake = undefined;
  }

  #positionOf(waiting: Waiting): number {
    const own = this.#inOrder().filter((one) => one.group === waiting.group);
    return 1 + own.indexOf(waiting);
  }

  #inOrder(): readonly Waiting[] {
    return [...this.#waiting.values()]
      .filter(({ handed }) => handed === undefined)
      .toSorted((a, b) => a.sinceMs - b.sinceMs);
  }

  #handOver(): void {
    for (const waiting of this.#inOrder()) {
      const held = this.#take(waiting);
      if (held === undefined) continue;
      held.expiresAtMs = this.#clock.nowMs() + handOverMs;
      waiting.handed = held;
      waiting.wake?.();
    }
  }

  #take(asking: Pick<Waiting, "instance" | "group" | "candidates" | "user">): Held | undefined {
    const { instance, group, candidates, user } = asking;
    if (!this.#userHasRoom(asking)) return undefined;
    const cluster = candidates.find((name) => this.#hasRoom(group, name));
    if (cluster === undefined) return undefined;
    this.#sequence += 1;
    const lease = `lease-${this.#sequence}`;
    const expiresAtMs = this.#clock.nowMs() + testLeaseMs;
    const slot = this.#sequence;
    const base = { lease, user, instance, cluster, group, slot, expiresAtMs };
    const unseen = { suspect: false, absentSinceMs: undefined, heardAtMs: undefined };
    const held: Held = { ...base, ...unseen };
    this.#held.set(lease, held);
    return held;
  }

  /** Nobody is given a lease ahead where users have a cap. */
  #userHasRoom({ group, user }: Pick<Waiting, "group" | "user">): boolean {
    if (this.caps.user === undefined) return true;
    const own = [...this.#held.values()].filter((one) => one.group === group && one.user === user);
    const more = this.#flaws.countsUsersFromZero === true ? 1 : 0;
    return user !== undefined && own.length < this.caps.user + more;
  }

  #hasRoom(group: string, cluster: string): boolean {
    const held = [...this.#held.values()].filter((one) => one.cluster === cluster);
    const more = this.#flaws.countsFromZero === true ? 1 : 0;
    const whole = this.caps.cluster[cluster] ?? Number.POSITIVE_INFINITY;
    const part = this.caps.group[`${group}/${cluster}`] ?? 0;
    const inGroup = held.filter((one) => one.group === group).length;
    return held.length < whole + more && inGroup < part + more;
  }

  #forget(queryId: string, waiting: Waiting): void {
    this.#waiting.delete(queryId);
    if (waiting.handed !== undefined) this.#held.delete(waiting.handed.lease);
    waiting.wake?.();
  }

  #suspect(held: Held): void {
    held.suspect = true;
    held.expiresAtMs = Math.min(held.expiresAtMs, this.#clock.nowMs());
    if (this.#flaws.freesUnasked === true) this.#held.delete(held.lease);
  }

  #suspects(): readonly SuspectLease[] {
    const nowMs = this.#clock.nowMs();
    return [...this.#held.values()]
      .filter(({ suspect }) => suspect)
      .map((held) => {
        const { cluster, group, slot, lease, instance, expiresAtMs } = held;
        const expiredForMs = nowMs - expiresAtMs;
        const spokeAtMs = this.#spokeAtMs.get(instance) ?? 0;
        const silentForMs = nowMs - spokeAtMs;
        const alive = spokeAtMs > expiresAtMs;
        const holder = this.#dead.has(instance) ? "dead" : alive ? "alive" : "silent";
        return { cluster, group, slot, lease, instance, expiredForMs, holder, silentForMs };
      });
  }

  #observed(report: Parameters<ReaperLink["observed"]>[0]): ObservedResponse {
    if (report.token !== this.#lock.token) return { fenced: false, advice: "unknown" };
    const held = this.#held.get(report.lease);
    const suspect = this.#suspects().find(({ lease }) => lease === report.lease);
    if (held === undefined || suspect === undefined) return { fenced: true, advice: "unknown" };
    const nowMs = this.#clock.nowMs();
    const since = (ms: number | undefined) => (ms === undefined ? undefined : nowMs - ms);
    const { seen, delayMs, listing } = report;
    const facts = {
      ...suspect,
      maxExecutionMs: undefined,
      absentForMs: since(held.absentSinceMs),
      heardForMs: since(held.heardAtMs),
      nowMs,
    };
    const verdict = reaperVerdict(facts, { seen, delayMs, listing }, this.#orphanKillMs);
    if (verdict.absent === "begins") held.absentSinceMs = nowMs;
    if (verdict.absent === "ends") held.absentSinceMs = undefined;
    if (verdict.absent !== "stays") held.heardAtMs = Math.max(held.heardAtMs ?? 0, listing ?? 0);
    const hasty =
      (this.#flaws.believesOneListing === true && seen === "absent") ||
      (this.#flaws.freesRunning === true && seen === "running");
    if (verdict.advice !== "freed" && !hasty) return { fenced: true, advice: verdict.advice };
    this.#held.delete(held.lease);
    this.#handOver();
    return { fenced: true, advice: "freed" };
  }

  #flawed(instance: string, cluster: string): Held | undefined {
    if (this.#flaws.releasesByInstance !== true) return undefined;
    return this.leasesOf(instance).find((held) => held.cluster === cluster);
  }

  #spoke(instance: string): void {
    this.#spokeAtMs.set(instance, this.#clock.nowMs());
  }

  #granted(held: readonly Held[]): GrantedLease[] {
    const nowMs = this.#clock.nowMs();
    return held
      .filter(({ lease }) => this.#held.has(lease))
      .map(({ cluster, slot, lease, expiresAtMs }) => {
        return { cluster, slot, lease, expiresInMs: Math.max(0, expiresAtMs - nowMs) };
      });
  }
}
