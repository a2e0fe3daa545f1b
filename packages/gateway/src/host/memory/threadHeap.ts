/**
 * Collects the heap of a thread that holds a database.
 *
 * Unpacking the data that a database begins with leaves 80 MB of buffers behind a heap of 15 MB, in which
 * V8 sees no reason to collect; the main thread can not collect another's heap. Not a limit.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import { busyPartOf, quietPart } from "./freedMemory.ts";
import { collect as collectHeap, heldByThread } from "./heap.ts";

const lookMs = 5_000;
/** Worth the twenty milliseconds in which the database answers nobody. */
const worthCollectingBytes = 32 << 20;

export interface ThreadHeapParts {
  readonly clock: Pick<Clock, "timer">;
  /** The heap and the buffers beside it. */
  readonly heldBytes: () => number;
  /** The part of the time since the last call in which the thread was busy. */
  readonly busyPart: () => number;
  readonly collect: () => void;
}

/** Of the thread that calls it, as long as that lives. `giveBack` is called behind each collection. */
export function collectLeft(clock: Pick<Clock, "timer">, giveBack: () => void): void {
  const collect = (): void => {
    collectHeap();
    giveBack();
  };
  threadHeap({ clock, heldBytes: heldByThread, busyPart: busyPartOf(), collect });
}

/** Looks now and then, from here on: collects when the heap has grown, and once when the thread has become quiet. */
export function threadHeap({ clock, heldBytes, busyPart, collect }: ThreadHeapParts): void {
  let keptBytes = 0;
  let worked = true;
  const look = (): void => {
    const quiet = busyPart() < quietPart;
    const grown = heldBytes() - keptBytes >= worthCollectingBytes;
    if (grown || (quiet && worked)) {
      collect();
      keptBytes = heldBytes();
    }
    worked = !quiet;
    clock.timer(lookMs, look);
  };
  clock.timer(lookMs, look);
}
