/**
 * A subqueue: the waiters of one group that can all use the same clusters, by user and by urgency.
 *
 * Within a subqueue the least served user goes first, then age. Where a user has room for a few more only,
 * just as many of its oldest waiters are open; the others block nobody. A subqueue knows nothing of other
 * subqueues; fairQueue.ts decides between groups.
 */
import { heapOf, type Heap, type HeapEntry } from "../../tool/heap.ts";

/** One waiter, linked among those of its user. It is in the heap while it is open. */
export interface Waiting<T> extends HeapEntry {
  readonly item: T;
  readonly group: string;
  readonly user: string;
  /** Grows with every arrival: age without ties. */
  readonly sequence: number;
  readonly urgentAtMs: number;
  subqueue: string;
  /** Undefined once it left the subqueue. */
  line: Line<T> | undefined;
  older: Waiting<T> | undefined;
  younger: Waiting<T> | undefined;
}

/** The waiters of one user in one subqueue; in the heap while one of them is open. */
export interface Line<T> extends HeapEntry {
  readonly user: string;
  /** Grants, counted from the least of the subqueue when the user began to wait. */
  served: number;
  count: number;
  /** Most waiters that may be open. */
  room: number;
  /** How many are open: the oldest ones. */
  open: number;
  lastOpen: Waiting<T> | undefined;
  /** None has been open since it last left the heap, or since it began. */
  hadNoRoom: boolean;
  oldest: Waiting<T> | undefined;
  youngest: Waiting<T> | undefined;
}

export interface Subqueue<T> {
  readonly lines: Map<string, Line<T>>;
  readonly byUser: Heap<Line<T>>;
  readonly byUrgency: Heap<Waiting<T>>;
}

/** An empty subqueue. */
export function subqueueOf<T>(): Subqueue<T> {
  return {
    lines: new Map(),
    byUser: heapOf<Line<T>>(lessServed),
    byUrgency: heapOf<Waiting<T>>(moreUrgent),
  };
}

/** Which of two urgent waiters goes first: the one that became urgent first. */
export function moreUrgent<T>(a: Waiting<T>, b: Waiting<T>): boolean {
  return a.urgentAtMs === b.urgentAtMs ? a.sequence < b.sequence : a.urgentAtMs < b.urgentAtMs;
}

/** The waiter of the subqueue that is served next, at this time. */
export function firstOf<T>(subqueue: Subqueue<T>, nowMs: number): Waiting<T> | undefined {
  const urgent = subqueue.byUrgency.peek();
  if (urgent !== undefined && urgent.urgentAtMs <= nowMs) return urgent;
  return subqueue.byUser.peek()?.oldest;
}

/** True while somebody in it can be served. */
export function isOpen<T>(subqueue: Subqueue<T>): boolean {
  return subqueue.byUrgency.size > 0;
}

/** Whether the waiter can be served; otherwise its user has no room for it. */
export function isOpenWaiter<T>(waiter: Waiting<T>): boolean {
  return waiter.heapIndex >= 0;
}

/** Puts a waiter in by its age among those of its user, who has room for `room` of them. */
export function enter<T>(subqueue: Subqueue<T>, waiter: Waiting<T>, room: number): void {
  const line = subqueue.lines.get(waiter.user) ?? newLine(subqueue, waiter.user, room);
  waiter.line = line;
  line.count += 1;
  insertByAge(line, waiter);
  if (line.lastOpen !== undefined && waiter.sequence < line.lastOpen.sequence) {
    subqueue.byUrgency.push(waiter);
    line.open += 1;
  }
  openAsRoomSays(subqueue, line);
}

/** From now on the user has room for so many. */
export function giveRoom<T>(subqueue: Subqueue<T>, user: string, room: number): void {
  const line = subqueue.lines.get(user);
  if (line === undefined || line.room === room) return;
  line.room = room;
  openAsRoomSays(subqueue, line);
}

/** Takes a waiter out, wherever it stands. */
export function leave<T>(subqueue: Subqueue<T>, waiter: Waiting<T>): void {
  const { line, older, younger } = waiter;
  if (line === undefined) return;
  if (older === undefined) line.oldest = younger;
  else older.younger = younger;
  if (younger === undefined) line.youngest = older;
  else younger.older = older;
  waiter.line = undefined;
  waiter.older = undefined;
  waiter.younger = undefined;
  line.count -= 1;
  if (subqueue.byUrgency.remove(waiter)) {
    line.open -= 1;
    if (line.lastOpen === waiter) line.lastOpen = older;
  }
  if (line.count > 0) {
    openAsRoomSays(subqueue, line);
    return;
  }
  subqueue.byUser.remove(line);
  subqueue.lines.delete(line.user);
}

/**
 * Counts a grant for the user of a waiter that is still inside. At most one grant above the least served
 * user counts against anybody: only urgent waiters are served out of turn.
 */
export function charge<T>(subqueue: Subqueue<T>, waiter: Waiting<T>): void {
  const { line } = waiter;
  if (line === undefined) return;
  line.served = (subqueue.byUser.peek()?.served ?? line.served) + 1;
  if (line.heapIndex >= 0) subqueue.byUser.update(line);
}

/** Waiters with the turn each will have: the one behind k older ones of its user is served k grants later. */
export function turnsOf<T>(
  subqueue: Subqueue<T>,
): readonly { readonly waiter: Waiting<T>; readonly turn: number }[] {
  const turns: { readonly waiter: Waiting<T>; readonly turn: number }[] = [];
  for (const line of subqueue.lines.values()) {
    let turn = line.served;
    for (let waiter = line.oldest; waiter !== undefined; waiter = waiter.younger) {
      turns.push({ waiter, turn });
      turn += 1;
    }
  }
  return turns;
}

/** How many waiters have their turn at `turn` or before. Cost: one step per user. */
export function countUpTo<T>(subqueue: Subqueue<T>, turn: number): number {
  let count = 0;
  for (const line of subqueue.lines.values()) {
    count += Math.min(line.count, Math.max(0, turn - line.served + 1));
  }
  return count;
}

function newLine<T>(subqueue: Subqueue<T>, user: string, room: number): Line<T> {
  const line: Line<T> = {
    user,
    served: 0,
    count: 0,
    room,
    open: 0,
    lastOpen: undefined,
    hadNoRoom: false,
    oldest: undefined,
    youngest: undefined,
    heapIndex: -1,
  };
  subqueue.lines.set(user, line);
  return line;
}

/** Opens the oldest waiters that have room, and shuts the others. */
function openAsRoomSays<T>(subqueue: Subqueue<T>, line: Line<T>): void {
  while (line.open > line.room && line.lastOpen !== undefined) {
    subqueue.byUrgency.remove(line.lastOpen);
    line.lastOpen = line.lastOpen.older;
    line.open -= 1;
  }
  while (line.open < Math.min(line.room, line.count)) {
    const next = line.lastOpen === undefined ? line.oldest : line.lastOpen.younger;
    if (next === undefined) break;
    subqueue.byUrgency.push(next);
    line.lastOpen = next;
    line.open += 1;
  }
  if (line.open === 0) {
    subqueue.byUser.remove(line);
    line.hadNoRoom = true;
  } else if (line.heapIndex >= 0) subqueue.byUser.update(line);
  else joinContest(subqueue, line);
}

/**
 * A user who begins to wait starts level with the least served one. Starting at zero, it would be served
 * alone until it caught up with those who have waited all along. A user who had no room has been served, and
 * that counts against it: otherwise its older waiters would take each slot it gives back.
 */
function joinContest<T>(subqueue: Subqueue<T>, line: Line<T>): void {
  const least = subqueue.byUser.peek()?.served ?? line.served;
  line.served = line.hadNoRoom ? least + 1 : least;
  line.hadNoRoom = false;
  subqueue.byUser.push(line);
}

function lessServed<T>(a: Line<T>, b: Line<T>): boolean {
  if (a.served !== b.served) return a.served < b.served;
  return (a.oldest?.sequence ?? 0) < (b.oldest?.sequence ?? 0);
}

/** Nearly always at the end: only a waiter that moved between subqueues can be older than the last one. */
function insertByAge<T>(line: Line<T>, waiter: Waiting<T>): void {
  let older = line.youngest;
  while (older !== undefined && older.sequence > waiter.sequence) older = older.older;
  const younger = older === undefined ? line.oldest : older.younger;
  waiter.older = older;
  waiter.younger = younger;
  if (older === undefined) line.oldest = waiter;
  else older.younger = waiter;
  if (younger === undefined) line.youngest = waiter;
  else younger.older = waiter;
}
