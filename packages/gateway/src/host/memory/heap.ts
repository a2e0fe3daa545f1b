/**
 * What V8 keeps in memory, and for how long.
 *
 * When the old generation is collected: once it is three times what the last collection found alive.
 *
 * V8 chooses a factor between 1.1 and 4 by the speed of its last collections. Pages of results live in
 * buffers beside the heap, which count as growth: while they stream the choice falls to its lowest and
 * stays there, and the whole heap is marked again for every twenty pages, in four fifths of the
 * processor's time. Price: a process may keep twice what it needs as garbage, within its heap limit.
 *
 * When the embedded database's functions are compiled: each when it is first called, and a second time, with
 * optimisation, once it has run for about a second. By its own measure V8 compiles all of them at once and
 * optimises all that a start touches, and what its compiling threads took for it stays in their parts of the
 * C library's memory: 50 MB of a gateway at rest. A start takes a tenth less this way; statements and questions
 * to the catalog were measured to cost the same, from the first ones on.
 *
 * Where an object is made: always among the young ones. By its own measure V8 makes the objects of a place
 * in the code among the old ones as soon as most of that place's survived a collection, which those do that are
 * made for sessions and for what was waiting. From then on each query's there keep all they point at, until the
 * whole heap is collected.
 *
 * How much V8 compiles into the function that calls it: three times its own measure. A query runs through some
 * 150 functions, most of them once.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const growingPercent = 200;
const littlePercent = 100;
/** Of bytecode: 460 and 920 by V8's own measure. */
const inlinedBytes = 1_500;
const inlinedBytesOfAll = 3_000;
/** About the bytes of its code that a function runs through. */
const optimisedAfterBytes = 1_000_000_000;

/** For the whole process, threads as well; before work begins. */
export function boundMemory(): void {
  setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
  setFlagsFromString("--wasm-lazy-compilation");
  setFlagsFromString(`--wasm-tiering-budget=${optimisedAfterBytes}`);
  setFlagsFromString("--no-allocation-site-pretenuring");
  setFlagsFromString(`--max-inlined-bytecode-size=${inlinedBytes}`);
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${inlinedBytesOfAll}`);
}

/**
 * How much garbage the whole heap may hold from its next collection on: as much as lives, or twice that.
 * The little costs rows that stream twice the processor's time.
 */
export function keepGarbage(much: "little" | "usual"): void {
  const percent = much === "little" ? littlePercent : growingPercent;
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}

/** What lives and what is garbage, of the heap of this thread and of the buffers beside it. */
export function heldByThread(): number {
  const { used_heap_size: heap, external_memory: buffers } = getHeapStatistics();
  return heap + buffers;
}

let collector: (() => void) | undefined;

/** Collects the whole heap of this thread now, with V8's own collector, which Node shows only to those who ask for it. */
export function collect(): void {
  if (collector === undefined) {
    setFlagsFromString("--expose-gc");
    collector = runInNewContext("gc") as () => void;
    // V8 takes what it compiled ahead only under the flags of before.
    setFlagsFromString("--no-expose-gc");
  }
  collector();
}
