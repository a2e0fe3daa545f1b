/**
 * A host without real time: the clock moves only when a test or the simulator moves it, chance comes
 * from a seed, and logs and metrics are remembered. Equal seeds and equal calls give equal runs.
 *
 * It is not for production: random bytes are predictable.
 */
import { heapOf, type HeapEntry } from "../tool/heap.ts";
import { anyEgress } from "../port/egress.ts";
import type { Host } from "../port/host.ts";
import {
  recordedLog,
  recordedMetrics,
  type RecordedLog,
  type RecordedMetrics,
} from "./recorder.ts";
import { slicesOf } from "../tool/slices.ts";
import type { Threads } from "../port/threads.ts";

/** Unix milliseconds that virtual time starts at: 2026-01-01T00:00:00Z. */
export const virtualStartUnixMs = 1_767_225_600_000;

/** How far `runUntil` goes unless told: one virtual day. */
const runLimitMsDefault = 86_400_000;

export interface VirtualHost extends Host {
  readonly log: RecordedLog;
  readonly metrics: RecordedMetrics;
  /** Timers that have not fired and were not disposed. */
  readonly timerCount: number;
  /** Lets everything run that waits for no timer. Time stands still. */
  settle(): Promise<void>;
  /** Moves time forward and fires every timer that falls due, in order; work settles after each. */
  advance(ms: number): Promise<void>;
  /**
   * Moves the wall clock alone, back when `ms` is negative: somebody set it, or the machine was
   * suspended, for which the monotonic clock and the timers stood still.
   */
  moveWall(ms: number): void;
  /**
   * Fires one timer after the other until `done` answers true. Throws when no timer is left, or when
   * `limitMs` of virtual time passed without it.
   */
  runUntil(done: () => boolean, limitMs?: number): Promise<void>;
}

interface VirtualTimer extends HeapEntry {
  readonly dueMs: number;
  readonly sequence: number;
  readonly fire: () => void;
}

/**
 * Makes a host at time 0. `threads` is what `host.threads` starts; without it a start is a bug of the test.
 * `others` ends when what works outside virtual time (a database) has nothing to do: the clock waits for it.
 */
export function virtualHost(
  seed: number,
  threads: Threads = noThreads,
  others: () => Promise<void> = nothing,
): VirtualHost {
  const random = seededRandom(seed);
  const timers = heapOf<VirtualTimer>((a, b) =>
    a.dueMs === b.dueMs ? a.sequence < b.sequence : a.dueMs < b.dueMs,
  );
  let nowMs = 0;
  let wallMovedMs = 0;
  let sequence = 0;

  function timer(delayMs: number, fire: () => void): Disposable {
    sequence += 1;
    const entry = { dueMs: nowMs + Math.max(0, delayMs), sequence, fire, heapIndex: -1 };
    timers.push(entry);
    return {
      [Symbol.dispose]: () => {
        timers.remove(entry);
      },
    };
  }

  async function settle(): Promise<void> {
    await nextTurn();
    await others();
  }

  /** Fires the next timer unless it is due after `endMs`. */
  async function fireNext(endMs: number): Promise<boolean> {
    await settle();
    const next = timers.peek();
    if (next === undefined || next.dueMs > endMs) return false;
    timers.pop();
    nowMs = next.dueMs;
    next.fire();
    await settle();
    return true;
  }

  return {
    clock: {
      nowMs: () => nowMs,
      unixMs: () => virtualStartUnixMs + Math.floor(nowMs + wallMovedMs),
      timer,
    },
    random,
    randomBytes: (length) => Uint8Array.from({ length }, () => Math.floor(random() * 256)),
    threads,
    slices: slicesOf({
      othersServed: () => Promise.resolve(),
      rested: () => Promise.resolve(),
      nowMs: () => nowMs,
    }),
    log: recordedLog(),
    metrics: recordedMetrics(),
    egress: anyEgress,
    get timerCount() {
      return timers.size;
    },
    settle,
    advance: async (ms) => {
      const endMs = nowMs + ms;
      while (await fireNext(endMs));
      nowMs = endMs;
    },
    moveWall: (ms) => {
      wallMovedMs += ms;
    },
    runUntil: async (done, limitMs = runLimitMsDefault) => {
      const endMs = nowMs + limitMs;
      await settle();
      while (!done()) {
        if (await fireNext(endMs)) continue;
        throw new Error(`not done at ${nowMs} ms of virtual time, ${timers.size} timers left`);
      }
    },
  };
}

/** Evenly distributed numbers in [0, 1) from a seed (mulberry32: 32 bits of state, good enough to spread load). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One turn of the event loop: every promise that can go on has gone on before it answers. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

const nothing = (): Promise<void> => Promise.resolve();

const noThreads: Threads = {
  start: (name) => {
    throw new Error(`a virtual host has no threads; the test gave none for ${name}`);
  },
};
