/**
 * A column of one batch as buffers: Arrow's layout, one layout per neutral type, no object per cell.
 *
 * The buffers may be views of shared memory that is reused after the batch was released: whoever
 * keeps a cell copies it.
 */
import type { DataType } from "./type.ts";

/**
 * Layouts of `values`, all little-endian, row `r` at index `offset + r`:
 * boolean: a bitmap, least significant bit first · integer: `bits / 8` bytes, two's complement ·
 * float: IEEE 754 · decimal: 16 bytes, unscaled, two's complement · text, json, binary: bytes
 * between `offsets[i]` and `offsets[i + 1]` · date: int32 days · time, timestamp: int64 count of the
 * unit · interval: int32 months, int32 days, int64 nanoseconds · uuid: 16 bytes in the order of its
 * text · list: `offsets` into `children[0]` · struct: `children` in field order, each indexed by
 * `offset + r` plus its own `offset` · map: `offsets` into `children[0]` (keys) and `children[1]`
 * (values) · null: empty.
 */
export interface Vector {
  readonly type: DataType;
  /** Rows. */
  readonly length: number;
  /** Index of the first row in `validity`, `values` (in elements) and `offsets`. */
  readonly offset: number;
  /** Bitmap, 1 means present, least significant bit first; undefined when no cell is NULL. */
  readonly validity: Uint8Array | undefined;
  readonly values: Uint8Array;
  readonly offsets: Int32Array | undefined;
  readonly children: readonly Vector[];
}

/** Rows of a result in columns. */
export interface ColumnarBatch {
  readonly form: "columnar";
  readonly rows: number;
  readonly columns: readonly Vector[];
}

/** What an engine hands over. One form today; sources that speak text or a client's own format add theirs. */
export type Batch = ColumnarBatch;

/** True when the cell is NULL. */
export function isNull(vector: Vector, row: number): boolean {
  if (vector.type.kind === "null") return true;
  if (vector.validity === undefined) return false;
  const index = vector.offset + row;
  return ((vector.validity[index >> 3] ?? 0) & (1 << (index & 7))) === 0;
}
