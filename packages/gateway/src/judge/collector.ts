/**
 * The garbage collector while something large is taken up.
 *
 * V8 looks at young objects when they fill four fifths of their space, and copies those that live at
 * once: of a large configuration nearly all live, and all queries wait for many milliseconds. Looked at
 * earlier they are as many, but they are copied between turns of the event loop, a little at a time.
 */
import { setFlagsFromString } from "node:v8";

/** Percent of the space of young objects at which they are looked at. */
const earlyPercent = 10;
/** V8's own. */
const usualPercent = 80;

/** Does `work`, which makes much that stays and gives turns to others. The process's whole heap is looked at early meanwhile. */
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
