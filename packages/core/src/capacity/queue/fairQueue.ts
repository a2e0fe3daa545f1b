/**
 * Who is next among the waiting queries.
 *
 * Order: a waiter past its urgent time goes before all others, the one that became urgent first
 * leading. Then the group with the least virtual time (each grant adds 1 / weight), then the user
 * with the fewest grants, then age.
 *
 * Waiters stand in subqueues (subqueue.ts). All waiters of a subqueue can use the same clusters, so "does it fit?"
 * is asked once per subqueue and not once per waiter; ten thousand waiters make a handful of subqueues. This
 * file knows no slots, no clusters and no clock.
 *
 * The hazard is a group that carries an old virtual time into a new contest. One that was idle would lock
 * out all others; one that had run alone would itself be locked out. So a group that begins to wait starts
 * at the least virtual time among those who wait, and at most one grant above that ever counts against it.
 */
import {
  charge,
  countUpTo,
  enter,
  firstOf,
  giveRoom,
  isOpen,
  isOpenWaiter,
  type Subqueue,
  subqueueOf,
  leave,
  moreUrgent,
  turnsOf,
  type Waiting,
} from "./subqueue.ts";

/** What orders a waiter. */
export interface WaiterTraits {
  /** Names the set of clusters it can use, within its group. */
  readonly subqueue: string;
  readonly group: string;
  /** Share of the group against others, above 0. The last one told counts for the whole group. */
  readonly weight: number;
  readonly user: string;
  /** From this time on (the clock of `next`) it goes before all that are not urgent. */
  readonly urgentAtMs: number;
  /** How many more queries of the user may be granted in the group; absent means any number. `giveRoom` changes it. */
  readonly room?: number;
}

/** A waiter inside the queue. */
export interface Ticket<T> {
  readonly item: T;
  readonly subqueue: string;
  readonly group: string;
}

/** Waiting users up to which the position of a newcomer is counted exactly. */
const usersLookedAtMax = 100;

interface Group<T> {
  weight: number;
  virtualTime: number;
  size: number;
  readonly subqueues: Map<string, Subqueue<T>>;
}

/** The queue. Holds as many waiters as the caller adds; limits are the caller's. */
export class FairQueue<T> {
  readonly #groups = new Map<string, Group<T>>();
  #size = 0;
  #sequence = 0;

  /** Waiters in all groups. */
  get size(): number {
    return this.#size;
  }

  /** Waiters of one group. */
  sizeOf(group: string): number {
    return this.#groups.get(group)?.size ?? 0;
  }

  /** Groups that have waiters. */
  groups(): readonly string[] {
    return [...this.#groups].filter(([, group]) => group.size > 0).map(([name]) => name);
  }

  /** Adds a waiter as the youngest. Cost: logarithmic, and one step per group. */
  add(item: T, traits: WaiterTraits): Ticket<T> {
    const group = this.#group(traits.group);
    group.weight = traits.weight;
    const contends = contending(group);
    this.#sequence += 1;
    const waiter: Waiting<T> = {
      item,
      group: traits.group,
      user: traits.user,
      sequence: this.#sequence,
      urgentAtMs: traits.urgentAtMs,
      subqueue: traits.subqueue,
      line: undefined,
      older: undefined,
      younger: undefined,
      heapIndex: -1,
    };
    const room = traits.room ?? Number.POSITIVE_INFINITY;
    enter(this.#subqueue(group, traits.subqueue), waiter, room);
    group.size += 1;
    this.#size += 1;
    if (!contends && contending(group)) this.#beginToWait(group);
    return waiter;
  }

  /** Takes a waiter out without a grant; false when it is not inside (any more). */
  remove(ticket: Ticket<T>): boolean {
    const waiter = ticket as Waiting<T>;
    if (waiter.line === undefined) return false;
    const group = this.#group(waiter.group);
    this.#leaveSubqueue(group, waiter);
    group.size -= 1;
    this.#size -= 1;
    this.#forgetContest(group);
    return true;
  }

  /**
   * From now on `room` more queries of the user may be granted in the group, oldest first. The rest block nobody.
   * Cost: logarithmic for each waiter that this concerns.
   */
  giveRoom(name: string, user: string, room: number): void {
    const group = this.#groups.get(name);
    if (group === undefined) return;
    const contends = contending(group);
    for (const subqueue of group.subqueues.values()) giveRoom(subqueue, user, room);
    if (!contends && contending(group)) this.#beginToWait(group);
    this.#forgetContest(group);
  }

  /** Moves a waiter to another subqueue of its group; it keeps its age. */
  move(ticket: Ticket<T>, subqueue: string): void {
    const waiter = ticket as Waiting<T>;
    if (waiter.line === undefined || waiter.subqueue === subqueue) return;
    const group = this.#group(waiter.group);
    const { room } = waiter.line;
    this.#leaveSubqueue(group, waiter);
    waiter.subqueue = subqueue;
    enter(this.#subqueue(group, subqueue), waiter, room);
  }

  /**
   * The first waiter that `fits`. It is asked about the first waiter of a subqueue, and the answer holds for
   * the whole subqueue.
   */
  next(nowMs: number, fits: (first: Ticket<T>) => boolean): Ticket<T> | undefined {
    let best: Waiting<T> | undefined;
    for (const group of this.#groups.values()) {
      for (const subqueue of group.subqueues.values()) {
        const first = firstOf(subqueue, nowMs);
        if (first === undefined) continue;
        if (best !== undefined && !this.#goesBefore(first, best, nowMs)) continue;
        if (fits(first)) best = first;
      }
    }
    return best;
  }

  /** Takes a waiter out and charges its group and its user for one grant. */
  grant(ticket: Ticket<T>): void {
    const waiter = ticket as Waiting<T>;
    if (waiter.line === undefined) return;
    const group = this.#group(waiter.group);
    const others = this.#leastVirtualTime(group);
    group.virtualTime = Math.min(group.virtualTime, others) + 1 / group.weight;
    charge(this.#subqueue(group, waiter.subqueue), waiter);
    this.remove(waiter);
  }

  /** Waiters of a group in the order they would be served now; those without room come last. Cost: a sort of the group's waiters. */
  inOrder(group: string, nowMs: number): readonly Ticket<T>[] {
    const subqueues = this.#groups.get(group)?.subqueues.values() ?? [];
    const turns = [...subqueues].flatMap((subqueue) => turnsOf(subqueue));
    turns.sort((a, b) => {
      const open = isOpenWaiter(a.waiter);
      if (open !== isOpenWaiter(b.waiter)) return open ? -1 : 1;
      const urgent = a.waiter.urgentAtMs <= nowMs;
      if (urgent !== b.waiter.urgentAtMs <= nowMs) return urgent ? -1 : 1;
      if (urgent) return moreUrgent(a.waiter, b.waiter) ? -1 : 1;
      return a.turn - b.turn || a.waiter.sequence - b.waiter.sequence;
    });
    return turns.map(({ waiter }) => waiter);
  }

  /**
   * Position of the youngest waiter of its group, from 1, as if nobody were urgent. With many waiting
   * users it is the last position, which is never too low: ten thousand arrivals must not look at ten
   * thousand users each.
   */
  positionOfYoungest(ticket: Ticket<T>): number {
    const { line, group: name } = ticket as Waiting<T>;
    if (line === undefined) return 0;
    const group = this.#group(name);
    if (!isOpenWaiter(ticket as Waiting<T>)) return group.size;
    const subqueues = [...group.subqueues.values()];
    const users = subqueues.reduce((sum, { lines }) => sum + lines.size, 0);
    if (users > usersLookedAtMax) return group.size;
    const turn = line.served + line.count - 1;
    return subqueues.reduce((sum, subqueue) => sum + countUpTo(subqueue, turn), 0);
  }

  #group(name: string): Group<T> {
    const present = this.#groups.get(name);
    if (present !== undefined) return present;
    const group: Group<T> = { weight: 1, virtualTime: 0, size: 0, subqueues: new Map() };
    this.#groups.set(name, group);
    return group;
  }

  #subqueue(group: Group<T>, key: string): Subqueue<T> {
    const present = group.subqueues.get(key);
    if (present !== undefined) return present;
    const subqueue = subqueueOf<T>();
    group.subqueues.set(key, subqueue);
    return subqueue;
  }

  #leaveSubqueue(group: Group<T>, waiter: Waiting<T>): void {
    const subqueue = this.#subqueue(group, waiter.subqueue);
    leave(subqueue, waiter);
    if (subqueue.lines.size === 0) group.subqueues.delete(waiter.subqueue);
  }

  /** Infinity when no other group waits. */
  #leastVirtualTime(except: Group<T>): number {
    let least = Number.POSITIVE_INFINITY;
    for (const group of this.#groups.values()) {
      if (group !== except && contending(group)) least = Math.min(least, group.virtualTime);
    }
    return least;
  }

  /**
   * With nobody contending there is no contest to remember: what a group took while it was alone must not
   * count in the next one. The names of groups that no longer exist go as well.
   */
  #forgetContest(group: Group<T>): void {
    if (this.#size === 0) this.#groups.clear();
    if (contending(group) || this.#leastVirtualTime(group) !== Number.POSITIVE_INFINITY) return;
    for (const one of this.#groups.values()) one.virtualTime = 0;
  }

  #beginToWait(group: Group<T>): void {
    const others = this.#leastVirtualTime(group);
    if (others === Number.POSITIVE_INFINITY) return;
    group.virtualTime = Math.max(group.virtualTime, others);
  }

  #goesBefore(a: Waiting<T>, b: Waiting<T>, nowMs: number): boolean {
    const urgent = a.urgentAtMs <= nowMs;
    if (urgent !== b.urgentAtMs <= nowMs) return urgent;
    if (urgent) return moreUrgent(a, b);
    const timeA = this.#group(a.group).virtualTime;
    const timeB = this.#group(b.group).virtualTime;
    if (timeA !== timeB) return timeA < timeB;
    const servedA = a.line?.served ?? 0;
    const servedB = b.line?.served ?? 0;
    if (servedA !== servedB) return servedA < servedB;
    return a.sequence < b.sequence;
  }
}

/** Whether one of its waiters can be served. */
function contending<T>({ subqueues }: Group<T>): boolean {
  for (const subqueue of subqueues.values()) if (isOpen(subqueue)) return true;
  return false;
}
