/**
 * A lane: the waiters of one group that can all use the same places, by user and by urgency.
 *
 * Within a lane the least served user goes first, then age. Lanes know nothing of other lanes; what
 * is between groups is in fairQueue.ts.
 */
import { heapOf, type Heap, type HeapEntry } from "./heap.ts";

/** One waiter, linked among those of its user. */
export interface Waiting<T> extends HeapEntry {
  readonly item: T;
  readonly group: string;
  readonly user: string;
  /** Grows with every arrival: age without ties. */
  readonly sequence: number;
  readonly urgentAtMs: number;
  lane: string;
  /** Undefined once it left the lane. */
  line: Line<T> | undefined;
  older: Waiting<T> | undefined;
  younger: Waiting<T> | undefined;
}

/** The waiters of one user in one lane. */
export interface Line<T> extends HeapEntry {
  readonly user: string;
  /** Grants, counted from the least of the lane when the user began to wait. */
  served: number;
  count: number;
  oldest: Waiting<T> | undefined;
  youngest: Waiting<T> | undefined;
}

export interface Lane<T> {
  readonly lines: Map<string, Line<T>>;
  readonly byUser: Heap<Line<T>>;
  readonly byUrgency: Heap<Waiting<T>>;
}

/** An empty lane. */
export function laneOf<T>(): Lane<T> {
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

/** The waiter of the lane that is served next, at this time. */
export function firstOf<T>(lane: Lane<T>, nowMs: number): Waiting<T> | undefined {
  const urgent = lane.byUrgency.peek();
  if (urgent !== undefined && urgent.urgentAtMs <= nowMs) return urgent;
  return lane.byUser.peek()?.oldest;
}

/** Puts a waiter in, at the place of its age among those of its user. */
export function enter<T>(lane: Lane<T>, waiter: Waiting<T>): void {
  lane.byUrgency.push(waiter);
  const line = lane.lines.get(waiter.user);
  if (line !== undefined) {
    waiter.line = line;
    line.count += 1;
    insertByAge(line, waiter);
    lane.byUser.update(line);
    return;
  }
  // A user who begins to wait starts level with the least served one, not at nothing: otherwise it
  // would be served alone until it caught up with those who have waited all along.
  const served = lane.byUser.peek()?.served ?? 0;
  const { user } = waiter;
  const first: Line<T> = {
    user,
    served,
    count: 1,
    oldest: waiter,
    youngest: waiter,
    heapIndex: -1,
  };
  waiter.line = first;
  lane.lines.set(user, first);
  lane.byUser.push(first);
}

/** Takes a waiter out, wherever it stands. */
export function leave<T>(lane: Lane<T>, waiter: Waiting<T>): void {
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
  lane.byUrgency.remove(waiter);
  if (line.count > 0) {
    lane.byUser.update(line);
    return;
  }
  lane.byUser.remove(line);
  lane.lines.delete(line.user);
}

/**
 * Counts a grant for the user of a waiter that is still inside. At most one grant above the least
 * served is held against anybody: only urgent waiters are served out of turn.
 */
export function charge<T>(lane: Lane<T>, waiter: Waiting<T>): void {
  const { line } = waiter;
  if (line === undefined) return;
  line.served = (lane.byUser.peek()?.served ?? line.served) + 1;
  lane.byUser.update(line);
}

/** Waiters with the turn each will have: the one behind k older ones of its user is served k grants later. */
export function turnsOf<T>(
  lane: Lane<T>,
): readonly { readonly waiter: Waiting<T>; readonly turn: number }[] {
  const turns: { readonly waiter: Waiting<T>; readonly turn: number }[] = [];
  for (const line of lane.lines.values()) {
    let turn = line.served;
    for (let waiter = line.oldest; waiter !== undefined; waiter = waiter.younger) {
      turns.push({ waiter, turn });
      turn += 1;
    }
  }
  return turns;
}

/** How many waiters have their turn at `turn` or before. Cost: one step per user. */
export function countUpTo<T>(lane: Lane<T>, turn: number): number {
  let count = 0;
  for (const line of lane.lines.values()) {
    count += Math.min(line.count, Math.max(0, turn - line.served + 1));
  }
  return count;
}

function lessServed<T>(a: Line<T>, b: Line<T>): boolean {
  if (a.served !== b.served) return a.served < b.served;
  return (a.oldest?.sequence ?? 0) < (b.oldest?.sequence ?? 0);
}

/** Nearly always at the end: only a waiter that moved between lanes can be older than the last one. */
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
