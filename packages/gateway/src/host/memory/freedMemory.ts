/**
 * Gives memory back that the process has freed. A start compiles much and frees it all, in each thread's
 * own part of the C library's memory, which gives back only what lies at an end: 100 MB stay otherwise.
 *
 * V8 collects as it allocates, so what the last busy minute left stays while nobody asks for anything:
 * it is collected once, when the process has become quiet. It is not a limit; nothing is refused here.
 */
import { performance, type EventLoopUtilization } from "node:perf_hooks";
import type { Clock } from "@gateway/core/port/clock.ts";
import { collect } from "./heap.ts";
import { residentBytes } from "./processMemory.ts";

const lookMs = 10_000;
/** Giving back takes about a millisecond for each 6 MB, in which the thread does nothing else. */
const worthTrimmingBytes = 32 << 20;
/** A process that does less than this part of the time is quiet. */
const quietPart = 0.02;

export interface MemoryParts {
  readonly clock: Pick<Clock, "timer">;
  /** Undefined where nobody knows. */
  readonly residentBytes: () => number | undefined;
  /** The part of the time since the last call in which the thread was busy. */
  readonly busyPart: () => number;
  readonly collect: () => void;
  readonly trim: () => void;
}

/** At once, for what the start left, and then now and then until disposed. Does nothing but on Linux. */
export async function giveBackFreed(clock: Pick<Clock, "timer">): Promise<Disposable> {
  return freedMemory({
    clock,
    residentBytes,
    busyPart: busyPartOf(),
    collect,
    trim: (await trimmer()) ?? (() => {}),
  });
}

export function freedMemory(parts: MemoryParts): Disposable {
  let keptBytes = 0;
  let planned: Disposable | undefined;
  // V8 goes on compiling for some seconds after a start.
  let worked = true;
  const giveBack = (): void => {
    parts.trim();
    keptBytes = parts.residentBytes() ?? 0;
  };
  const look = (): void => {
    const quiet = parts.busyPart() < quietPart;
    const grown = (parts.residentBytes() ?? 0) - keptBytes >= worthTrimmingBytes;
    if (quiet && (worked || grown)) {
      parts.collect();
      giveBack();
    } else if (grown) giveBack();
    worked = !quiet;
    planned = parts.clock.timer(lookMs, look);
  };
  if (parts.residentBytes() !== undefined) {
    parts.collect();
    giveBack();
    parts.busyPart();
    planned = parts.clock.timer(lookMs, look);
  }
  return { [Symbol.dispose]: () => planned?.[Symbol.dispose]() };
}

function busyPartOf(): () => number {
  let last: EventLoopUtilization = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

/** Native code is loaded late, so that a host where it can not be loaded does without. */
async function trimmer(): Promise<(() => void) | undefined> {
  try {
    const { memoryTrimmer } = await import("@gateway/engines/native/memory/native.ts");
    return memoryTrimmer();
  } catch {
    return undefined;
  }
}
