/**
 * Gives memory back that the process has freed. A start compiles much and frees it all, in each thread's
 * own part of the C library's memory, which gives back only what lies at an end, and of that keeps up to
 * 64 MB: 100 MB stay otherwise.
 *
 * V8 collects as it allocates, so what the last busy minute left stays while nobody asks for anything:
 * it is collected once, when the process has become quiet. And it lets garbage grow to twice what lives, which
 * makes the larger part of a process that is busy with everything at once: one that has become large so
 * keeps less of it until it is small again. It is not a limit; nothing is refused here.
 */
import { performance, type EventLoopUtilization } from "node:perf_hooks";
import type { Clock } from "@gateway/core/port/clock.ts";
import type * as NativeMemory from "@gateway/engines/native/memory/native.ts";
import { collect, heldByThread, keepGarbage } from "./heap.ts";
import { residentBytes } from "./processMemory.ts";

/** A start is still under way when its listeners open: clusters are, and each collection holds them up. */
const settledMs = 1_000;
const lookMs = 10_000;
/** Of a large process, which frees some megabytes each second. */
const largeLookMs = 5_000;
const largeWorthBytes = 8 << 20;
/** The second one moves together what the first one found lying far apart. */
const quietCollects = 2;
/** Of a process that does not grow: a thread that collected its heap may have freed what it had grown to. */
const trimLooks = 6;
/** The end of a part is given back when this much of it is free; taking it again costs a tenth of a millisecond. */
const freedEndBytes = 1 << 20;
/** Giving back takes about a millisecond for each 6 MB, in which allocating waits. */
const worthTrimmingBytes = 32 << 20;
/** Large: of the 350 MB that a busy gateway may have, with its store and a catalog mirror. */
const largeBytes = 300 << 20;
const smallBytes = 240 << 20;
/** What lives in a process that is large by its garbage. One in which more lives needs its room. */
const livingMax = 100 << 20;
/** Who does less than this part of the time is quiet. */
export const quietPart = 0.02;

export interface MemoryParts {
  readonly clock: Pick<Clock, "timer">;
  /** Undefined where nobody knows. */
  readonly residentBytes: () => number | undefined;
  /** The part of the time since the last call in which the thread was busy. */
  readonly busyPart: () => number;
  readonly collect: () => void;
  readonly trim: (done: () => void) => void;
  /** What the heap holds, and how much of it may be garbage. */
  readonly heldBytes: () => number;
  readonly keepGarbage: (much: "little" | "usual") => void;
}

/** Before the work of a start. Does nothing but on Linux. */
export async function boundFreed(): Promise<void> {
  await native(({ boundFreedEnds }) => boundFreedEnds(freedEndBytes));
}

/** Soon, for what the start left, and then now and then until disposed. Does nothing but on Linux. */
export async function giveBackFreed(clock: Pick<Clock, "timer">): Promise<Disposable> {
  return freedMemory({
    clock,
    residentBytes,
    busyPart: busyPartOf(),
    collect,
    heldBytes: heldByThread,
    keepGarbage,
    trim: (await native(({ memoryTrimmer }) => memoryTrimmer())) ?? ((done) => done()),
  });
}

export function freedMemory(parts: MemoryParts): Disposable {
  let keptBytes = 0;
  let planned: Disposable | undefined;
  // V8 goes on compiling for some seconds after a start.
  let untidy = quietCollects;
  let looks = 0;
  const giveBack = (): void => {
    looks = 0;
    parts.trim(() => {
      keptBytes = parts.residentBytes() ?? 0;
    });
  };
  const largeness = largenessOf(parts);
  const look = (): void => {
    const quiet = parts.busyPart() < quietPart;
    const bytes = parts.residentBytes() ?? 0;
    const large = bytes >= largeBytes;
    const grown = bytes - keptBytes >= (large ? largeWorthBytes : worthTrimmingBytes);
    looks += 1;
    if (grown || !quiet) untidy = quietCollects;
    if (quiet && untidy > 0) {
      untidy -= 1;
      parts.collect();
      giveBack();
    } else if (largeness() || grown || looks >= trimLooks) giveBack();
    planned = parts.clock.timer(large ? largeLookMs : lookMs, look);
  };
  const first = (): void => {
    parts.collect();
    giveBack();
    parts.busyPart();
    planned = parts.clock.timer(lookMs, look);
  };
  if (parts.residentBytes() !== undefined) planned = parts.clock.timer(settledMs, first);
  return { [Symbol.dispose]: () => planned?.[Symbol.dispose]() };
}

/** A look at how large the process is; true when it was collected for it. */
function largenessOf(parts: MemoryParts): () => boolean {
  let keepsLittle = false;
  let restLooks = 0;
  return () => {
    const bytes = parts.residentBytes() ?? 0;
    if (keepsLittle && bytes < smallBytes) {
      parts.keepGarbage("usual");
      keepsLittle = false;
    }
    restLooks -= 1;
    if (keepsLittle || bytes < largeBytes || restLooks > 0) return false;
    restLooks = trimLooks;
    parts.collect();
    keepsLittle = parts.heldBytes() < livingMax;
    if (keepsLittle) parts.keepGarbage("little");
    return true;
  };
}

/** Of the thread that calls it. */
export function busyPartOf(): () => number {
  let last: EventLoopUtilization = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

/** Native code is loaded late, so that a host where it can not be loaded does without. */
async function native<Answer>(
  use: (memory: typeof NativeMemory) => Answer,
): Promise<Answer | undefined> {
  try {
    return use(await import("@gateway/engines/native/memory/native.ts"));
  } catch {
    return undefined;
  }
}
