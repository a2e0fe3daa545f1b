/**
 * When the old generation is collected: once it is three times what the last collection found alive.
 *
 * V8 chooses a factor between 1.1 and 4 by the speed of its last collections. Pages of results live in
 * buffers beside the heap, which count as growth: while they stream the choice falls to its lowest and
 * stays there, and the whole heap is marked again for every twenty pages, in four fifths of the
 * processor's time. Price: a process may keep twice what it needs as garbage, within its heap limit.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const growingPercent = 200;

/** For the whole process, threads as well; before work begins. */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
}

let collector: (() => void) | undefined;

/** Collects the whole heap of this thread now, with V8's own collector, which Node shows only to those who ask for it. */
export function collect(): void {
  if (collector === undefined) {
    setFlagsFromString("--expose-gc");
    collector = runInNewContext("gc") as () => void;
  }
  collector();
}
