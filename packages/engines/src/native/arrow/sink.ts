/**
 * Sinks gather one column of many native arrays into the buffers of one batch.
 *
 * Plain values stay where the driver put them until the batch is laid out, so they are copied once;
 * bitmaps, offsets and converted values are made in buffers of ours. A sink knows one layout; which
 * one a column gets is decided in sinks.ts.
 */
import { copyBits, countBits, setBits } from "../memory/bits.ts";
import { bytesAt, type Address } from "../memory/native.ts";
import type { ArrowArray } from "./cdata.ts";

/** Bytes for one buffer of the body: a view of ours, or a place in the driver's memory. */
export type Chunk =
  | { readonly kind: "ours"; readonly bytes: Uint8Array }
  | { readonly kind: "native"; readonly address: Address; readonly length: number };

/** What a batch is made of, in the order of the IPC format: a node per column, buffers below. */
export interface BodyPlan {
  readonly nodes: { readonly length: number; readonly nullCount: number }[];
  readonly buffers: { readonly length: number; readonly chunks: readonly Chunk[] }[];
}

export interface Sink {
  /** Takes rows `start` to `start + count` of the array at an address, which must stay until `reset`. */
  add(array: Address, start: number, count: number): void;
  /** Writes nodes and buffers of everything taken so far. */
  plan(body: BodyPlan): void;
  /** Forgets everything taken. */
  reset(): void;
}

/** Which cells are there. Costs nothing as long as no cell is NULL. */
export class Validity {
  #bits = new Uint8Array(1024);
  #rows = 0;
  #nulls = 0;
  #present = false;

  get nullCount(): number {
    return this.#nulls;
  }

  /** Takes the validity of rows of an array whose first buffer is the bitmap. */
  add(array: ArrowArray, start: number, count: number): void {
    const bitmap = array.buffers[0] ?? 0;
    if (bitmap === 0 || array.nullCount === 0) this.#allPresent(count);
    else this.#copied(bitmap, array.offset + start, count);
    this.#rows += count;
  }

  /** Takes one row. */
  push(present: boolean): void {
    if (!present) this.#begin();
    if (this.#present) {
      this.#room(1);
      copyBits(this.#bits, this.#rows, present ? one : zero, { from: 0, count: 1 });
    }
    if (!present) this.#nulls += 1;
    this.#rows += 1;
  }

  /** Writes the node and the bitmap, which is empty when no cell is NULL. */
  plan(body: BodyPlan): void {
    body.nodes.push({ length: this.#rows, nullCount: this.#nulls });
    if (this.#nulls === 0) body.buffers.push(emptyBuffer);
    else planBytes(body, this.#bits.subarray(0, (this.#rows + 7) >> 3));
  }

  reset(): void {
    this.#rows = 0;
    this.#nulls = 0;
    this.#present = false;
  }

  #allPresent(count: number): void {
    if (!this.#present) return;
    this.#room(count);
    setBits(this.#bits, this.#rows, count);
  }

  #copied(bitmap: Address, from: number, count: number): void {
    const firstByte = from >> 3;
    const source = bytesAt(bitmap + firstByte, ((from + count + 7) >> 3) - firstByte);
    const bit = from & 7;
    const nulls = count - countBits(source, bit, count);
    if (nulls === 0) return this.#allPresent(count);
    this.#begin();
    this.#room(count);
    copyBits(this.#bits, this.#rows, source, { from: bit, count });
    this.#nulls += nulls;
  }

  /** The first NULL: every row before it was there. */
  #begin(): void {
    if (this.#present) return;
    this.#present = true;
    this.#room(0);
    setBits(this.#bits, 0, this.#rows);
  }

  #room(count: number): void {
    const needed = (this.#rows + count + 7) >> 3;
    if (needed <= this.#bits.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bits.length * 2));
    grown.set(this.#bits);
    this.#bits = grown;
  }
}

const one = Uint8Array.of(1);
const zero = Uint8Array.of(0);
const emptyBuffer = { length: 0, chunks: [] };

/** Adds a buffer of ours to the plan. */
export function planBytes(body: BodyPlan, bytes: Uint8Array): void {
  body.buffers.push({ length: bytes.length, chunks: [{ kind: "ours", bytes }] });
}

/** Adds a buffer that lies in several pieces in the driver's memory. */
export function planNative(body: BodyPlan, pieces: readonly NativePiece[]): void {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  body.buffers.push({ length, chunks: [...pieces] });
}

export type NativePiece = Extract<Chunk, { kind: "native" }>;
