import { describe, expect, it } from "vitest";
import { zerosOf } from "./wasmZeros.ts";

describe("zerosOf", () => {
  it("gives back of each memory that was made since, as it is by then", async () => {
    const { wasm, given, give } = threadOf();
    const before = new wasm.Memory({ bytes: 1 });
    const giveZeros = zerosOf(wasm, give);
    const memory = new wasm.Memory({ bytes: 2 });
    memory.buffer = new ArrayBuffer(3);
    await giveZeros();
    expect(given).toEqual([memory.buffer]);
    expect(before.buffer.byteLength).toBe(1);
  });

  it("leaves memory alone that other threads may write to", async () => {
    const { wasm, given, give } = threadOf();
    const giveZeros = zerosOf(wasm, give);
    const memory = new wasm.Memory({ bytes: 2 });
    memory.buffer = new SharedArrayBuffer(2);
    await giveZeros();
    expect(given).toEqual([]);
  });

  it("does without where nothing gives back", async () => {
    const { wasm } = threadOf();
    const giveZeros = zerosOf(wasm, () => Promise.resolve(undefined));
    expect(new wasm.Memory({ bytes: 1 }).buffer.byteLength).toBe(1);
    await expect(giveZeros()).resolves.toBeUndefined();
  });
});

/** A thread with a WebAssembly of its own, and what was given back. */
function threadOf() {
  const given: ArrayBuffer[] = [];
  const wasm = {
    Memory: class {
      buffer: ArrayBufferLike;
      constructor({ bytes }: { readonly bytes?: number }) {
        this.buffer = new ArrayBuffer(bytes ?? 0);
      }
    },
  };
  const give = (): Promise<(memory: ArrayBuffer) => number> =>
    Promise.resolve((memory) => given.push(memory));
  return { wasm, given, give };
}
