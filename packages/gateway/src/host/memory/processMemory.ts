/**
 * Watches the memory of a driver's process from inside it: more than it may have is reported, and what was
 * freed goes back to the system. An engine bounds its own buffers, not its parse trees and not what a
 * function makes.
 */
import { readFileSync } from "node:fs";
import { memoryTrimmer } from "@gateway/engines/native/memory/native.ts";

const lookMs = 500;
/** Freed memory is given back at this interval, which costs some milliseconds, while there is anything to gain. */
const trimMs = 5_000;
const worthTrimmingBytes = 64 << 20;
/** `/proc/self/statm` counts pages. */
const pageBytes = 4096;

/** Looks now and then from here on; `overgrown` is called whenever there is more than `memoryMax`. Does nothing but on Linux. */
export function watchMemory(memoryMax: number | undefined, overgrown: () => void): void {
  const trim = memoryTrimmer();
  const startBytes = residentBytes();
  if (startBytes === undefined) return;
  let lastBytes = startBytes;
  let changed = false;
  setInterval(() => {
    const bytes = residentBytes() ?? 0;
    changed ||= bytes !== lastBytes;
    lastBytes = bytes;
    if (memoryMax !== undefined && bytes > memoryMax) overgrown();
  }, lookMs);
  setInterval(() => {
    if (!changed || lastBytes < startBytes + worthTrimmingBytes) return;
    changed = false;
    trim?.(() => {
      lastBytes = residentBytes() ?? 0;
    });
  }, trimMs);
}

/** Memory of this process that is in use; undefined where the system does not say. */
export function residentBytes(): number | undefined {
  try {
    const pages = readFileSync("/proc/self/statm", "latin1").split(" ")[1];
    return Number(pages) * pageBytes;
  } catch {
    return undefined;
  }
}
