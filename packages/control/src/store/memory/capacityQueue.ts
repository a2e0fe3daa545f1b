/**
 * Who waits for a slot of shared capacity, in memory, and who is next. It knows no slots.
 *
 * Order: waiters past half of their wait, the earliest to get there first; then the group with the
 * least virtual time; in it the turn (one of each user per round); then age.
 */
import type { AcquireStep, CapacityLimits } from "../capacity.ts";
import type { Lease } from "./capacitySlots.ts";

export interface Waiter {
  readonly instance: string;
  readonly queryId: string;
  readonly group: string;
  readonly user: string;
  turn: number;
  readonly sequence: number;
  readonly urgentAt: number;
  requestId: string;
  candidates: readonly string[];
  heldBy: string;
  expiresAt: number;
  given: Lease | undefined;
  /** Its user holds as many as allowed: it is passed over until one of those is free. */
  shut: boolean;
}

interface Group {
  weight: number;
  maxQueued: number | undefined;
  waitMs: number;
  virtualTime: number;
  servedAt: number;
  gapMs: number | undefined;
}

export class MemoryQueue {
  readonly #waiters = new Map<string, Waiter>();
  readonly #groups = new Map<string, Group>();
  #sequence = 0;

  limit({ groups }: CapacityLimits): void {
    const kept = new Set(groups.map(({ group }) => group));
    for (const name of this.#groups.keys()) if (!kept.has(name)) this.#groups.delete(name);
    for (const { group, weight, maxQueued, waitMs } of groups) {
      const before = this.#groups.get(group);
      const fresh = { virtualTime: 0, servedAt: 0, gapMs: undefined };
      this.#groups.set(group, { ...(before ?? fresh), weight, maxQueued, waitMs });
    }
  }

  get(instance: string, queryId: string): Waiter | undefined {
    return this.#waiters.get(waiterKey(instance, queryId));
  }

  remove({ instance, queryId }: Pick<Waiter, "instance" | "queryId">): void {
    this.#waiters.delete(waiterKey(instance, queryId));
  }

  all(): Iterable<Waiter> {
    return this.#waiters.values();
  }

  /** True when somebody waits for the cluster and may use it. */
  waitsOn(cluster: string, nowMs: number): boolean {
    return this.#waiting(nowMs).some((one) => !one.shut && one.candidates.includes(cluster));
  }

  /**
   * Shuts the waiters whose user has no room, and opens the others. A reopened waiter comes after those that
   * stayed open meanwhile: otherwise its old turns would take each slot that its user gives back.
   */
  shut(roomOf: (group: string, user: string) => number, nowMs: number): void {
    const waiting = this.#waiting(nowMs);
    const due = waiting.map((waiter) => {
      const { group, user } = waiter;
      const open = waiting.filter((one) => one.group === group && !one.shut);
      const own = waiting.filter((one) => one.group === group && one.user === user);
      const first = Math.min(...own.map(({ turn }) => turn));
      const later = open.length === 0 ? 0 : Math.min(...open.map(({ turn }) => turn)) + 1 - first;
      return { waiter, shut: roomOf(group, user) <= 0, later: Math.max(0, later) };
    });
    for (const { waiter, shut, later } of due) {
      if (waiter.shut && !shut) waiter.turn += later;
      waiter.shut = shut;
    }
  }

  sizes(nowMs: number): ReadonlyMap<string, number> {
    const sizes = new Map<string, number>();
    for (const { group } of this.#waiting(nowMs)) sizes.set(group, (sizes.get(group) ?? 0) + 1);
    return sizes;
  }

  /** Writes a waiter, or keeps it alive, and says where it stands; undefined when the queue of its group is full. */
  wait(
    asked: AcquireStep & { readonly queryId: string },
    {
      process,
      nowMs,
      waiterMs,
      shut,
    }: {
      readonly process: string;
      readonly nowMs: number;
      readonly waiterMs: number;
      readonly shut: boolean;
    },
  ): { readonly position?: number; readonly estimateMs?: number } | undefined {
    const group = this.#groups.get(asked.group);
    if (group === undefined) return {};
    const { instance } = asked.caller;
    let waiter = this.get(instance, asked.queryId);
    if (waiter === undefined) {
      const level = this.#waiting(nowMs).filter((other) => other.group === asked.group);
      if (level.length >= (group.maxQueued ?? Number.POSITIVE_INFINITY)) return undefined;
      const open = level.filter((other) => !other.shut);
      if (open.length === 0) this.#begin(group, nowMs);
      this.#sequence += 1;
      const own = level.filter(({ user }) => user === asked.user).map(({ turn }) => turn + 1);
      const least = open.length === 0 ? 0 : Math.min(...open.map(({ turn }) => turn));
      waiter = {
        instance,
        queryId: asked.queryId,
        group: asked.group,
        user: asked.user,
        turn: Math.max(least, ...own),
        sequence: this.#sequence,
        urgentAt: nowMs - Math.min(asked.ageMs, group.waitMs) + group.waitMs / 2,
        requestId: asked.requestId,
        candidates: [],
        heldBy: process,
        expiresAt: nowMs,
        given: undefined,
        shut,
      };
      this.#waiters.set(waiterKey(instance, asked.queryId), waiter);
    }
    waiter.requestId = asked.requestId;
    waiter.candidates = asked.candidates;
    waiter.heldBy = process;
    waiter.expiresAt = nowMs + waiterMs;
    return this.#placeOf(waiter, group);
  }

  /** The first waiter that can use the cluster and that `fits`. */
  next(cluster: string, nowMs: number, fits: (group: string) => boolean): Waiter | undefined {
    const able = this.#waiting(nowMs).filter(
      (waiter) => !waiter.shut && waiter.candidates.includes(cluster) && fits(waiter.group),
    );
    const urgent = able.filter(({ urgentAt }) => urgentAt <= nowMs);
    if (urgent.length > 0) {
      return urgent.reduce((a, b) => (compare(a, b, ({ urgentAt }) => urgentAt) <= 0 ? a : b));
    }
    return able.length === 0 ? undefined : able.reduce((a, b) => (this.#goesBefore(a, b) ? a : b));
  }

  /** Charges the group of a waiter that was given a slot. */
  charge(waiter: Waiter, nowMs: number): void {
    const group = this.#groups.get(waiter.group);
    if (group === undefined) return;
    const others = this.#leastVirtualTime(waiter.group);
    group.virtualTime = Math.min(group.virtualTime, others) + 1 / group.weight;
    const gap = nowMs - group.servedAt;
    group.gapMs = group.gapMs === undefined ? gap : 0.8 * group.gapMs + 0.2 * gap;
    group.servedAt = nowMs;
  }

  #waiting(nowMs: number): readonly Waiter[] {
    return [...this.#waiters.values()].filter(
      ({ given, expiresAt }) => given === undefined && expiresAt > nowMs,
    );
  }

  /** An idle group begins level with those who wait; with nobody waiting there is nothing to remember. */
  #begin(group: Group, nowMs: number): void {
    const open = this.#waiting(nowMs).filter(({ shut }) => !shut);
    const waiting = new Set(open.map((waiter) => waiter.group));
    group.servedAt = nowMs;
    if (waiting.size === 0) {
      for (const each of this.#groups.values()) each.virtualTime = 0;
      return;
    }
    const times = [...waiting].map((name) => this.#groups.get(name)?.virtualTime ?? 0);
    group.virtualTime = Math.max(group.virtualTime, Math.min(...times));
  }

  #leastVirtualTime(except: string): number {
    let least = Number.POSITIVE_INFINITY;
    for (const { group, given } of this.#waiters.values()) {
      if (group === except || given !== undefined) continue;
      least = Math.min(least, this.#groups.get(group)?.virtualTime ?? least);
    }
    return least;
  }

  #placeOf(waiter: Waiter, { gapMs }: Group) {
    let position = 1;
    for (const other of this.#waiters.values()) {
      const before = other.group === waiter.group && other.given === undefined;
      if (before && compare(other, waiter, ({ turn }) => turn) < 0) position += 1;
    }
    return gapMs === undefined
      ? { position }
      : { position, estimateMs: Math.round(gapMs * position) };
  }

  #goesBefore(a: Waiter, b: Waiter): boolean {
    const timeA = this.#groups.get(a.group)?.virtualTime ?? 0;
    const timeB = this.#groups.get(b.group)?.virtualTime ?? 0;
    if (timeA !== timeB) return timeA < timeB;
    return compare(a, b, ({ turn }) => turn) <= 0;
  }
}

/** By a number, then by arrival. */
function compare(a: Waiter, b: Waiter, of: (waiter: Waiter) => number): number {
  return of(a) - of(b) || a.sequence - b.sequence;
}

function waiterKey(instance: string, queryId: string): string {
  return `${instance} ${queryId}`;
}
