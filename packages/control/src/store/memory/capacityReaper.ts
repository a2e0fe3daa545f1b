/** What the process that asks the engines says to the store in memory: its lock, what it saw, what runs. */
import type {
  RunningResponse,
  SuspectLease,
  SweepLockResponse,
} from "@gateway/contract/capacityApi.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type {
  CapacityStore,
  CapacityTerms,
  HandOver,
  SuspectName,
  SuspectRead,
} from "../capacity.ts";
import type { Lease, MemorySlots } from "./capacitySlots.ts";
import { stored } from "./order.ts";

/** Signs of life of a holder. */
export interface Life {
  readonly seenAt: number;
  readonly dead: boolean;
}

/** What an engine really ran, and when. */
export interface Published {
  readonly running: number;
  readonly complete: boolean;
  readonly atMs: number;
}

export interface ReaperParts {
  readonly clock: Clock;
  readonly slots: MemorySlots;
  readonly lives: ReadonlyMap<string, Life>;
  readonly published: Map<string, Published>;
  lifeOf(lease: Lease): Pick<SuspectLease, "holder" | "silentForMs">;
  /** Takes the lease from its holder. */
  freed(lease: Lease, process: string, terms: CapacityTerms): readonly HandOver[];
}

type ReaperSteps = Pick<
  CapacityStore,
  "readSuspect" | "settle" | "freeByHand" | "lock" | "keepLock" | "unlock" | "publish" | "running"
>;

interface Lock {
  readonly instance: string;
  readonly token: number;
  readonly ttlMs: number;
  readonly expiresAt: number;
}

/** The reaper's part of the store. Nobody has the lock. */
export function memoryReaper(parts: ReaperParts): ReaperSteps {
  const { clock, slots, published } = parts;
  const locks = sweepLock(clock);
  return {
    ...locks.steps,
    readSuspect: (name) => stored(locks.holds(name.token) ? read(parts, name) : fenced),
    settle: (name, { advice, absent }, { version, listing = 0, process, terms }) => {
      if (!locks.holds(name.token)) return stored(fenced);
      const suspect = suspectOf(parts, name);
      if (suspect === undefined || versionOf(parts, suspect) !== version) {
        return stored({ kind: "moved" });
      }
      if (advice === "freed") {
        return stored({ kind: "settled", handed: parts.freed(suspect, process, terms) });
      }
      if (absent === "begins") suspect.absentAt = clock.nowMs();
      if (absent === "ends") suspect.absentAt = undefined;
      suspect.heardAt = Math.max(suspect.heardAt ?? 0, listing);
      return stored({ kind: "settled", handed: [] });
    },
    freeByHand: (name, { process, terms }) => {
      const suspect = suspectOf(parts, name);
      return stored(suspect === undefined ? undefined : parts.freed(suspect, process, terms));
    },
    publish: (cluster, { token, running, complete }) => {
      if (!locks.holds(token)) return stored(false);
      published.set(cluster, { running, complete, atMs: clock.nowMs() });
      return stored(true);
    },
    running: () => {
      const clusters: Record<string, RunningResponse["clusters"][string]> = {};
      for (const [cluster, { running, complete, atMs }] of published) {
        const held = slots.heldOn(cluster);
        clusters[cluster] = { running, complete, held, asOfMsAgo: clock.nowMs() - atMs };
      }
      return stored({ clusters });
    },
  };
}

const fenced = { kind: "fenced" } as const;

function suspectOf({ slots }: ReaperParts, name: Omit<SuspectName, "token">): Lease | undefined {
  const suspect = slots.named(name);
  return suspect?.state === "suspect" ? suspect : undefined;
}

function versionOf({ lives }: ReaperParts, lease: Lease): string {
  const { expiresAt, absentAt, heardAt, instance } = lease;
  return JSON.stringify([expiresAt, absentAt, heardAt, lives.get(instance)]);
}

function read(parts: ReaperParts, name: SuspectName): SuspectRead {
  const suspect = suspectOf(parts, name);
  if (suspect === undefined) return { kind: "unknown" };
  const nowMs = parts.clock.nowMs();
  const { expiresAt, absentAt, heardAt, maxExecutionMs } = suspect;
  const facts = {
    ...parts.lifeOf(suspect),
    expiredForMs: nowMs - expiresAt,
    maxExecutionMs,
    absentForMs: absentAt === undefined ? undefined : nowMs - absentAt,
    heardForMs: heardAt === undefined ? undefined : nowMs - heardAt,
    nowMs,
  };
  return { kind: "suspect", facts, version: versionOf(parts, suspect) };
}

/** The lock and its fence. */
function sweepLock(clock: Clock) {
  let lock: Lock | undefined;

  function take(instance: string, ttlMs: number): SweepLockResponse {
    const nowMs = clock.nowMs();
    const free = lock === undefined || lock.expiresAt <= nowMs;
    if (lock !== undefined && !free && lock.instance !== instance) {
      return { acquired: false, token: lock.token, expiresInMs: lock.expiresAt - nowMs };
    }
    const token = (lock?.token ?? 0) + (free ? 1 : 0);
    lock = { instance, token, ttlMs, expiresAt: nowMs + ttlMs };
    return { acquired: true, token, expiresInMs: ttlMs };
  }

  function keep(instance: string, token: number): SweepLockResponse {
    if (lock?.instance !== instance || lock.token !== token) {
      return { acquired: false, token: 0, expiresInMs: 0 };
    }
    lock = { ...lock, expiresAt: clock.nowMs() + lock.ttlMs };
    return { acquired: true, token, expiresInMs: lock.ttlMs };
  }

  function unlock(instance: string, token: number): boolean {
    if (lock?.instance !== instance || lock.token !== token) return false;
    lock = { ...lock, expiresAt: clock.nowMs() };
    return true;
  }

  const steps: Pick<CapacityStore, "lock" | "keepLock" | "unlock"> = {
    lock: (instance, ttlMs) => stored(take(instance, ttlMs)),
    keepLock: (instance, token) => stored(keep(instance, token)),
    unlock: (instance, token) => stored(unlock(instance, token)),
  };
  return { steps, holds: (token: number): boolean => lock?.token === token };
}
