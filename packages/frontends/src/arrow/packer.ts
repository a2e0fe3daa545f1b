/**
 * Cuts and joins an engine's batches into messages of a size that gRPC moves fast: a small one costs as much as
 * a large one, and clients refuse those of more than four megabytes.
 */
import type { ColumnarBatch, Vector } from "@gateway/core/type/vector.ts";
import { bodyOf, type Body, type Slice } from "./body.ts";

/** A batch of so many bytes leaves as it is: joining it with another would cost a copy, and more than it saves. */
export const aloneBytesMin = 128 * 1024;
/** Fewer rows wait for others until they are so many bytes. */
const messageBytesMin = 256 * 1024;
/** Larger batches are cut by rows into messages of about this size. A single row may be larger. */
export const messageBytesMax = 1024 * 1024;

/** Rows that wait for a message. */
export class Packer {
  #slices: Slice[] = [];
  #bytes = 0;

  /** True when rows wait. */
  get waits(): boolean {
    return this.#slices.length > 0;
  }

  /** Takes a batch; answers the messages that are full. */
  *add(batch: ColumnarBatch): Generator<Body, void, void> {
    const bytes = batchBytes(batch);
    if (batch.rows === 0) return;
    if (bytes < aloneBytesMin) {
      this.#slices.push({ batch: owned(batch), from: 0, count: batch.rows });
      this.#bytes += bytes;
      if (this.#bytes >= messageBytesMin) yield this.take();
      return;
    }
    if (this.waits) yield this.take();
    const parts = Math.ceil(bytes / messageBytesMax);
    const step = Math.max(1, Math.ceil(batch.rows / parts));
    for (let from = 0; from < batch.rows; from += step) {
      yield* fitted({ batch, from, count: Math.min(step, batch.rows - from) });
    }
  }

  /** The rows that wait, as one message. */
  take(): Body {
    const slices = this.#slices;
    this.#slices = [];
    this.#bytes = 0;
    return bodyOf(slices);
  }
}

/** Halves rows until they fit: a few long texts may stand beside many short ones. */
function* fitted(slice: Slice): Generator<Body, void, void> {
  const { batch, from, count } = slice;
  const body = bodyOf([slice]);
  const bytes = body.buffers.reduce((sum, { length }) => sum + length, 0);
  if (bytes <= messageBytesMax * 2 || count === 1) return yield body;
  const half = count >> 1;
  yield* fitted({ batch, from, count: half });
  yield* fitted({ batch, from: from + half, count: count - half });
}

/** A copy: the engine may use its buffers again before the next message is written. */
function owned(batch: ColumnarBatch): ColumnarBatch {
  return { ...batch, columns: batch.columns.map(ownedVector) };
}

function ownedVector(vector: Vector): Vector {
  return {
    ...vector,
    validity: vector.validity === undefined ? undefined : new Uint8Array(vector.validity),
    // Not by `slice`, which of a `Buffer` is a view.
    values: new Uint8Array(vector.values),
    offsets: vector.offsets?.slice(),
    children: vector.children.map(ownedVector),
  };
}

function batchBytes({ rows, columns }: ColumnarBatch): number {
  return columns.reduce((sum, column) => sum + vectorBytes(column, rows), 0);
}

/** About the bytes of its buffers. */
function vectorBytes(vector: Vector, rows: number): number {
  const own = vector.values.byteLength + (vector.offsets?.byteLength ?? 0) + (rows >> 3);
  return vector.children.reduce((sum, child) => sum + vectorBytes(child, child.length), own);
}
