/**
 * Memory of large messages, used again once nobody reads them any more: the system clears each page of new memory, which
 * costs more than to fill it, and V8 collects the sooner the more of it was taken.
 */
import { Buffer } from "node:buffer";

/** Smaller ones come from memory that the process has at hand. */
const pooledBytesMin = 64 << 10;
/** One row may have gigabytes; memory of that size is not kept. */
const pooledBytesMax = 5 << 20;
/** Messages of a stream are about equally long; with some room one block is good for all of them. */
const roomBytes = 64 << 10;

export class MessageMemory {
  readonly #blocksMax: number;
  #free: ArrayBuffer[] = [];

  /** `blocksMax`: how many it keeps for later. */
  constructor(blocksMax: number) {
    this.#blocksMax = blocksMax;
  }

  /** Memory of that many bytes, with anything in it, from the start of its buffer. */
  take(bytes: number): Uint8Array<ArrayBuffer> {
    if (!isKept(bytes)) return newBytes(bytes);
    const at = this.#free.findIndex(({ byteLength }) => byteLength >= bytes);
    const block = at < 0 ? undefined : this.#free.splice(at, 1)[0];
    return block === undefined
      ? newBytes(Math.ceil(bytes / roomBytes) * roomBytes).subarray(0, bytes)
      : new Uint8Array(block, 0, bytes);
  }

  /** From here on the bytes may change. Once for each `take`; does nothing where `isKept` says so. */
  giveBack(bytes: Uint8Array<ArrayBuffer>): void {
    if (!isKept(bytes.length)) return;
    this.#free.push(bytes.buffer);
    // The oldest may be too short for what comes now.
    if (this.#free.length > this.#blocksMax) this.#free.shift();
  }
}

/** Whether memory of that many bytes is used again. */
export function isKept(bytes: number): boolean {
  return bytes >= pooledBytesMin && bytes <= pooledBytesMax;
}

/** Not zeroed: whoever takes it fills all of it. */
export function newBytes(bytes: number): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset } = Buffer.allocUnsafeSlow(bytes);
  return new Uint8Array(buffer, byteOffset, bytes);
}
