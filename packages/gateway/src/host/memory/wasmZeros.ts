/**
 * Gives back what a database in WebAssembly has cleared and not used since. PostgreSQL clears all memory that it takes at
 * its start, and with that has it: half of what a store at rest has is zeros.
 */
import type { zeroPagesGiver } from "@gateway/engines/native/memory/zeroPages.ts";

interface Memory {
  readonly buffer: ArrayBufferLike;
}

interface Wasm {
  Memory: new (descriptor: object) => Memory;
}

/** Node may run without it. */
declare const WebAssembly: Wasm | undefined;

type Give = ReturnType<typeof zeroPagesGiver>;

/** Of the thread that calls it. */
export function watchZeros(): () => Promise<void> {
  return WebAssembly === undefined ? async () => {} : zerosOf(WebAssembly, nativeGive);
}

/**
 * Remembers each memory that is made from here on, as long as it is in use. A call of what is answered gives back;
 * only of what this thread alone has, and between two pieces of its work.
 */
export function zerosOf(wasm: Wasm, load: () => Promise<Give>): () => Promise<void> {
  const made = new Set<WeakRef<Memory>>();
  wasm.Memory = class extends wasm.Memory {
    constructor(descriptor: object) {
      super(descriptor);
      made.add(new WeakRef(this));
    }
  };
  let loading: Promise<Give> | undefined;
  return async () => {
    const give = await (loading ??= load());
    for (const reference of made) {
      const buffer = reference.deref()?.buffer;
      if (buffer === undefined) made.delete(reference);
      else if (buffer instanceof ArrayBuffer) give?.(buffer);
    }
  };
}

/** Native code is loaded late, for no start to wait for it, and so that a host where it can not be loaded does without. */
async function nativeGive(): Promise<Give> {
  try {
    const zeroPages = await import("@gateway/engines/native/memory/zeroPages.ts");
    return zeroPages.zeroPagesGiver();
  } catch {
    return undefined;
  }
}
