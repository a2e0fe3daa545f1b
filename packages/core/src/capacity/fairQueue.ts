/**
 * Who is next among the waiting queries.
 *
 * Order: a waiter past its urgent time goes before all others, the one that became urgent first
 * leading. Then the group with the least virtual time (each grant adds 1 / weight), then the user
 * with the fewest grants, then age.
 *
 * Waiters stand in lanes. All waiters of a lane can use the same places, so "does it fit?" is asked
 * once per lane and not once per waiter; ten thousand waiters make a handful of lanes. This file
 * knows no slots, no clusters and no clock.
 *
 * The hazard is a group or user that carries an old score into a new contest: one that was idle
 * would lock out all others, one that ran where nobody else wanted to would be locked out. So a
 * score never lies behind the least of those who wait, and never further ahead of it than one grant.
 */
import { heapOf, type Heap, type HeapEntry } from "./heap.ts";

/** What orders a waiter. */
export interface WaiterTraits {
  /** Names the set of places it can use, within its group. */
  readonly lane: string;
  readonly group: string;
  /** Share of the group against others, above 0. The last one told counts for the whole group. */
  readonly weight: number;
  readonly user: string;
  /** From this time (the clock of `next`) on it goes before all that are not urgent. */
  readonly urgentAtMs: number;
}

/** A waiter inside the queue. */
export interface Ticket<T> {
  readonly item: T;
  readonly lane: string;
  readonly group: string;
}

export interface FairQueue<T> {
  /** Waiters in all groups. */
  readonly size: number;
  /** Waiters of one group. */
  sizeOf(group: string): number;
  /** Groups that have waiters. */
  groups(): readonly string[];
  /** Adds a waiter as the youngest. Cost: logarithmic. */
  add(item: T, traits: WaiterTraits): Ticket<T>;
  /** Takes a waiter out without a grant; false when it is not inside (any more). */
  remove(ticket: Ticket<T>): boolean;
  /** Moves a waiter to another lane of its group; it keeps its age. */
  move(ticket: Ticket<T>, lane: string): void;
  /** The first waiter among the lanes that `fits` accepts. Asks once per lane that has waiters. */
  next(nowMs: number, fits: (lane: string, group: string) => boolean): Ticket<T> | undefined;
  /** Takes a waiter out and charges its group and its user for one grant. */
  grant(ticket: Ticket<T>): void;
  /** Waiters of a group in the order they would be served now. Cost: a sort of the group's waiters. */
  inOrder(group: string, nowMs: number): readonly Ticket<T>[];
  /**
   * Place of the youngest waiter of its group, from 1, as if nobody were urgent. Cost: one step per
   * waiting user, so that ten thousand arrivals do not sort ten thousand waiters each.
   */
  placeOfYoungest(ticket: Ticket<T>): number;
}

interface Group<T> {
  readonly name: string;
  weight: number;
  virtualTime: number;
  size: number;
  readonly lanes: Map<string, Lane<T>>;
}

interface Lane<T> {
  readonly key: string;
  readonly group: Group<T>;
  readonly lines: Map<string, Line<T>>;
  readonly byUser: Heap<Line<T>>;
  readonly byUrgency: Heap<Node<T>>;
}

/** The waiters of one user in one lane, oldest first. */
interface Line<T> extends HeapEntry {
  readonly user: string;
  served: number;
  count: number;
  head: Node<T> | undefined;
  tail: Node<T> | undefined;
}

interface Node<T> extends Ticket<T>, HeapEntry {
  lane: string;
  readonly user: string;
  readonly sequence: number;
  readonly urgentAtMs: number;
  /** Undefined once it left the queue. */
  line: Line<T> | undefined;
  older: Node<T> | undefined;
  younger: Node<T> | undefined;
}

/** Makes an empty queue. */
export function fairQueue<T>(): FairQueue<T> {
  const groups = new Map<string, Group<T>>();
  let size = 0;
  let sequence = 0;

  function nodeOf(ticket: Ticket<T>): Node<T> {
    return ticket as Node<T>;
  }

  function groupOf(name: string): Group<T> {
    let group = groups.get(name);
    if (group === undefined) {
      group = { name, weight: 1, virtualTime: 0, size: 0, lanes: new Map() };
      groups.set(name, group);
    }
    return group;
  }

  /** A group that begins to wait, or that was just granted, stays close to the others that wait. */
  function keepClose(group: Group<T>): void {
    let least = Number.POSITIVE_INFINITY;
    for (const other of groups.values()) {
      if (other.size > 0 && other !== group) least = Math.min(least, other.virtualTime);
    }
    if (least === Number.POSITIVE_INFINITY) return;
    const most = least + 1 / group.weight;
    group.virtualTime = Math.min(Math.max(group.virtualTime, least), most);
  }

  function take(node: Node<T>): void {
    const group = groupOf(node.group);
    const lane = group.lanes.get(node.lane);
    if (lane === undefined || node.line === undefined) return;
    leaveLane(lane, node);
    group.size -= 1;
    size -= 1;
    // With nobody waiting there is no contest to remember, and names of dropped groups go too.
    if (size === 0) groups.clear();
  }

  return {
    get size() {
      return size;
    },
    sizeOf: (name) => groups.get(name)?.size ?? 0,
    groups: () => [...groups.values()].filter((group) => group.size > 0).map((group) => group.name),
    add: (item, traits) => {
      const group = groupOf(traits.group);
      group.weight = traits.weight;
      if (group.size === 0) keepClose(group);
      sequence += 1;
      const node: Node<T> = {
        item,
        lane: traits.lane,
        group: traits.group,
        user: traits.user,
        sequence,
        urgentAtMs: traits.urgentAtMs,
        line: undefined,
        older: undefined,
        younger: undefined,
        heapIndex: -1,
      };
      enterLane(laneOf(group, traits.lane), node);
      group.size += 1;
      size += 1;
      return node;
    },
    remove: (ticket) => {
      const node = nodeOf(ticket);
      if (node.line === undefined) return false;
      take(node);
      return true;
    },
    move: (ticket, key) => {
      const node = nodeOf(ticket);
      const group = groupOf(node.group);
      const lane = group.lanes.get(node.lane);
      if (lane === undefined || node.line === undefined || node.lane === key) return;
      leaveLane(lane, node);
      node.lane = key;
      enterLane(laneOf(group, key), node);
    },
    next: (nowMs, fits) => {
      let best: Node<T> | undefined;
      for (const group of groups.values()) {
        for (const lane of group.lanes.values()) {
          if (!fits(lane.key, group.name)) continue;
          const first = firstOf(lane, nowMs);
          if (first === undefined) continue;
          if (best === undefined || goesBefore(first, best, nowMs)) best = first;
        }
      }
      return best;
    },
    grant: (ticket) => {
      const node = nodeOf(ticket);
      const { line } = node;
      if (line === undefined) return;
      const group = groupOf(node.group);
      line.served += 1;
      group.virtualTime += 1 / group.weight;
      keepClose(group);
      take(node);
    },
    inOrder: (name, nowMs) => {
      const group = groups.get(name);
      return group === undefined ? [] : sortedWaiters(group, nowMs);
    },
    placeOfYoungest: (ticket) => {
      const node = nodeOf(ticket);
      const { line } = node;
      if (line === undefined) return 0;
      return countUpTo(groupOf(node.group), line.served + line.count - 1);
    },
  };

  function goesBefore(a: Node<T>, b: Node<T>, nowMs: number): boolean {
    const urgent = a.urgentAtMs <= nowMs;
    if (urgent !== b.urgentAtMs <= nowMs) return urgent;
    if (urgent) return moreUrgent(a, b);
    const timeA = groupOf(a.group).virtualTime;
    const timeB = groupOf(b.group).virtualTime;
    if (timeA !== timeB) return timeA < timeB;
    const servedA = a.line?.served ?? 0;
    const servedB = b.line?.served ?? 0;
    if (servedA !== servedB) return servedA < servedB;
    return a.sequence < b.sequence;
  }
}

function moreUrgent<T>(a: Node<T>, b: Node<T>): boolean {
  return a.urgentAtMs === b.urgentAtMs ? a.sequence < b.sequence : a.urgentAtMs < b.urgentAtMs;
}

function lessServed<T>(a: Line<T>, b: Line<T>): boolean {
  if (a.served !== b.served) return a.served < b.served;
  return (a.head?.sequence ?? 0) < (b.head?.sequence ?? 0);
}

function laneOf<T>(group: Group<T>, key: string): Lane<T> {
  let lane = group.lanes.get(key);
  if (lane === undefined) {
    lane = {
      key,
      group,
      lines: new Map(),
      byUser: heapOf<Line<T>>(lessServed),
      byUrgency: heapOf<Node<T>>(moreUrgent),
    };
    group.lanes.set(key, lane);
  }
  return lane;
}

function firstOf<T>(lane: Lane<T>, nowMs: number): Node<T> | undefined {
  const urgent = lane.byUrgency.peek();
  return urgent !== undefined && urgent.urgentAtMs <= nowMs ? urgent : lane.byUser.peek()?.head;
}

function enterLane<T>(lane: Lane<T>, node: Node<T>): void {
  lane.byUrgency.push(node);
  const present = lane.lines.get(node.user);
  if (present === undefined) {
    const served = lane.byUser.peek()?.served ?? 0;
    const line: Line<T> = { user: node.user, served, count: 1, head: node, tail: node, heapIndex: -1 };
    node.line = line;
    lane.lines.set(node.user, line);
    lane.byUser.push(line);
    return;
  }
  node.line = present;
  present.count += 1;
  insertByAge(present, node);
  lane.byUser.update(present);
}

/** Nearly always at the end: only a waiter that moved between lanes can be older than the last one. */
function insertByAge<T>(line: Line<T>, node: Node<T>): void {
  let older = line.tail;
  while (older !== undefined && older.sequence > node.sequence) older = older.older;
  const younger = older === undefined ? line.head : older.younger;
  node.older = older;
  node.younger = younger;
  if (older === undefined) line.head = node;
  else older.younger = node;
  if (younger === undefined) line.tail = node;
  else younger.older = node;
}

function leaveLane<T>(lane: Lane<T>, node: Node<T>): void {
  const { line, older, younger } = node;
  if (line === undefined) return;
  if (older === undefined) line.head = younger;
  else older.younger = younger;
  if (younger === undefined) line.tail = older;
  else younger.older = older;
  node.line = undefined;
  node.older = undefined;
  node.younger = undefined;
  line.count -= 1;
  lane.byUrgency.remove(node);
  if (line.count > 0) {
    lane.byUser.update(line);
    return;
  }
  lane.byUser.remove(line);
  lane.lines.delete(line.user);
  if (lane.lines.size === 0) lane.group.lanes.delete(lane.key);
}

/** The waiter behind k older ones of its user is served when that user has k grants more. */
function sortedWaiters<T>(group: Group<T>, nowMs: number): readonly Ticket<T>[] {
  const waiters: { readonly node: Node<T>; readonly level: number }[] = [];
  for (const lane of group.lanes.values()) {
    for (const line of lane.lines.values()) {
      let level = line.served;
      for (let node = line.head; node !== undefined; node = node.younger) {
        waiters.push({ node, level });
        level += 1;
      }
    }
  }
  waiters.sort((a, b) => {
    const urgentA = a.node.urgentAtMs <= nowMs;
    if (urgentA !== b.node.urgentAtMs <= nowMs) return urgentA ? -1 : 1;
    if (urgentA) return moreUrgent(a.node, b.node) ? -1 : 1;
    return a.level - b.level || a.node.sequence - b.node.sequence;
  });
  return waiters.map(({ node }) => node);
}

/** Waiters of a group whose turn is at `level` or before. */
function countUpTo<T>(group: Group<T>, level: number): number {
  let count = 0;
  for (const lane of group.lanes.values()) {
    for (const line of lane.lines.values()) {
      count += Math.min(line.count, Math.max(0, level - line.served + 1));
    }
  }
  return count;
}
