/** Helps the row writers of several protocols to pass text cells on unchanged. */
import type { TextBatch } from "./vector.ts";

/** Above this length one call that copies beats a loop over the bytes. */
const copyByLoopMax = 48;
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;

/** Copies a cell of the batch that is not NULL to `at`; room must be there. Returns the offset behind it. */
export function putCell(out: Uint8Array, at: number, batch: TextBatch, cell: number): number {
  const { bytes } = batch;
  const start = batch.starts[cell] ?? 0;
  const size = batch.lengths[cell] ?? 0;
  if (size > copyByLoopMax) out.set(bytes.subarray(start, start + size), at);
  else for (let index = 0; index < size; index += 1) out[at + index] = bytes[start + index] ?? 0;
  return at + size;
}

/** Where a protocol writes floats without an exponent, as the canonical text does. */
export interface PlainFloats {
  /** Most digits before the point. */
  readonly wholeDigitsMax: number;
  /** Most zeros behind the point of a number below one. */
  readonly zerosMax: number;
}

/**
 * True when every cell of a float column is a plain number that a protocol with these bounds writes the
 * same way, or a word (`NaN`, `Infinity`), which all write alike.
 */
export function floatsAreCommon(batch: TextBatch, column: number, bounds: PlainFloats): boolean {
  const { bytes, starts, lengths, types } = batch;
  const cells = batch.rows * types.length;
  for (let cell = column; cell < cells; cell += types.length) {
    const size = lengths[cell] ?? -1;
    const start = starts[cell] ?? 0;
    if (size > 0 && !isCommon(bytes, start, start + size, bounds)) return false;
  }
  return true;
}

function isCommon(
  bytes: Uint8Array,
  start: number,
  end: number,
  { wholeDigitsMax, zerosMax }: PlainFloats,
): boolean {
  const from = bytes[start] === minus ? start + 1 : start;
  const first = bytes[from] ?? 0;
  if (first < zero || first > nine) return true;
  let at = digitsUntil(bytes, from, end);
  if (at - from > wholeDigitsMax) return false;
  if (at === end) return true;
  if (bytes[at] !== point) return false;
  if (first === zero) {
    const fraction = at + 1;
    let behind = fraction;
    while (behind < end && bytes[behind] === zero) behind += 1;
    if (behind - fraction > zerosMax) return false;
  }
  at = digitsUntil(bytes, at + 1, end);
  return at === end;
}

function digitsUntil(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && (bytes[at] ?? 0) >= zero && (bytes[at] ?? 0) <= nine) at += 1;
  return at;
}
