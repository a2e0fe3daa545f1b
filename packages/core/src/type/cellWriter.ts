/**
 * The shape of a cell writer: chosen once per column and batch, called once per cell, writes bytes
 * into the caller's buffer and makes no object. The implementations are in text.ts.
 */

/** Writes cells of one vector. Never called for a NULL. */
export interface CellWriter {
  /** Most bytes that `write` may put for this row. The caller makes room for them first. */
  bound(row: number): number;
  /** Writes the cell at `at` and returns the offset behind it. */
  write(out: Uint8Array, at: number, row: number): number;
}
