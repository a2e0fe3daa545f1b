/**
 * The garbage collector while something large is taken up.
 *
 * V8 collects young objects when they fill four fifths of their space, and copies the living ones
 * at once. Of a large configuration nearly all live, so all queries wait for many milliseconds.
 * Collected earlier, as many are copied in the end, but a few at a time between turns of the event
 * loop.
 */
import { setFlagsFromString } from "node:v8";

/** How full the space of young objects is, in percent, when they are collected. */
const earlyPercent = 10;
/** V8's own setting. */
const usualPercent = 80;

/**
 * Does `work`, which makes many objects that stay, and which gives turns to others. Meanwhile the
 * process's young objects are collected early.
 */
export type CollectedEarly = <Value>(work: () => Promise<Value>) => Promise<Value>;

/** `setFlags` sets flags of V8, of the whole process. */
export function collector(setFlags: (flags: string) => void): CollectedEarly {
  let running = 0;
  const lookAt = (percent: number): void => setFlags(`--minor-gc-task-trigger=${percent}`);
  return async (work) => {
    if (running === 0) lookAt(earlyPercent);
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
      if (running === 0) lookAt(usualPercent);
    }
  };
}

/** The process's own. */
export const collectedEarly = collector(setFlagsFromString);
